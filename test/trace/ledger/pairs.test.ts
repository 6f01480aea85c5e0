// The rules about preference pairs: swapped, turned round, one-sided, of unequal weights; and every legal objective.
import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../src/trace/ledger.ts';
import type { LedgerSketch, TrainedRowSketch } from '../traced.ts';
import { holds, judged, silent, worst } from './judged.ts';

const SIGNS = 'trace/chosen-up-rejected-down';
const SIZES = 'trace/pairs-weigh-alike';

/** Answers of 3 and of 5 tokens behind a prompt of two, and how much each token of them weighs. */
const row = (example: number, form: 'chosen' | 'rejected', weight: number, step = 0): TrainedRowSketch => {
  const answer = form === 'chosen' ? [20, 21, 2] : [30, 31, 32, 33, 2];
  return {
    ids: [1, 10 + example, ...answer],
    prompt: 2,
    step,
    forward: step,
    row: example * 2 + Number(form === 'rejected'),
    weight: weight === 0 ? 1 : weight,
    ...(weight === 0 ? { trained: [] } : {}),
    spans: { origin: { kind: 'dataset', example, form } },
  };
};
const pair = (up: number, down: number, example = 1, step = 0): TrainedRowSketch[] => [
  row(example, 'chosen', up, step),
  row(example, 'rejected', down, step),
];
const scored = (rows: readonly TrainedRowSketch[]): NonNullable<LedgerSketch['scored']> =>
  rows.map(({ ids, step = 0, row: at = 0 }) => ({ ids, step, row: at, model: 1, by: 'reference' as const }));
const declared = (objective: string, more: object = {}): Partial<Settings> => ({
  from: ['--semantics preference_objective'],
  semantics: { preference_objective: objective as 'dpo', ...more },
});

describe('signs', () => {
  test('chosen up and rejected down holds', () => {
    holds(SIGNS, { rows: [...pair(0.05, -0.05), ...pair(0.04, -0.04, 2)] });
  });

  test('turned round: the swap or the sign is named', () => {
    const finding = worst(SIGNS, { rows: [...pair(-0.05, 0.05), ...pair(-0.04, 0.04, 2)] });
    expect(finding.sentence).toContain('the two are swapped, or the loss has the wrong sign');
    expect(finding.strips).toHaveLength(2);
  });

  test('a single pair beyond its aim is IPO, or smoothed labels; of DPO it is wrong', () => {
    const rows = [...pair(0.05, -0.05), ...pair(0.04, -0.04, 2), ...pair(-0.01, 0.01, 3)];
    holds(SIGNS, { rows });
    holds(SIGNS, { rows, settings: declared('ipo') });
    holds(SIGNS, { rows, settings: declared('dpo', { preference_label_smoothing: 0.1 }) });
    expect(worst(SIGNS, { rows, settings: declared('dpo') }).sentence).toContain('In example 3');
  });

  test('one side without a gradient, always, though a reference read both', () => {
    const rows = [...pair(0.05, 0), ...pair(0.05, 0, 2)];
    expect(worst(SIGNS, { rows, scored: scored(rows) }).sentence).toContain(
      'only the chosen one is in the loss',
    );
    const down = [...pair(0, -0.05), ...pair(0, -0.05, 2)];
    expect(worst(SIGNS, { rows: down, settings: declared('dpo') }).sentence).toContain(
      'only the rejected one',
    );
  });

  test('likelihood of both answers, or of the chosen one alone, is said and not blamed', () => {
    for (const [up, down] of [
      [0.05, 0.05],
      [0.05, 0],
      [-0.02, -0.05],
    ] as const) {
      const sketch = { rows: [...pair(up, down), ...pair(up, down, 2)] };
      silent(SIGNS, sketch, 'no preference objective is declared, and other losses do this, too');
      expect(judged(SIGNS, sketch).notices?.[0]?.answers).toEqual(['"preference_objective": "dpo"']);
    }
    // Beside a hinge that is satisfied now and then.
    const rows = [...pair(0.05, 0), ...pair(0.06, -0.05, 2)];
    expect(judged(SIGNS, { rows, scored: scored(rows) }).findings).toEqual([]);
  });

  test('an answer that is chosen in one pair and rejected in another is no half of either', () => {
    const [chosen, other] = [row(1, 'chosen', 0.05), row(1, 'rejected', 0.02)];
    silent(SIGNS, {
      rows: [
        chosen,
        { ...other, spans: { origin: { kind: 'dataset', example: 1, form: 'rejected', shared: true } } },
      ],
    });
    holds(SIGNS, {
      rows: [
        ...pair(0.04, -0.04, 2),
        { ...other, spans: { origin: { kind: 'dataset', example: 1, form: 'rejected', shared: true } } },
      ],
    });
  });

  test('a satisfied hinge, a half without its other half, and an answer of two examples are set aside', () => {
    silent(SIGNS, { rows: pair(0, 0), settings: declared('hinge') }, 'neither answer has a gradient');
    silent(SIGNS, { rows: [row(1, 'chosen', -0.05)] });
    silent(SIGNS, { rows: [...pair(-0.05, 0.05), row(1, 'chosen', 0.05)] });
    silent(SIGNS, { rows: [{ ids: [1, 10, 20, 2], prompt: 2, weight: -1 }] });
  });
});

