// What a whole step weighs: absolutely, where an aggregation is declared, and beside the other steps, where none is.
import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../../src/trace/ledger.ts';
import type { LedgerSketch } from '../../traced.ts';
import { after as andThen, type Shape, supervised } from '../../weighed.ts';
import { holds, judged, silent, worst } from '../judged.ts';

const FOLLOWS = 'trace/weights-follow-the-aggregation';
const ALIKE = 'trace/steps-weigh-alike';

const said = (semantics: object): Partial<Settings> => ({
  from: [`--semantics ${Object.keys(semantics).join(', ')}`],
  semantics,
});
const TOKEN_MEAN = said({ sft_aggregation: 'token-mean' });

/** Every weight is this, whatever the shape says. */
const weighing = (shape: Shape, weight: number): LedgerSketch => {
  const sketch = supervised(shape);
  return { ...sketch, rows: sketch.rows?.map((row) => ({ ...row, weight })) ?? [] };
};

/** Rows of 5 and 3 answers behind a prompt of 2, then of 2 and 9; each in a batch as wide as its longest. */
const FIRST: Shape = { lengths: [[[5, 3]]] };
const SECOND: Shape = { lengths: [[[2, 9]]], step: 1 };
const ACCUMULATED: Shape = {
  lengths: [
    [
      [5, 3],
      [2, 7],
    ],
  ],
};

