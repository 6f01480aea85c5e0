// The correction for what an inference engine sampled: measured as what it is, with its caps, or as none of the known ones.
import { expect, test } from 'vitest';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Args, objectTrainer, type Semantics, type Trainer } from '../../../src/index.ts';
import { LEGAL } from '../../conformance/correct.ts';
import { undeclared } from './profiled.ts';

const MADE = LEGAL.filter(({ name }) => name.startsWith('an engine, corrected:'));

/** REINFORCE beside an engine: the loss of `factor` of a token's ratio, without weights unless `weighs`. */
function weighing(
  factor: (ratio: number) => number,
  weighs = true,
  dtype: 'float64' | 'float32' = 'float32',
): Trainer {
  return objectTrainer({
    hello: { protocol: 1, name: 'weighing', dtype, ops: { loss: { sampling_logprobs: true } } },
    ops: {
      loss: (args: Args<'loss'>) => {
        const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine = old } = args;
        const loss_weights = mask.map((row, b) =>
          row.map((on, t) => {
            const ratio = Math.exp((args.logprobs[b]?.[t] ?? 0) - (old[b]?.[t] ?? 0));
            const weight = factor(Math.exp((old[b]?.[t] ?? 0) - (engine[b]?.[t] ?? 0)));
            return on === 1 ? Math.fround((-(args.advantages[b] ?? 0) * ratio * weight) / 64) : 0;
          }),
        );
        const loss = loss_weights.flat().reduce((sum, each) => sum + each, 0);
        return weighs ? { loss, loss_weights } : { loss };
      },
    },
  });
}

const profileOf = (trainer: Trainer) => profileTrainer({ trainer, tokenizer: undefined });
const correctionIn = (semantics: Semantics): Semantics =>
  Object.fromEntries(Object.entries(semantics).filter(([item]) => item.startsWith('sampling_correction')));

/** Legal, and said: none, one of its own, and a mask with one side. */
const NOTED = ({ sampling_correction: kind, sampling_correction_low: low }: Semantics): string[][] => {
  if (kind === undefined || kind === 'none') return [['sampling_correction', 'note']];
  return kind === 'masked' && low === null ? [['sampling_correction_low', 'note']] : [];
};

test('each way in use has a legal trainer', () => {
  expect(MADE.length).toBeGreaterThanOrEqual(12);
});

test.each(MADE)('$name is measured as what it is', async ({ open }) => {
  const { trainer } = await open();
  const declared = trainer.hello.semantics ?? {};
  const bare = undeclared(trainer);
  expect(correctionIn((await profileOf(bare)).measured)).toEqual(declared);
  const { semantics, doubts } = await measureUndeclared({ trainer: bare, tokenizer: undefined });
  expect(correctionIn(semantics)).toEqual(declared);
  const asked = doubts.filter(({ item }) => item.startsWith('sampling_correction'));
  expect(asked.map(({ item, weight }) => [item, weight])).toEqual(NOTED(declared));
});

test('a loss alone tells the correction, in float32 as well', async () => {
  const { measured } = await profileOf(weighing((ratio) => Math.min(ratio, 2.5), false));
  expect(measured).toMatchObject({
    sampling_correction: 'truncated',
    sampling_correction_level: 'token',
    sampling_correction_low: null,
    sampling_correction_high: 2.5,
  });
  const masked = await profileOf(weighing((ratio) => (ratio < 0.2 || ratio > 4 ? 0 : ratio), false));
  expect(masked.measured).toMatchObject({
    sampling_correction: 'masked',
    sampling_correction_low: 0.2,
    sampling_correction_high: 4,
  });
});

/** GSPO with the ratio to the engine, clipped as OpenRLHF clips it: by the sign of the advantage. */
function clippedToTheEngine(weighs: boolean): Trainer {
  return objectTrainer({
    hello: { protocol: 1, name: 'gspo', dtype: 'float64', ops: { loss: { sampling_logprobs: true } } },
    ops: {
      loss: (args: Args<'loss'>) => {
        const { completion_mask: mask, old_logprobs: old, sampling_logprobs: engine = old } = args;
        let loss = 0;
        const loss_weights = mask.map((row, b) => {
          const columns = row.flatMap((on, t) => (on === 1 ? [t] : []));
          const gaps = columns.map((t) => (args.logprobs[b]?.[t] ?? 0) - (engine[b]?.[t] ?? 0));
          const ratio = Math.exp(gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length));
          const advantage = args.advantages[b] ?? 0;
          const [free, held] = [ratio * advantage, Math.min(1.28, Math.max(0.8, ratio)) * advantage];
          loss -= Math.min(free, held) * columns.length;
          return row.map((on) => (on === 1 && free <= held ? -free : 0));
        });
        return weighs ? { loss, loss_weights } : { loss };
      },
    },
  });
}