describe('sizes', () => {
  test('sums for DPO, means for SimPO, either for IPO', () => {
    const sums = { rows: [...pair(0.05, -0.05), ...pair(0.02, -0.02, 2)] };
    const means = { rows: pair(0.05 / 3, -0.05 / 5) };
    holds(SIZES, { ...sums, settings: declared('dpo') });
    holds(SIZES, { ...means, settings: declared('simpo') });
    for (const sketch of [sums, means]) holds(SIZES, { ...sketch, settings: declared('ipo') });
    expect(worst(SIZES, { ...means, settings: declared('dpo') }).sentence).toContain(
      'means over the 3 and 5 tokens of the answers, and the margin of dpo is of sums',
    );
    expect(worst(SIZES, { ...sums, settings: declared('simpo') }).sentence).toContain(
      'the margin of simpo is of means',
    );
    silent(SIZES, sums);
  });

  test('pairs that were put together of two examples are named', () => {
    const rows = [...pair(0.05, -0.04, 1), ...pair(0.04, -0.05, 2)];
    const finding = worst(SIZES, { rows, settings: declared('dpo') });
    expect(finding.sentence).toMatch(/weighs what the rejected answer of example [12] does/);
  });

  test('tokens of one answer that weigh differently are found', () => {
    const [chosen, rejected] = pair(0.05, -0.05);
    if (chosen === undefined || rejected === undefined) throw new Error('no pair');
    const rows = [{ ...chosen, weight: [0.05, 0.02, 0.05] }, rejected];
    expect(worst(SIZES, { rows, settings: declared('dpo') }).kind).toBe('uneven');
  });

  test('a likelihood of the chosen answer beside the margin is not declared, and not judged', () => {
    const settings = { ...declared('dpo'), values: { rpo_alpha: 1 } };
    silent(SIZES, { rows: pair(0.07, -0.05), settings });
  });
});

describe('the reference', () => {
  const OWN = 'trace/reference-is-not-the-policy';
  const two = (step: number, size = 0.05, other = size): TrainedRowSketch[] => [
    ...pair(size, -size, 1, step),
    ...pair(other, -other, 2, step),
  ];
  const byItself = (rows: readonly TrainedRowSketch[]): NonNullable<LedgerSketch['scored']> =>
    scored(rows).map((row) => ({ ...row, model: 0, by: 'policy' as const }));
  const rows = [...two(0), ...two(1)];

  test('is the model itself where that scored the rows, and all of them weigh the same behind a step', () => {
    const sketch = { rows, scored: byItself(rows), settings: declared('dpo') };
    expect(worst(OWN, sketch).sentence).toContain('Each of the 4 rows of step 1 weighs 0.05 a token');
    expect(judged(OWN, sketch).setAside).toEqual(['no parameter had moved before the step']);
  });

  test('is found behind margins of means as well', () => {
    const means = [0, 1].flatMap((step) =>
      [1, 2].flatMap((example) => pair(0.06 / 3, -0.06 / 5, example, step)),
    );
    const sketch = { rows: means, scored: byItself(means), settings: declared('ipo') };
    expect(worst(OWN, sketch).sentence).toContain('weighs 0.06 a row');
  });

  test('is asked about where nothing declares a loss of preferences', () => {
    const said = judged(OWN, { rows, scored: byItself(rows) });
    expect(said).toMatchObject({ judged: 0, findings: [] });
    expect(said.notices).toHaveLength(1);
  });

  test('another model, margins that move, and scores from before are right, or nothing is said', () => {
    const settings = declared('dpo');
    holds(OWN, { rows, scored: scored(rows), settings });
    const moved = [...two(0), ...two(1, 0.05, 0.049)];
    holds(OWN, { rows: moved, scored: byItself(moved), settings });
    silent(OWN, { rows: moved, scored: byItself(moved) });
    // A judge that scored something else is no reference of these.
    const judge = scored([{ ids: [1, 50, 51, 2], prompt: 2 }]);
    silent(OWN, { rows, scored: [...byItself(rows), ...judge], settings });
    silent(OWN, { rows, settings });
    silent(OWN, { rows, scored: byItself(two(0)), settings });
    silent(
      OWN,
      { rows: two(0), scored: byItself(two(0)), settings },
      'no parameter had moved before the step',
    );
    silent(OWN, { rows, scored: byItself(rows), settings: declared('hinge') });
    silent(OWN, {
      rows: [...pair(0.05, -0.05), ...pair(0.05, -0.05, 1, 1)],
      scored: byItself(rows),
      settings,
    });
  });
});