describe('a declared token mean', () => {
  test.each([
    ['pads and prompts in the mean', 1 / 12, '8 trained tokens / 12 padded columns'],
    ['prompts in the mean', 1 / 10, '8 trained tokens / 10 tokens of the rows'],
    ['a sum', 1, 'the losses of the 8 tokens are added up'],
    ['a sum over the tokens of a row', 1 / 2, '8 trained tokens / 2 rows'],
  ])('%s is found, with the quotient', (_, weight, words) => {
    const finding = worst(FOLLOWS, { ...weighing(FIRST, weight), settings: TOKEN_MEAN });
    expect(finding.sentence).toContain(words);
    expect(finding.numbers?.[0]).toMatchObject({ expected: 1, observed: expect.closeTo(8 * weight, 9) });
  });

  test.each([
    ['not divided by the micro-batches', 1 / 17, 2, 'it is not divided by the 2 micro-batches'],
    ['divided once more', 1 / 17, 1 / 2, 'it is divided by the 2 accumulated micro-batches once more'],
    ['whole columns, summed', 1 / 28, 2, '17 trained tokens / 28 padded columns, times the 2 micro-batches'],
  ])('accumulation %s', (_, weight, factor, words) => {
    const sketch = weighing(ACCUMULATED, weight * factor);
    expect(worst(FOLLOWS, { ...sketch, settings: TOKEN_MEAN }).sentence).toContain(words);
  });

  test('gradients that the script divides behind the backward passes are what the optimiser gets', () => {
    const divided = (by: number, weight = 1) => ({
      ...weighing(FIRST, weight),
      settings: TOKEN_MEAN,
      events: [{ what: 'reworked', step: 0, values: { factor: by / 3, cosine: 1, by } }],
    });
    holds(FOLLOWS, divided(1 / 8));
    expect(worst(FOLLOWS, divided(1 / 12)).sentence).toContain('8 trained tokens / 12 padded columns');
    // By a norm, as clipping by hand does.
    holds(FOLLOWS, divided(0.37, 1 / 8));
    expect(worst(FOLLOWS, divided(0.37)).sentence).toContain('the losses of the 8 tokens are added up');
  });

  test('beside a teacher, what the likelihood is multiplied by is nobody’s mistake', () => {
    // 6 of 12 columns, and half of the loss.
    const half = weighing({ lengths: [[[4, 2]]] }, 0.5 / 6);
    const rows = (half.rows ?? []).map((row) => ({
      ...row,
      terms: [{ kind: 'teacher' as const, sum: 0.5 }],
    }));
    expect(worst(FOLLOWS, { ...half, settings: TOKEN_MEAN }).sentence).toContain('0.5');
    expect(judged(FOLLOWS, { ...half, rows, settings: TOKEN_MEAN }).findings).toEqual([]);
  });

  test('a quotient that may as well be a coefficient, where all steps have the same counts, is noticed and not blamed', () => {
    const half = (step: number) => weighing({ ...FIRST, step }, 0.8 / 8);
    const judgement = judged(FOLLOWS, { ...andThen(half(0), half(1)), settings: TOKEN_MEAN });
    expect(judgement.findings).toEqual([]);
    expect(judgement.notices?.[0]?.sentence).toContain('so does another count');
    const other = weighing({ lengths: [[[6, 3]]], step: 1 }, 1 / 11);
    expect(worst(FOLLOWS, { ...andThen(half(0), other), settings: TOKEN_MEAN }).sentence).toContain(
      'tokens of the rows',
    );
  });

  test('a last window that is divided by the count of whole ones', () => {
    const whole = supervised(ACCUMULATED);
    const last = weighing({ lengths: [[[4, 4]]], step: 1 }, 1 / 16);
    const finding = worst(FOLLOWS, { ...andThen(whole, last), settings: TOKEN_MEAN });
    expect(finding.sentence).toContain('it is divided by 2 micro-batches, and 1 was accumulated');
  });

  test('a sum of rows means under the name of a mean over rows', () => {
    const sketch = supervised({ lengths: [[[5, 3]]], aggregation: 'seq-mean-token-mean' });
    const rows = sketch.rows?.map((row, at) => ({ ...row, weight: at === 0 ? 1 / 5 : 1 / 3 })) ?? [];
    const settings = said({ sft_aggregation: 'seq-mean-token-mean' });
    expect(worst(FOLLOWS, { ...sketch, rows, settings }).sentence).toContain(
      'the means of the 2 rows are added up',
    );
    holds(FOLLOWS, { ...sketch, settings });
  });

  test('a factor that no count explains, in every step, may be a coefficient: a notice', () => {
    const sketch = andThen(weighing(FIRST, 0.3 / 8), weighing(SECOND, 0.3 / 11));
    const { findings, notices } = judged(FOLLOWS, { ...sketch, settings: TOKEN_MEAN });
    expect(findings).toEqual([]);
    expect(notices?.[0]?.sentence).toContain('add up to 0.3 and not to 1');
    const settings = said({ sft_aggregation: 'token-mean', own_formulas: ['sft_loss'] });
    expect(judged(FOLLOWS, { ...sketch, settings }).notices).toBeUndefined();
  });

  test('so may one that is a quotient of counts in one step by chance', () => {
    const share = 8 / 12;
    const sketch = andThen(weighing(FIRST, share / 8), weighing(SECOND, share / 11));
    const { findings, notices } = judged(FOLLOWS, { ...sketch, settings: TOKEN_MEAN });
    expect(findings).toEqual([]);
    expect(notices).toHaveLength(1);
  });

  test("under a trainer's class another aggregation may be a loss of one's own, and lost factors are none", () => {
    const settings = {
      trainer: 'SFTTrainer',
      from: ["SFTConfig(loss_type='nll')"],
      semantics: { sft_aggregation: 'token-mean', loss_normalization: 'global' } as const,
    };
    for (const weight of [1, 1 / 2])
      expect(judged(FOLLOWS, { ...weighing(FIRST, weight), settings }).findings).toEqual([]);
    expect(worst(FOLLOWS, { ...weighing(FIRST, 1 / 12), settings }).kind).toBe('sum');
    expect(worst(FOLLOWS, { ...weighing(ACCUMULATED, 2 / 17), settings }).kind).toBe('sum');
  });

  test('one that changes from step to step is no coefficient', () => {
    const sketch = andThen(weighing(FIRST, 0.31 / 8), weighing(SECOND, 0.73 / 11));
    expect(worst(FOLLOWS, { ...sketch, settings: TOKEN_MEAN }).kind).toBe('sum');
  });

  test('holds where it is 1: over micro-batches and ranks, with denominators of their own, with the first token counted', () => {
    for (const shape of [FIRST, ACCUMULATED, { lengths: [[[5, 3]], [[2, 9]]] }])
      holds(FOLLOWS, { ...supervised(shape), settings: TOKEN_MEAN });
    const local = said({ sft_aggregation: 'token-mean', loss_normalization: 'local' });
    holds(FOLLOWS, { ...supervised({ ...ACCUMULATED, local: true }), settings: local });
    holds(FOLLOWS, { ...weighing(FIRST, 1 / 10), rows: firstCounted(), settings: TOKEN_MEAN });
  });
});

/** Texts of 10 tokens, all trained but the first, which is counted. */
const firstCounted = (): NonNullable<LedgerSketch['rows']> =>
  [0, 1].map((row) => ({ ids: [5, 6, 7, 8, 9], prompt: 1, row, forward: 0, weight: 1 / 10 }));