test.each([true, false])('a clip of the ratio to the engine is no mask, with weights: %s', async (weighs) => {
  const { measured, probes } = await profileOf(clippedToTheEngine(weighs));
  expect(correctionIn(measured)).toEqual({});
  const reading = probes.find(({ probe }) => probe.id === 'sampling_correction')?.reading;
  expect(reading?.state).toBe('unknown');
  const { doubts } = await measureUndeclared({ trainer: clippedToTheEngine(weighs), tokenizer: undefined });
  const noted = doubts.filter(({ item }) => item === 'sampling_correction');
  expect(noted.map(({ weight, answers }) => [weight, answers[0]])).toEqual([
    ['note', '"sampling_correction": "own"  (it is meant)'],
  ]);
});

test('bad answers that never train leave the correction of good ones known', async () => {
  const trainer = weighing((ratio) => Math.min(ratio, 2));
  const good: Trainer = {
    ...trainer,
    ask: (op, args, how) =>
      trainer.ask(
        op,
        'advantages' in args
          ? { ...args, advantages: (args.advantages as readonly number[]).map((a) => Math.max(0, a)) }
          : args,
        how,
      ),
  };
  expect((await profileOf(good)).measured).toMatchObject({
    sampling_correction: 'truncated',
    sampling_correction_high: 2,
  });
});

test('a declared cap is held against the one that is measured', async () => {
  const trainer = weighing((ratio) => Math.min(ratio, 5));
  const { items } = await profileTrainer({
    trainer,
    tokenizer: undefined,
    semantics: { sampling_correction: 'truncated', sampling_correction_high: 2 },
  });
  const verdicts = Object.fromEntries(items.map(({ item, verdict }) => [item, verdict]));
  expect(verdicts).toMatchObject({
    sampling_correction: 'agrees',
    sampling_correction_level: 'undeclared',
    sampling_correction_high: 'differs',
  });
});

test.each([
  ['upside down', (ratio: number) => Math.min(1 / ratio, 2)],
  ['the root of the ratio', (ratio: number) => Math.min(Math.sqrt(ratio), 2)],
  ['masked above, held below', (ratio: number) => (ratio > 2 ? 0 : Math.max(ratio, 0.5))],
  ['the mask turned round', (ratio: number) => (ratio > 0.99 && ratio < 2 ? 0 : ratio)],
] as const)('%s is none of the known corrections', async (_, factor) => {
  const { items, measured } = await profileOf(weighing(factor));
  const row = items.find(({ item }) => item === 'sampling_correction');
  expect(row?.verdict).toMatch(/unknown|silent/);
  expect(correctionIn(measured)).toEqual({});
});

test('a cap that bounds nothing is asked about', async () => {
  const { doubts } = await measureUndeclared({
    trainer: weighing((ratio) => Math.min(ratio, 100)),
    tokenizer: undefined,
  });
  const doubt = doubts.find(({ item }) => item === 'sampling_correction_high');
  expect(doubt).toMatchObject({ weight: 'ask' });
  expect(doubt?.answers).toEqual([
    '"sampling_correction_high": 100  (it is meant)',
    '"sampling_correction_high": 2  (it should be this)',
  ]);
});

test('a trainer that is sent nothing of an engine has no correction to measure', async () => {
  const { items } = await profileOf(
    objectTrainer({
      hello: { protocol: 1, name: 'none', ops: { loss: {} } },
      ops: { loss: () => ({ loss: 0 }) },
    }),
  );
  expect(items.find(({ item }) => item === 'sampling_correction')).toMatchObject({
    verdict: 'silent',
    why: 'op `loss` does not offer sampling_logprobs',
  });
});

test('one of its own is said to be, and declared so no more', async () => {
  const trainer = weighing((ratio) => Math.min(Math.sqrt(ratio), 2));
  const [doubt, ...others] = (await measureUndeclared({ trainer, tokenizer: undefined })).doubts.filter(
    ({ item }) => item.startsWith('sampling_correction'),
  );
  expect(others).toEqual([]);
  expect(doubt?.answers[0]).toBe('"sampling_correction": "own"  (it is meant)');
  const semantics: Semantics = { sampling_correction: 'own' };
  const { doubts } = await measureUndeclared({ trainer, tokenizer: undefined, semantics });
  expect(doubts.filter(({ item }) => item.startsWith('sampling_correction'))).toEqual([]);
});

test('a cap that is compared with a logarithm is noted', async () => {
  const { doubts } = await measureUndeclared({
    trainer: weighing((ratio) => Math.exp(Math.min(Math.log(ratio), 2))),
    tokenizer: undefined,
  });
  expect(doubts.find(({ item }) => item === 'sampling_correction_high')?.weight).toBe('note');
});
