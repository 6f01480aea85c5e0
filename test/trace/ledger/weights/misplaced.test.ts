// Scores that stand elsewhere than their tokens: a KL term against another row of the reference or a column beside, and a ratio to
// such old log-probabilities. Weights that bend for other reasons are nobody's fault.
import { expect, test } from 'vitest';
import type { LedgerSketch } from '../../traced.ts';
import { judged } from '../judged.ts';

const KL = 'kl/equals-the-estimator';
const RATIO = 'update/first-ratio-is-one';
const PROMPT = 2;
const TOKENS = 7;
const ADVANTAGES = [0.02, -0.03, 0.01, -0.01];

/** Log-probabilities of row `row`, (T,), as unlike others as those of a model are. */
const scoresOf = (row: number, model: number): number[] =>
  Array.from(
    { length: PROMPT + TOKENS },
    (_, t) => -0.2 - 2 * ((0.37 * (t + 1) * (row + 2) + 0.61 * model * (t + 3)) % 1),
  );

/** Four completions with these weights at their tokens, scored by the policy before the step and by a reference. */
function sketch(
  weightAt: (row: number, t: number) => number,
  old: (row: number) => number[] = (row) => scoresOf(row, 0),
): LedgerSketch {
  const rows = ADVANTAGES.map((_, row) => ({
    ids: [1, 5, ...Array.from({ length: TOKENS - 1 }, (_each, t) => 10 + row * 10 + t), 2],
    prompt: PROMPT,
    row,
    logprobs: scoresOf(row, 0),
    weight: Array.from({ length: TOKENS }, (_each, t) => weightAt(row, PROMPT + t)),
    spans: { origin: { kind: 'generation' as const, generations: [row] } },
  }));
  const bare = rows.map(({ ids, prompt, row }) => ({ ids, prompt, row }));
  return {
    rows,
    scored: [
      ...bare.map((each) => ({ ...each, model: 1, logprobs: scoresOf(each.row, 1) })),
      ...bare.map((each) => ({ ...each, by: 'policy' as const, logprobs: old(each.row) })),
    ],
    generations: rows.map(({ ids }, row) => ({
      row,
      promptIds: ids.slice(0, PROMPT),
      completionIds: ids.slice(PROMPT),
    })),
  };
}

const at = (scores: readonly number[], t: number): number => scores[t] ?? Number.NaN;
const advantage = (row: number): number => ADVANTAGES[row] ?? Number.NaN;
const asked = (id: string, given: LedgerSketch): string[] =>
  (judged(id, given).notices ?? []).flatMap(({ asked: isAsked, sentence }) => (isAsked ? [sentence] : []));

/** Of k3, whose slope is 1 - exp(ref - logprob). */
const klTo = (theirs: (row: number, t: number) => number) => (row: number, t: number) =>
  advantage(row) - 0.004 * (1 - Math.exp(theirs(row, t) - at(scoresOf(row, 0), t)));
const ratioTo = (theirs: (row: number, t: number) => number) => (row: number, t: number) =>
  advantage(row) * Math.exp(at(scoresOf(row, 0), t) - theirs(row, t));

test.each<[string, (model: number) => (row: number, t: number) => number]>([
  ['another row', (model) => (row, t) => at(scoresOf((row + 3) % 4, model), t)],
  ['another row', (model) => (row, t) => at(scoresOf((row + 1) % 4, model), t)],
  ['the column beside', (model) => (row, t) => at(scoresOf(row, model), t - 1)],
  ['the column beside', (model) => (row, t) => at(scoresOf(row, model), (t + 1) % (PROMPT + TOKENS))],
])('scores of %s are asked about', (says, of) => {
  expect(asked(KL, sketch(klTo(of(1))))).toEqual([expect.stringContaining(`those of ${says}`)]);
  expect(asked(RATIO, sketch(ratioTo(of(0))))).toEqual([expect.stringContaining(`those of ${says}`)]);
});

test.each<[string, LedgerSketch]>([
  ['one advantage', sketch(advantage)],
  ["a KL to the row's own scores", sketch(klTo((row, t) => at(scoresOf(row, 1), t)))],
  ["a ratio to the reference's own scores", sketch(ratioTo((row, t) => at(scoresOf(row, 1), t)))],
  ['advantages that differ by token', sketch((row, t) => advantage(row) * (1 + (t % 3)))],
  ['advantages that decay', sketch((row, t) => advantage(row) * 0.9 ** t)],
])('%s is not asked about', (_, given) => {
  for (const id of [KL, RATIO])
    expect(asked(id, given).filter((sentence) => /those of/.test(sentence))).toEqual([]);
});

test('one row alone may be so by chance', () => {
  const turned = klTo((row, t) => at(scoresOf((row + 3) % 4, 1), t));
  expect(
    asked(
      KL,
      sketch((row, t) => (row === 0 ? turned(row, t) : advantage(row))),
    ),
  ).toEqual([]);
});