describe('steps of which nothing is declared', () => {
  const both = (first: number, second: number): LedgerSketch =>
    andThen(weighing(FIRST, first), weighing(SECOND, second));

  test.each([
    ['padded columns', 1 / 12, 1 / 20],
    ['padded columns with the first', 1 / 14, 1 / 22],
    ['tokens of the rows', 1 / 10, 1 / 13],
  ])('a denominator of %s is found', (_, first, second) => {
    expect(worst(ALIKE, both(first, second)).sentence).toContain('the denominator counts prompts');
  });

  test.each([
    ['a mean over tokens', 1 / 8, 1 / 11],
    ['a sum', 1, 1],
    ['one constant', 1 / 64, 1 / 64],
    ['a mean with a coefficient', 0.3 / 8, 0.3 / 11],
  ])('%s is legal, and told', (_, first, second) => {
    holds(ALIKE, both(first, second));
    expect(Object.keys(judged(ALIKE, both(first, second)).labels ?? {})).toHaveLength(1);
  });

  test('two steps that follow the columns by chance are not blamed, and three that do are', () => {
    const by = (factor: number): LedgerSketch => both(factor / 12, factor / 20);
    silent(ALIKE, by(0.37), 'the weights of the steps follow no known count');
    const third = weighing({ lengths: [[[4, 6]]], step: 2 }, 0.37 / 14);
    expect(worst(ALIKE, andThen(by(0.37), third)).kind).toBe('denominator');
  });

  test('a mean over rows is legal', () => {
    const rows = (shape: Shape): LedgerSketch => supervised({ ...shape, aggregation: 'seq-mean-token-mean' });
    holds(ALIKE, andThen(rows(FIRST), rows(SECOND)));
  });

  test('steps of one shape that weigh differently, and columns that never change, are notices', () => {
    const twice = andThen(weighing(FIRST, 1 / 8), weighing({ ...FIRST, step: 1 }, 1 / 16));
    silent(ALIKE, twice, 'all steps have as many tokens, rows and columns');
    expect(judged(ALIKE, twice).notices?.[0]?.sentence).toContain('changes from step to step');
    const once = weighing(FIRST, 1 / 12);
    silent(ALIKE, once, 'all steps have as many tokens, rows and columns');
    expect(judged(ALIKE, once).notices?.[0]?.sentence).toContain('which is 8 / 12, its padded columns');
  });

  test('half of a mean is asked about where both micro-batches train, and not where one counts for nothing', () => {
    const halved = weighing(ACCUMULATED, 1 / 34);
    expect(judged(ALIKE, halved).notices?.[0]).toMatchObject({ asked: true });
    expect(judged(ALIKE, halved).notices?.[0]?.sentence).toContain(
      'divided by its 2 micro-batches once more',
    );
    const [first, second, ...others] = halved.rows ?? [];
    const one = [first, second].map((row) => ({ ...row, ids: row?.ids ?? [], weight: 1 / 16 }));
    const dead = { ...halved, rows: [...one, ...others.map((row) => ({ ...row, weight: 0 }))] };
    expect(judged(ALIKE, dead).notices ?? []).toEqual([]);
  });

  test.each<[string, Record<string, number> | undefined, boolean]>([
    ['clipping alone', { factor: 0.58, cosine: 1, by: 1 }, true],
    ['nothing that was seen', undefined, true],
    ['the script, before it clips', { factor: 0.58, cosine: 1, by: 2 }, false],
    ['the script, by an unknown factor', { factor: 0.58, cosine: 0.8 }, false],
  ])('a third of a mean is asked about unless the script changes the gradients: %s', (_, values, asked) => {
    const three: Shape = { lengths: [[[5], [3, 4], [7, 2]]] };
    const events = values === undefined ? [] : [{ what: 'reworked', step: 0, values }];
    const notices = judged(ALIKE, { ...weighing(three, 1 / 63), events }).notices ?? [];
    expect(notices.map((notice) => notice.asked)).toEqual(asked ? [true] : []);
  });

  test('policies, pairs, unexplained gradients and unfinished steps are not judged', () => {
    const sketch = both(1 / 12, 1 / 20);
    const rows = sketch.rows ?? [];
    silent(ALIKE, {
      ...sketch,
      rows: rows.map((row, at) => ({ ...row, weight: at % 2 === 0 ? 0.1 : -0.1 })),
    });
    const origin = { kind: 'generation' as const, generations: [0] };
    silent(ALIKE, { ...sketch, rows: rows.map((row) => ({ ...row, spans: { origin } })) });
    silent(ALIKE, {
      ...sketch,
      steps: [0, 1].map((index) => ({ index, ranks: [{ rank: 0, optimizer: '' }] })),
    });
    const mixed = rows.map((row) => ({ ...row, at: { 3: { weight: 1 / 12, residual: 0.4 } } }));
    silent(ALIKE, { ...sketch, rows: mixed });
  });
});
