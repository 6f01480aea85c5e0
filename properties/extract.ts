// Completions out of generated sequences: the ids that rewards are computed on and losses taken of. A trainer may
// keep or drop the stop token and may keep padding behind it, but it must do the same in every row.
import {
  type Args,
  type Batch,
  batch,
  batchLabels,
  blockBatch,
  completionVariants,
  discard,
  type Finding,
  flushLeftBatch,
  freeTokens,
  type Ids,
  type PaddingSide,
  type Property,
  padRows,
  type Role,
  type Subject,
  sameIds,
  stripOf,
  tokenAt,
  type World,
} from '../src/index.ts';

const given = (world: World, minRows = 1) => batch({ tokens: world.hello.tokens, minRows });
const coverage = { 'unequal prompts': 0.3, 'unequal completions': 0.3 };

/** What op `extract` is handed, for prompts padded on one side. */
export function extractArgs(drawn: Batch, side: PaddingSide, extra = 0): Args<'extract'> {
  const { prompts, completions, pad, stops } = drawn;
  const width = Math.max(1, ...prompts.map((row) => row.length)) + extra;
  const padded = padRows(prompts, { side, pad, width });
  const sequences =
    side === 'left'
      ? blockBatch(prompts, completions, pad, { extraPrompt: extra }).sequences
      : flushLeftBatch(prompts, completions, pad).sequences;
  return {
    padding_side: side,
    prompt_ids: prompts,
    input_ids: padded.ids,
    attention_mask: padded.attention_mask,
    sequences,
    sampled_ids: padRows(completions, { side: 'right', pad }).ids,
    pad_token_id: pad,
    eos_token_ids: stops,
  };
}

/** One way of returning completions must fit every row; otherwise the first row that none fits. */
function misfit(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  observed: readonly Ids[],
): Finding | undefined {
  const width = Math.max(0, ...args.sampled_ids.map((row) => row.length));
  const declared = subject.semantics.stop_token_in_completion;
  let names: Set<string> | undefined;
  for (const [row, completion] of drawn.completions.entries()) {
    const sampled = [...completion, ...Array.from({ length: width - completion.length }, () => drawn.pad)];
    const variants = completionVariants(sampled, { pad: drawn.pad, stops: new Set(drawn.stops) });
    const fitting = variants.filter(
      ({ name, ids }) =>
        sameIds(ids, observed[row] ?? []) && (declared === undefined || (name !== 'stop cut') === declared),
    );
    const shared = fitting.map(({ name }) => name).filter((name) => names?.has(name) ?? true);
    if (shared.length === 0) return extractFinding(subject, drawn, args, row, observed[row] ?? [], declared);
    names = new Set(shared);
  }
  return undefined;
}

function extractFinding(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  row: number,
  observed: Ids,
  declared: boolean | undefined,
): Finding {
  const ids = args.sequences[row] ?? [];
  const prompt = drawn.prompts[row] ?? [];
  const completion = drawn.completions[row] ?? [];
  const promptStart = args.padding_side === 'left' ? (args.input_ids[row]?.length ?? 0) - prompt.length : 0;
  const start = promptStart + prompt.length;
  const roles = ids.map((_, column): Role => {
    if (column < promptStart || column >= start + completion.length) return 'padding';
    if (column < start) return 'prompt';
    return drawn.stops.includes(ids[column] ?? -1) ? 'stop' : 'completion';
  });
  const at = findIn(ids, observed);
  const expected = ids.map((_, column) =>
    roles[column] === 'completion' || roles[column] === 'stop' ? ids[column] : undefined,
  );
  const seen = ids.map((_, column) =>
    at === undefined
      ? observed[column - start]
      : column >= at && column < at + observed.length
        ? ids[column]
        : undefined,
  );
  const marks = ids.flatMap((_, column) => (expected[column] === seen[column] ? [] : [column]));
  const first = observed.length === 0 ? start : (at ?? start);
  const intruder = at !== undefined && at < start && observed.length > 0;
  return {
    kind: 'completion',
    sentence: intruder
      ? `The completion extracted from row ${row} begins with ${tokenAt(subject, ids, first)}, which is ${roles[first] === 'prompt' ? 'part of the prompt' : 'padding'}; it was sampled from column ${start} on.`
      : `The completion extracted from row ${row} has ${observed.length} tokens [${observed.join(', ')}]; [${completion.join(', ')}] was sampled${declared === false ? ' (declared without its stop token)' : ''}.`,
    strips: [stripOf(subject, { row, ids, roles, tracks: { expected, observed: seen }, marks })],
    ...(declared === undefined
      ? {
          note: 'With or without the stop token and the padding behind it are all accepted, the same way in every row; none fits.',
        }
      : {}),
  };
}

function findIn(row: Ids, part: Ids): number | undefined {
  for (let start = 0; start + part.length <= row.length; start++) {
    if (sameIds(row.slice(start, start + part.length), part)) return start;
  }
  return undefined;
}

const sideNeed =
  (side: PaddingSide) =>
  (world: World): string | undefined =>
    (world.hello.ops.extract?.padding_side ?? ['left']).includes(side)
      ? undefined
      : `the trainer does not pad prompts on the ${side}`;