describe('margins', () => {
  const MARGINS = 'trace/margins-are-against-the-reference';
  /** Log-probabilities of the two answers, of the policy and of the reference, by pair. */
  const SCORES = [
    { policy: [-6, -9], reference: [-7, -8] },
    { policy: [-4, -4.7], reference: [-2, -6] },
    { policy: [-8, -5], reference: [-7, -6.5] },
    { policy: [-3, -7], reference: [-5, -6] },
  ].map(({ policy: [pc = 0, pr = 0], reference: [rc = 0, rr = 0] }) => ({
    policy: { chosen: pc, rejected: pr },
    reference: { chosen: rc, rejected: rr },
  }));
  type Scores = (typeof SCORES)[number];
  const ahead = ({ chosen, rejected }: Scores['policy']): number => chosen - rejected;
  const sigmoid = (x: number): number => 1 / (1 + Math.exp(x));
  const right = (pair: Scores): number => ahead(pair.policy) - ahead(pair.reference);
  const turned = ({ policy, reference }: Scores): number => ahead(policy) + ahead(reference);

  function sketch(
    slope: (pair: Scores, at: number) => number,
    settings: Partial<Settings> = {},
    pairs = SCORES,
  ) {
    const rows = pairs.flatMap((each, at) =>
      pair(slope(each, at), -slope(each, at), at + 1).map((own, side) => {
        const tokens = own.ids.length - 2;
        const form = side === 0 ? 'chosen' : 'rejected';
        const spread = (of: Scores['policy']): number[] =>
          own.ids.map((_, t) => (t < 2 ? Number.NaN : of[form] / tokens));
        return { own: { ...own, logprobs: spread(each.policy) }, theirs: spread(each.reference) };
      }),
    );
    const theirs = scored(rows.map(({ own }) => own)).map((each, at) => ({
      ...each,
      logprobs: rows[at]?.theirs ?? [],
    }));
    return { rows: rows.map(({ own }) => own), scored: theirs, settings };
  }
  const dpo = declared('dpo');
  const otherOf = (at: number): Scores['reference'] => (SCORES[at % 4] as Scores).reference;
  const meansOf = ({ policy, reference }: Scores): number =>
    ahead(policy) - (reference.chosen / 3 - reference.rejected / 5);

  test.each([0.01, 0.1, 0.5, 1])('against the reference, whatever beta: %d', (beta) => {
    for (const settings of [dpo, {}])
      holds(
        MARGINS,
        sketch((each) => 0.05 * sigmoid(beta * right(each)), settings),
      );
  });

  test.each<[string, (pair: Scores, at: number) => number]>([
    ['swapped', turned],
    ['another pair', ({ policy }, at) => ahead(policy) - ahead(otherOf(at + 1))],
    ['another pair', ({ policy }, at) => ahead(policy) - ahead(otherOf(at + 3))],
    ['means over tokens', meansOf],
  ])('with the reference %s: of DPO wrong, else a question', (says, margin) => {
    const slope = (each: Scores, at: number): number => 0.05 * sigmoid(0.3 * margin(each, at));
    expect(worst(MARGINS, sketch(slope, dpo)).sentence).toContain(says);
    const { notices = [], judged: count } = judged(MARGINS, sketch(slope));
    expect(notices).toMatchObject([{ asked: true, sentence: expect.stringContaining(says) }]);
    expect(count).toBe(0);
  });

  test('without the reference: wrong of DPO; what is not declared may be meant', () => {
    const slope = ({ policy }: Scores): number => 0.05 * sigmoid(0.3 * ahead(policy));
    expect(worst(MARGINS, sketch(slope, dpo)).sentence).toContain('left out');
    const [notice] = judged(MARGINS, sketch(slope)).notices ?? [];
    expect(notice?.sentence).toContain('left out');
    expect(notice).not.toHaveProperty('asked');
    expect(notice?.answers).toContain('"preference_objective": "dpo"');
  });

  test('other objectives, too few pairs, rows of one weight and several references say nothing', () => {
    const slope = (each: Scores): number => 0.05 * sigmoid(0.3 * turned(each));
    silent(MARGINS, sketch(slope, declared('ipo')));
    silent(MARGINS, sketch(slope, dpo, SCORES.slice(0, 3)));
    silent(
      MARGINS,
      sketch(() => 0.05, dpo),
    );
    const smoothed = (each: Scores): number => 0.05 * (sigmoid(0.3 * right(each)) - 0.1);
    silent(MARGINS, sketch(smoothed, dpo), 'no margin that is known explains the weights');
    const { scored: theirs, ...rest } = sketch(slope, dpo);
    silent(MARGINS, { ...rest, scored: [...theirs, ...theirs.map((each) => ({ ...each, model: 2 }))] });
  });
});
