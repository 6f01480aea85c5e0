// The critic and the reward model through their own batching: what they say of a row depends on that row, on what stands
// in front, and on nothing else.
import {
  type Args,
  type Batch,
  bandOf,
  batch,
  batchLabels,
  discard,
  type Ids,
  isHalf,
  MODEL_TERMS,
  modelTokens,
  type Need,
  type Property,
  relations,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';
import { otherId, REPLACEMENTS, REPLACEMENTS_HALF } from './other-ids.ts';

const needsTemperature: Need = (world) =>
  world.hello.ops.values?.temperature === true ? undefined : 'op `values` does not offer temperature';

const stage = 'values';
const base = { stage, level: 'must', ops: ['values'], needs: [modelTokens], labels: batchLabels } as const;
const scored = { ...base, ops: ['reward_model'] } as const;
const given =
  (minRows = 1, long = true) =>
  (world: World) =>
    batch({ tokens: world.hello.tokens, minRows, long });
/** A model may forget its prompt behind a long completion. */
const short = given(1, false);
const coverage = { 'unequal prompts': 0.3, 'unequal completions': 0.2 };

const rowsOf = ({ prompts, completions }: Batch) => ({ prompt_ids: prompts, completion_ids: completions });
const valuesArgs = (drawn: Batch, temperature = 1): Args<'values'> => ({ ...rowsOf(drawn), temperature });
const ask = async (subject: Subject, drawn: Batch, temperature = 1) =>
  (await subject.ask('values', valuesArgs(drawn, temperature))).values;
const scores = async (subject: Subject, drawn: Batch) =>
  (await subject.ask('reward_model', rowsOf(drawn))).scores;

/** Of one score per row: half precision has two alike in a hundred. */
const LAST_REPLACEMENTS = 4;

const withPrompts = (subject: Subject, drawn: Batch, by: number): Batch => ({
  ...drawn,
  prompts: drawn.prompts.map((ids) => ids.map((id) => otherId(subject, id, by))),
});

/** Completion tokens before the stop token of each row. */
const bodiesOf = (subject: Subject, drawn: Batch): number[] => {
  const stops = subject.hello.tokens?.eos_token_ids ?? [];
  return drawn.completions.map((ids) => ids.filter((id) => !stops.includes(id)).length);
};

const replaced = (subject: Subject, ids: Ids, at: number, by: number): Ids =>
  ids.map((id, index) => (index === at ? otherId(subject, id, by) : id));

/**
 * Replaces one token of every completion, at three places, and looks at the values of the tokens before it; `itself`: at
 * that token's own value as well.
 */
async function looksBack(subject: Subject, drawn: Batch, itself: boolean) {
  const bodies = bodiesOf(subject, drawn);
  const longest = Math.max(...bodies);
  if (longest === 0) return discard('no completion has a token before its stop token');
  const before = await ask(subject, drawn);
  const band = bandOf(subject, MODEL_TERMS);
  for (const token of new Set([0, Math.floor(longest / 2), longest - 1])) {
    const after = await ask(subject, {
      ...drawn,
      completions: drawn.completions.map((ids) => replaced(subject, ids, token, 1)),
    });
    for (const [row, body] of bodies.entries()) {
      if (token >= body) continue;
      const end = token + Number(itself);
      const seen = (before[row] ?? [])
        .slice(0, end)
        .findIndex((value, at) => !band.close(after[row]?.[at], value));
      if (seen < 0) continue;
      const which = seen === token ? 'itself' : `${token}, after it,`;
      return {
        kind: 'ahead',
        sentence: `The value of completion token ${seen} of row ${row} changes from ${show(before[row]?.[seen])} to ${show(after[row]?.[seen])} when token ${which} is replaced by another id.`,
        note: band.reason,
      };
    }
  }
  return undefined;
}

const related = {
  stage,
  needs: [modelTokens],
  labels: batchLabels,
  coverage,
} as const;

export const valuesProperties: readonly Property<Batch>[] = [
  {
    ...base,
    id: 'values/independent-of-temperature',
    title: 'Values do not change with the sampling temperature',
    why: 'A critic predicts returns, not probabilities: divided by the temperature, its baseline is off by that factor in every advantage.',
    catches: ['LP-06'],
    needs: [modelTokens, needsTemperature],
    given: given(),
    coverage,
    async check(subject, drawn) {
      const plain = await ask(subject, drawn);
      const band = bandOf(subject, MODEL_TERMS);
      for (const temperature of [0.5, 2]) {
        const values = await ask(subject, drawn, temperature);
        for (const [row, own] of plain.entries()) {
          const token = own.findIndex((value, at) => !band.close(values[row]?.[at], value));
          if (token >= 0)
            return {
              kind: 'temperature',
              sentence: `The value of completion token ${token} of row ${row} is ${show(own[token])} at temperature 1 and ${show(values[row]?.[token])} at ${temperature}.`,
              note: band.reason,
            };
        }
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'values/look-only-back',
    title: 'Changing a completion token leaves the values of the tokens before it alone',
    why: 'A critic that sees what comes expects exactly what happens, and every advantage is 0.',
    catches: ['VAL-03', 'LP-16'],
    given: given(),
    coverage,
    check: (subject, drawn) => looksBack(subject, drawn, false),
  },
  {
    ...base,
    id: 'values/stand-before-their-token',
    title: "A token's value is what the critic expected before it was sampled",
    why: "A value that has seen its token takes that token's own merit off its advantage.",
    level: 'should',
    catches: ['VAL-03'],
    given: given(),
    coverage,
    check: (subject, drawn) => looksBack(subject, drawn, true),
  },
  {
    ...base,
    id: 'values/depend-on-the-prompt',
    title: 'With every token of the prompts replaced, some value changes',
    why: 'A critic that reads completions without their prompts is a baseline for no question in particular.',
    catches: ['TPL-07', 'LP-16'],
    given: short,
    coverage,
    async check(subject, drawn) {
      const before = (await ask(subject, drawn)).flat();
      if (new Set(before).size < 2)
        return discard('all values are equal, as those of a new value head are', 'trainer');
      const times = isHalf(subject) ? REPLACEMENTS_HALF : REPLACEMENTS;
      for (let by = 1; by <= times; by++) {
        const after = (await ask(subject, withPrompts(subject, drawn, by))).flat();
        if (after.some((value, at) => value !== before[at])) return undefined;
      }
      return {
        kind: 'ignored',
        sentence: `Every token of every prompt was replaced by another id, ${times} times over, and none of the ${before.length} values changed: the critic does not see the prompt.`,
      };
    },
  },
  ...relations({
    ...related,
    op: 'values',
    noun: 'The value of a token',
    given: given(2),
    args: (drawn) => valuesArgs(drawn),
    observe: async (subject, args) => ({
      fields: await subject.ask('values', args),
      slack: { values: bandOf(subject, MODEL_TERMS).absolute },
    }),
    allBut: [],
    relations: {
      'batch-mates': { catches: ['PAD-04', 'PAD-05', 'EOS-02'] },
      stacked: { catches: ['LP-16'] },
      'same-twice': { catches: ['LP-12'] },
    },
  }),
  {
    ...scored,
    id: 'values/score-depends-on-the-last-token',
    title: 'With the last token of a completion replaced, its score changes',
    why: 'A score that is read before the end, where the first pad (or a stop token that looks like one) was found, has not seen the answer.',
    level: 'should',
    catches: ['VAL-05', 'EOS-02'],
    given: given(),
    coverage: { ...coverage, 'stop inside a prompt': 0.1 },
    async check(subject, drawn) {
      const bodies = bodiesOf(subject, drawn);
      if (Math.max(...bodies) === 0) return discard('no completion has a token before its stop token');
      const before = await scores(subject, drawn);
      const times = isHalf(subject) ? REPLACEMENTS_HALF : LAST_REPLACEMENTS;
      const quiet = new Set(bodies.flatMap((body, row) => (body > 0 ? [row] : [])));
      for (let by = 1; by <= times && quiet.size > 0; by++) {
        const completions = drawn.completions.map((ids, row) =>
          replaced(subject, ids, (bodies[row] ?? 0) - 1, by),
        );
        const after = await scores(subject, { ...drawn, completions });
        for (const [row, score] of before.entries()) if (after[row] !== score) quiet.delete(row);
      }
      const [row] = quiet;
      if (row === undefined) return undefined;
      return {
        kind: 'early',
        sentence: `The score of row ${row} stays ${show(before[row])} when the last token of its completion is replaced by other ids, ${times} times over: it was read before that token.`,
      };
    },
  },
  {
    ...scored,
    id: 'values/score-depends-on-the-prompt',
    title: 'With every token of the prompts replaced, some score of the reward model changes',
    why: 'An answer that is rated without its question is rated for its tone.',
    level: 'should',
    catches: ['TPL-07', 'VAL-05'],
    given: short,
    coverage,
    async check(subject, drawn) {
      const before = await scores(subject, drawn);
      const times = isHalf(subject) ? REPLACEMENTS_HALF : REPLACEMENTS;
      for (let by = 1; by <= times; by++) {
        const after = await scores(subject, withPrompts(subject, drawn, by));
        if (after.some((value, at) => value !== before[at])) return undefined;
      }
      return {
        kind: 'ignored',
        sentence: `Every token of every prompt was replaced by another id, ${times} times over, and none of the ${before.length} scores changed: the reward model does not see the prompt.`,
      };
    },
  },
  ...relations({
    ...related,
    op: 'reward_model',
    prefix: 'values/score-',
    noun: 'The score of a row',
    given: given(2),
    args: (drawn) => rowsOf(drawn),
    observe: async (subject, args) => ({
      fields: await subject.ask('reward_model', args),
      slack: { scores: bandOf(subject, MODEL_TERMS).absolute },
    }),
    allBut: [],
    relations: {
      'batch-mates': { catches: ['VAL-05', 'PAD-04'] },
      stacked: { catches: ['LP-16'] },
      'same-twice': { catches: ['LP-12'] },
    },
  }),
];