function exact(side: PaddingSide): Property<Batch> {
  return {
    id: `extract/exact-under-${side}-padding`,
    title: `Under ${side} padding, the extracted completions are the sampled tokens`,
    stage: 'extract',
    level: 'must',
    why: 'Prompt tokens in the completion are judged by the reward and trained by the loss as if the policy had said them.',
    catches: ['PAD-01', 'PAD-03', 'EOS-05', 'TOK-04', 'TOK-10'],
    ops: ['extract'],
    needs: [sideNeed(side)],
    given: (world) => given(world),
    labels: batchLabels,
    coverage,
    async check(subject, drawn) {
      const args = extractArgs(drawn, side);
      const { completion_ids } = await subject.ask('extract', args);
      return misfit(subject, drawn, args, completion_ids);
    },
  };
}

const side = (world: World): PaddingSide => world.hello.ops.extract?.padding_side?.[0] ?? 'left';

/** Padding behind a completion is the batch's business; where it begins is not. */
function cutAfterStop(ids: Ids, drawn: Batch): Ids {
  const stop = ids.findIndex((id) => drawn.stops.includes(id));
  if (stop >= 0) return ids.slice(0, stop);
  let end = ids.length;
  while (end > 0 && ids[end - 1] === drawn.pad) end--;
  return ids.slice(0, end);
}

function firstDifference(
  drawn: Batch,
  before: readonly Ids[],
  after: readonly Ids[],
  what: string,
): Finding | undefined {
  for (const [row, ids] of after.entries()) {
    const [left, right] = [cutAfterStop(before[row] ?? [], drawn), cutAfterStop(ids, drawn)];
    if (!sameIds(left, right)) {
      return {
        kind: 'differs',
        sentence: `The completion extracted from row ${row} is [${left.join(', ')}] ${what}, and [${right.join(', ')}] otherwise.`,
      };
    }
  }
  return undefined;
}

const paddingWidth: Property<Batch> = {
  id: 'extract/independent-of-padding-width',
  title: 'Two more columns of left padding change no completion',
  stage: 'extract',
  level: 'must',
  why: 'A completion that depends on how long the longest prompt is changes with the batch it happens to be in.',
  catches: ['PAD-01', 'PAD-03'],
  ops: ['extract'],
  needs: [sideNeed('left')],
  given: (world) => given(world),
  labels: batchLabels,
  coverage,
  async check(subject, drawn) {
    const narrow = await subject.ask('extract', extractArgs(drawn, 'left'));
    const wide = await subject.ask('extract', extractArgs(drawn, 'left', 2));
    return firstDifference(drawn, narrow.completion_ids, wide.completion_ids, 'without the extra padding');
  },
};

const batchMates: Property<Batch> = {
  id: 'extract/independent-of-batch-mates',
  title: 'The completion of a row is the same alone and in a batch',
  stage: 'extract',
  level: 'must',
  why: 'An extraction that is right for a single row can be wrong for every batch.',
  catches: ['PAD-01', 'PAD-04'],
  ops: ['extract'],
  given: (world) => given(world, 2),
  labels: batchLabels,
  coverage,
  async check(subject, drawn) {
    const together = await subject.ask('extract', extractArgs(drawn, side(subject)));
    const alone: Ids[] = [];
    for (const [row, prompt] of drawn.prompts.entries()) {
      const only = { ...drawn, prompts: [prompt], completions: [drawn.completions[row] ?? []] };
      alone.push((await subject.ask('extract', extractArgs(only, side(subject)))).completion_ids[0] ?? []);
    }
    return firstDifference(drawn, alone, together.completion_ids, 'alone');
  },
};

const padRenamed: Property<Batch> = {
  id: 'extract/unchanged-when-pad-is-renamed',
  title: 'The completions are the same when padding has an id of its own and when it equals the stop token',
  stage: 'extract',
  level: 'must',
  why: 'Counting ids that differ from pad counts too few where pad is also a token of the prompt.',
  catches: ['EOS-01', 'EOS-02', 'PAD-01'],
  ops: ['extract'],
  needs: [freeTokens],
  given: (world) => given(world),
  labels: batchLabels,
  async check(subject, drawn) {
    const used = new Set([...drawn.prompts, ...drawn.completions].flat());
    const fresh = [0, 1, 3, 4, 5, 29].find((id) => !used.has(id) && !drawn.stops.includes(id));
    const equal = drawn.stops[0];
    if (fresh === undefined || equal === undefined) return discard('no id is free for padding');
    const own = { ...drawn, pad: fresh };
    const same = { ...drawn, pad: equal };
    const before = await subject.ask('extract', extractArgs(own, side(subject)));
    const after = await subject.ask('extract', extractArgs(same, side(subject)));
    const cut = before.completion_ids.map((ids) => cutAfterStop(ids, own));
    return firstDifference(same, cut, after.completion_ids, 'with a pad id of its own');
  },
};

export const extractProperties: readonly Property<Batch>[] = [
  exact('left'),
  exact('right'),
  paddingWidth,
  batchMates,
  padRenamed,
];
