// Pairs in rows under changes that must not matter: the other half, the pad id, the order of the pairs, their batch mates.
import {
  type Finding,
  freeTokens,
  type Ids,
  type Ok,
  type PairBatch,
  type Property,
  pairBatch,
  pairBatchLabels,
  relations,
  sameIds,
} from '../../src/index.ts';
import { argsOf, base, coverage, HALVES, type Half, list, other } from './preference.ts';

/** What a half comes to when its padding is taken away: the ids that are attended to, and their masks. */
const withoutPadding = (answer: Ok<'preference'>, half: Half): { ids: number[][]; mask: number[][] } => {
  const real = (rows: readonly Ids[]): number[][] =>
    rows.map((row, at) => row.filter((_, column) => answer[`${half}_attention_mask`][at]?.[column] === 1));
  return { ids: real(answer[`${half}_input_ids`]), mask: real(answer[`${half}_mask`]) };
};

function firstDifference(
  half: Half,
  before: Ok<'preference'>,
  after: Ok<'preference'>,
  when: string,
): Finding | undefined {
  const [first, second] = [withoutPadding(before, half), withoutPadding(after, half)];
  for (const [row, ids] of first.ids.entries()) {
    for (const [name, one, two] of [
      ['ids', ids, second.ids[row] ?? []],
      ['mask', first.mask[row] ?? [], second.mask[row] ?? []],
    ] as const) {
      if (!sameIds(one, two))
        return {
          kind: name,
          sentence: `The ${name} of row ${row} of the ${half} half, padding left out, change from ${list(one)} to ${list(two)} ${when}.`,
        };
    }
  }
  return undefined;
}

const halvesApart: Property<PairBatch> = {
  ...base,
  id: 'preference/halves-do-not-depend-on-each-other',
  title: 'Other completions in one half change nothing in the other half but its padding',
  why: 'A completion that is cut to the length of its rival, or masked by it, is not the one that was rated.',
  catches: ['PAD-08', 'MSK-06'],
  coverage,
  async check(subject, drawn) {
    const before = await subject.ask('preference', argsOf(drawn));
    for (const half of HALVES) {
      // As long as the longest completion of both halves and a token more, so that the widths change.
      const longer = drawn[other(half)].map((row) => [...row.slice(0, 1), ...row]);
      const after = await subject.ask('preference', argsOf({ ...drawn, [other(half)]: longer }));
      const found = firstDifference(
        half,
        before,
        after,
        `when the ${other(half)} completions get one token longer`,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

/** An id that pads in neither case may stand for padding in any. */
const UNUSED_PAD = 29;

const anyPad: Property<PairBatch> = {
  ...base,
  id: 'preference/independent-of-the-pad-id',
  title: 'Which id is used for padding changes nothing but the padding',
  why: 'A mask inferred from the pad id is wrong wherever that id is also a token, and pad is mostly the stop token.',
  catches: ['EOS-01', 'EOS-02', 'PAD-09'],
  needs: [freeTokens],
  coverage: { 'pad is a stop token': 0.1 },
  async check(subject, drawn) {
    const before = await subject.ask('preference', argsOf(drawn));
    const after = await subject.ask('preference', argsOf({ ...drawn, pad: UNUSED_PAD }));
    for (const half of HALVES) {
      const found = firstDifference(
        half,
        before,
        after,
        `when padding has id ${UNUSED_PAD} instead of ${drawn.pad}`,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

const nothingSaid: Property<PairBatch> = {
  ...base,
  id: 'preference/an-empty-completion-counts-nothing',
  title: 'A completion without tokens is a row of the prompt of which nothing counts, or is refused',
  // Whoever ends every completion with a stop token has none.
  level: 'should',
  why: 'mask[-0:] is the whole row: an answer of nothing makes the prompt count in its place.',
  catches: ['MSK-06', 'MSK-01'],
  coverage,
  async check(subject, drawn) {
    for (const half of HALVES) {
      const emptied = { ...drawn, [half]: drawn[half].map((row, at) => (at === 0 ? [] : row)) };
      const outcome = await subject.attempt('preference', argsOf(emptied));
      // A crash on nothing is a refusal, too.
      if ('refused' in outcome) continue;
      const { ids, mask } = withoutPadding(outcome.ok, half);
      const counted = outcome.ok[`${half}_mask`][0]?.some((on) => on !== 0) ?? false;
      if (!counted && sameIds(ids[0] ?? [], drawn.prompts[0] ?? [])) continue;
      return {
        kind: counted ? 'mask' : 'ids',
        sentence: counted
          ? `The ${half} completion of row 0 is empty, and ${half}_mask counts tokens of its row: ${list(mask[0] ?? [])} on ${list(ids[0] ?? [])}, padding left out.`
          : `The ${half} completion of row 0 is empty, and its row is ${list(ids[0] ?? [])}, not the prompt ${list(drawn.prompts[0] ?? [])}.`,
      };
    }
    return undefined;
  },
};

const general = relations({
  op: 'preference',
  stage: 'preference',
  noun: 'A pair in its rows, padding left out,',
  given: (world) => pairBatch(world.hello.tokens, { minRows: 2 }),
  args: argsOf,
  labels: pairBatchLabels,
  coverage,
  observe: async (subject, args) => {
    const answer = await subject.ask('preference', args);
    const [chosen, rejected] = HALVES.map((half) => withoutPadding(answer, half));
    return {
      fields: {
        chosen_input_ids: chosen?.ids,
        chosen_mask: chosen?.mask,
        rejected_input_ids: rejected?.ids,
        rejected_mask: rejected?.mask,
      },
    };
  },
  allBut: [],
  relations: { 'batch-mates': { catches: ['PAD-03', 'MSK-06'] } },
});

export const preferenceRelations: readonly Property<PairBatch>[] = [
  halvesApart,
  anyPad,
  nothingSaid,
  ...general,
];
