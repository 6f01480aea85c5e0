// completion_mask under changes that must not matter: batch mates, padding width, the id of padding, which stop id.
import {
  type Batch,
  batchLabels,
  blockArgs,
  type Finding,
  freeTokens,
  type MaskedRow,
  type Property,
  plannedRows,
  relations,
  type Subject,
  stopsOf,
  stripOf,
  tokenAt,
} from '../../../src/index.ts';
import { coverage, given, maskRule } from './batches.ts';

/** Both answers per row, cut to what is not padding, so that rows of different widths compare. */
function sameRows(
  subject: Subject,
  kind: string,
  before: readonly MaskedRow[],
  after: readonly MaskedRow[],
  what: string,
): Finding | undefined {
  for (const row of after) {
    const other = before.find((candidate) => candidate.row === row.row);
    if (other?.plan === undefined || row.plan === undefined) continue;
    const from = other.plan.completionStart;
    const shift = row.plan.completionStart - from;
    const start = row.plan.promptStart;
    const beforeMask = row.ids.map((_, column) => (column >= start ? other.mask[column - shift] : undefined));
    const inCompletion = (column: number): boolean =>
      column >= start + row.prompt.length - 1 &&
      column < (row.plan?.completionStart ?? 0) + row.completion.length;
    // What the sampler left behind a stop is cut off where the batch is narrower: nothing to compare with.
    const marks = row.ids.flatMap((_, column) =>
      inCompletion(column) && beforeMask[column] !== undefined && row.mask[column] !== beforeMask[column]
        ? [column]
        : [],
    );
    const [first] = marks;
    if (first === undefined) continue;
    return {
      kind,
      sentence: `${tokenAt(subject, row.ids, first)} of row ${row.row} has mask ${beforeMask[first]} ${what}, and ${row.mask[first]} otherwise.`,
      strips: [stripOf(subject, { ...row, tracks: { [what]: beforeMask, otherwise: row.mask }, marks })],
    };
  }
  return undefined;
}

const batchMates: Property<Batch> = {
  ...maskRule,
  id: 'mask/independent-of-batch-mates',
  title: 'The mask of a row is the same alone and in a batch',
  why: 'A mask computed from a batch-wide length is right for one row and wrong for its neighbours.',
  catches: ['PAD-01', 'PAD-02', 'PAD-08', 'ADV-09'],
  given: (world) => given(world, 2),
  coverage,
  async check(subject, drawn) {
    const together = await plannedRows(subject, drawn);
    for (const row of together) {
      const alone = await plannedRows(subject, {
        ...drawn,
        prompts: [row.prompt],
        // As sampled: a row laid out with what follows its stop token must not call that sampled when alone.
        completions: [drawn.completions[row.row] ?? []],
        ...(drawn.after === undefined ? {} : { after: [drawn.after[row.row] ?? []] }),
      });
      const finding = sameRows(
        subject,
        'mates',
        alone.map((only) => ({ ...only, row: row.row })),
        [row],
        'alone',
      );
      if (finding !== undefined) return finding;
    }
    return undefined;
  },
};

const paddingWidth: Property<Batch> = {
  ...maskRule,
  id: 'mask/independent-of-padding-width',
  title: 'Two more columns of padding on the left leave every mask where its tokens are',
  why: 'A count of real tokens taken for a position moves the mask as soon as a longer prompt is in the batch.',
  catches: ['PAD-01', 'PAD-02', 'LOSS-11'],
  async check(subject, drawn) {
    const [narrow, wide] = [
      await plannedRows(subject, drawn),
      await plannedRows(subject, drawn, { extraPrompt: 2 }),
    ];
    return sameRows(subject, 'width', narrow, wide, 'without the extra padding');
  },
};

const padRenamed: Property<Batch> = {
  ...maskRule,
  id: 'mask/unchanged-when-pad-is-renamed',
  title: 'The mask is the same when padding has an id of its own and when it equals the stop token',
  why: 'A mask built by comparing ids with pad loses the real stop token where pad equals eos, and the policy never learns to stop.',
  catches: ['EOS-01', 'EOS-02', 'EOS-13'],
  needs: [freeTokens],
  coverage: { stopped: 0.5 },
  async check(subject, drawn) {
    // An unfinished short row looks like a padded one where pad is a stop token: not a fair comparison.
    const width = Math.max(...drawn.completions.map((row) => row.length));
    const whole = drawn.completions.every(
      (row) => drawn.stops.includes(row.at(-1) ?? -1) || row.length === width,
    );
    if (!whole) return undefined;
    const used = new Set([...drawn.prompts, ...drawn.completions].flat());
    const fresh = [0, 1, 2, 3, 4, 5, 29].find((id) => !used.has(id) && !drawn.stops.includes(id)) ?? 1000;
    const [own, equal] = [
      await plannedRows(subject, { ...drawn, pad: fresh }),
      await plannedRows(subject, { ...drawn, pad: drawn.stops[0] ?? fresh }),
    ];
    return sameRows(subject, 'pad', own, equal, 'with a pad id of its own');
  },
};

const everyStop: Property<Batch> = {
  ...maskRule,
  id: 'mask/every-stop-id-ends-a-completion',
  title: 'Any member of the stop set ends a completion like any other',
  why: 'If only one of several stop ids is honoured, everything after the others is trained: padding, or invented text.',
  catches: ['EOS-05', 'EOS-13', 'TOK-04'],
  needs: [
    (world) =>
      (world.hello.tokens?.eos_token_ids.length ?? 2) > 1
        ? undefined
        : 'the trainer has one stop id only (tokens.eos_token_ids)',
  ],
  coverage: { stopped: 0.5 },
  async check(subject, drawn) {
    if (drawn.stops.length < 2) return undefined;
    const ending = (stop: number): Batch => ({
      ...drawn,
      completions: drawn.completions.map((row) =>
        drawn.stops.includes(row.at(-1) ?? -1) ? [...row.slice(0, -1), stop] : row,
      ),
    });
    const first = await plannedRows(subject, ending(drawn.stops[0] ?? 0));
    for (const stop of drawn.stops.slice(1)) {
      const finding = sameRows(
        subject,
        'stop set',
        first,
        await plannedRows(subject, ending(stop)),
        `when it ends in stop id ${drawn.stops[0]}`,
      );
      if (finding !== undefined) return finding;
    }
    return undefined;
  },
};

const renamed = relations<'mask', Batch>({
  op: 'mask',
  stage: 'mask',
  noun: 'The mask',
  given: (world) => given(world),
  args: (drawn) => blockArgs(drawn),
  labels: batchLabels,
  coverage: (world) => ({
    'pad is a stop token': 0.15,
    ...(stopsOf(world, 'mask').oneStop ? {} : { 'several stop ids': 0.15 }),
  }),
  relations: { 'renamed-ids': { catches: ['TOK-04', 'EOS-01', 'TOK-10'] } },
});

const inputs = relations<'mask', Batch>({
  op: 'mask',
  stage: 'mask',
  noun: 'The mask',
  given: (world) => given(world),
  args: (drawn) => blockArgs(drawn),
  labels: batchLabels,
  coverage: { stopped: 0.5 },
  allBut: ['renamed-ids'],
  relations: { inputs: { catches: ['EOS-01'] } },
});

export const maskRelations: readonly Property<Batch>[] = [
  everyStop,
  padRenamed,
  ...renamed,
  ...inputs,
  batchMates,
  paddingWidth,
];
