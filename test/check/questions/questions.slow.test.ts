// What is measured and looks wrong is asked: of trainers that declare nothing, through a run as `check` makes it.
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PRACTICE } from '../../../src/check/profile/practice.ts';
import { PROBES } from '../../../src/check/profile/probes.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import {
  type Args,
  objectTrainer,
  type PropertyResult,
  type RunOptions,
  run,
  type Semantics,
  type Trainer,
} from '../../../src/index.ts';
import { localSftLoss, localValueLoss } from '../../../src/reference/index.ts';
import { notCompared } from '../../../src/report/notes.ts';
import { LEGAL } from '../../conformance/correct.ts';
import { clamped, k1, k3, type Made, made } from '../profile/profiled.ts';

/** Enough for each mistake to show; a loss without weights costs two questions per token. */
const CASES = 5;
const LOSS = 'loss/equals-the-declared-formula';
const KL = 'kl/equals-the-estimator';
const ADVANTAGES = 'advantages/equal-the-declared-formula';

interface Judged {
  readonly of: (id: string) => PropertyResult | undefined;
  readonly all: readonly PropertyResult[];
  readonly notes: readonly string[];
}

/** By the properties whose id begins with `only`: all of them are dear, and most tests look at one. */
async function judged(trainer: Trainer, options: Partial<RunOptions> = {}, only = ''): Promise<Judged> {
  const { semantics } = options;
  const declared = semantics === undefined ? {} : { semantics };
  const measured = await measureUndeclared({ trainer, tokenizer: undefined, ...declared });
  const chosen = properties.filter(
    ({ id, level, ops }) =>
      id.startsWith(only) && level === 'must' && ops.every((op) => trainer.hello.ops[op] !== undefined),
  );
  let notes: readonly string[] = [];
  const all = await run(
    {
      trainer,
      tokenizer: undefined,
      properties: chosen,
      seed: 5,
      cases: CASES,
      command: 'test',
      measured,
      shrinkMilliseconds: 0,
      ...options,
    },
    (event) => {
      if (event.type === 'run-start') notes = (event.notes ?? []).map(({ sentence }) => sentence);
    },
  );
  return { all, notes, of: (id) => all.find((result) => result.id === id) };
}

type LossArgs = Args<'loss'>;

/** A trainer whose loss is of other inputs, or another number of them. */
function changed(
  trainer: Trainer,
  loss: (args: LossArgs, loss: number) => number,
  input: (args: LossArgs) => LossArgs = (args) => args,
): Trainer {
  return objectTrainer({
    hello: trainer.hello,
    ops: Object.fromEntries(
      (['kl', 'advantages', 'loss'] as const).map((op) => [
        op,
        async (args: never) => {
          const answer = await trainer.ask(op, op === 'loss' ? (input(args) as never) : args);
          if (answer.kind !== 'ok') throw new Error(answer.kind);
          if (op !== 'loss') return answer.ok;
          return { loss: loss(args, (answer.ok as { loss: number }).loss) };
        },
      ]),
    ),
  });
}

/** The clipped objective of the ratio's square: no reference knows it, and every relation holds. */
function ofSquaredRatio(trainer: Trainer): Trainer {
  const twice = (args: LossArgs, track: 'logprobs' | 'ref_logprobs'): number[][] =>
    args[track].map((row, b) =>
      row.map((value, t) => value + (args.logprobs[b]?.[t] ?? 0) - (args.old_logprobs[b]?.[t] ?? 0)),
    );
  return changed(
    trainer,
    (_, loss) => loss,
    (args) => ({ ...args, logprobs: twice(args, 'logprobs'), ref_logprobs: twice(args, 'ref_logprobs') }),
  );
}

const failing = ({ all }: Judged): string[] =>
  all.filter(({ verdict }) => ['fail', 'error', 'ask', 'thin'].includes(verdict)).map(({ id }) => id);
const own = (...own_formulas: NonNullable<Semantics['own_formulas']>): Semantics => ({ own_formulas });

describe('a formula that is none of the known ones', () => {
  const odd = ofSquaredRatio(made());

  test('is a question with the lines that answer it, and nothing else is wrong', async () => {
    const found = await judged(odd);
    expect(failing(found)).toEqual([LOSS]);
    expect(found.of(LOSS)).toMatchObject({ verdict: 'ask', cases: 0 });
    expect(found.of(LOSS)?.reason).toMatch(/^The answers of op `loss` follow none of the known formulas/);
    expect(found.of(LOSS)?.answers?.at(-1)).toMatch(/^"own_formulas": \["loss"\]/);
  });

  test('is compared with none where it is said to be the own one, and the report says so', async () => {
    const found = await judged(odd, { semantics: own('loss') });
    expect(failing(found)).toEqual([]);
    expect(notCompared(found.all)).toEqual([LOSS]);
    expect(
      found.all.filter(({ id, verdict }) => id.startsWith('loss/') && verdict === 'pass').length,
    ).toBeGreaterThan(2);
  });

  test('is a failure where the formula is declared', async () => {
    const semantics = {
      loss_aggregation: 'token-mean',
      clip_low: 0.2,
      clip_high: 0.2,
      kl_coef: 0.04,
    } as const;
    expect((await judged(odd, { semantics }, LOSS)).of(LOSS)?.verdict).toBe('fail');
  });

  test('of KL and of advantages is a question, too', async () => {
    const kl = await judged(made({ kl: (logprob, ref) => (ref - logprob) ** 4 }), {}, KL);
    expect(kl.of(KL)).toMatchObject({ verdict: 'ask' });
    expect(kl.of(KL)?.failure?.finding?.answers?.at(-1)).toMatch(/^"own_formulas": \["kl"\]/);
    const cubes = made({ divisor: (deviation) => deviation ** 3 + 1 });
    expect((await judged(cubes, {}, ADVANTAGES)).of(ADVANTAGES)?.verdict).toBe('ask');
    expect(failing(await judged(cubes, { semantics: own('advantages') }))).toEqual([]);
  });

  test('may be one that leaves rows without advantage out, and their KL with them', async () => {
    const filtered = changed(
      made(),
      (_, loss) => loss,
      (args) => ({
        ...args,
        completion_mask: args.completion_mask.map((row, b) =>
          args.advantages[b] === 0 ? row.map(() => 0) : row,
        ),
      }),
    );
    expect((await judged(filtered, {}, LOSS)).of(LOSS)?.verdict).toBe('ask');
  });

  test('may be one whose advantages are 0 where rewards differ by little, and says below which spread', async () => {
    const guarded = made({
      divisor: (deviation) => (deviation < 0.001 ? Number.POSITIVE_INFINITY : deviation),
    });
    const result = (await judged(guarded, { cases: 60 }, 'advantages/')).of(ADVANTAGES);
    expect(result?.verdict).toBe('ask');
    expect(result?.failure?.finding?.sentence).toMatch(/is 0, although the rewards of its group differ/);
    expect(result?.failure?.finding?.answers).toEqual([
      '"advantage_min_std": 0.001  (or the limit that is meant)',
    ]);
    const semantics = { advantage_min_std: 0.001 } as const;
    expect(failing(await judged(guarded, { semantics, cases: 60 }, 'advantages/'))).toEqual([]);
  });

  test('is not asked about while a relation of the same op fails', async () => {
    const batched = changed(odd, ({ logprobs }, loss) => loss + (logprobs[0]?.length ?? 0));
    const found = await judged(batched);
    expect(found.all.some(({ id, verdict }) => id.startsWith('loss/') && verdict === 'fail')).toBe(true);
    expect(found.of(LOSS)?.verdict).toBe('skipped');
    expect(found.of(LOSS)?.reason).toMatch(/^which formula it is, is asked once loss\/.* holds$/);
  });
});

describe('a known mistake', () => {
  test.each<[string, Made, string, RegExp]>([
    ['a turned sign', { kl: (p, q) => -k3(p, q) }, KL, /fits exactly if its sign is turned \(KL-01\)/],
    ['the variance', { divisor: (deviation) => deviation ** 2 || 1 }, ADVANTAGES, /divided by the variance/],
  ])('is a failure by its name although nothing is declared: %s', async (_, how, id, words) => {
    const result = (await judged(made(how), {}, id)).of(id);
    expect(result?.verdict).toBe('fail');
    expect(result?.failure?.finding?.sentence).toMatch(words);
  });
});

describe('a measured value', () => {
  test.each<[string, Made, string, string]>([
    ['the lower bound is the width', { clip: [0.8, 0.2] }, LOSS, 'clip_low'],
    ['the loss is a plain sum', { factor: () => 1 }, LOSS, 'loss_norm'],
    ['KL is clamped at 1', { kl: clamped(k3, 1) }, KL, 'kl_clamp'],
    ['k1 is in the loss', { kl: k1 }, KL, 'kl_estimator'],
    ['no baseline', { baseline: () => 0, scaling: 'none' }, ADVANTAGES, 'advantage_baseline'],
    ['a mean over tokens in each micro-batch', { local: true }, LOSS, 'loss_normalization'],
  ])('that no trainer has on purpose is asked about: %s', async (_, how, id, item) => {
    const result = (await judged(made(how), {}, id)).of(id);
    expect(result).toMatchObject({ verdict: 'ask' });
    expect(result?.reason).toContain(`Measured, not declared: ${item} is`);
    expect(result?.answers?.some((answer) => answer.startsWith(`"${item}": `))).toBe(true);
  });

  test('of the mask is asked about by the property of stop tokens', async () => {
    const untrained = LEGAL.find(({ name }) => name === 'the stop token is not trained, undeclared');
    const { trainer } = (await untrained?.open()) ?? {};
    if (trainer === undefined) throw new Error('the suite has no such trainer');
    const result = (await judged(trainer)).of('mask/stop-token-is-trained-once');
    expect(result).toMatchObject({ verdict: 'ask' });
    expect(result?.answers).toEqual([
      '"stop_token_in_mask": false  (it is meant)',
      '"stop_token_in_mask": true  (it should be this)',
    ]);
  });

  test('is answered by declaring it', async () => {
    const sum = made({ factor: () => 1 });
    const semantics = { loss_norm: 1 };
    expect(failing(await judged(sum, { semantics }))).toEqual([]);
  });

  test.each<[string, Made, string]>([
    [
      'a mean over rows in each micro-batch',
      { local: true, factor: (row, _, rows) => 1 / row / rows },
      'loss_normalization is local',
    ],
    ['no scaling', { scaling: 'none' }, 'advantage_scaling is none'],
    ['no clip', { clip: [Infinity, Infinity] }, 'clip_low is Infinity'],
  ])(
    'that is legal and often not meant is noted, and fails a strict run alone: %s',
    async (_, how, words) => {
      const found = await judged(made(how));
      expect(failing(found)).toEqual([]);
      expect(found.notes.some((sentence) => sentence.includes(words))).toBe(true);
      const strict = await judged(made(how), { strict: true });
      expect(failing(strict).length).toBeGreaterThan(0);
      expect(strict.notes).toEqual([]);
    },
  );

  test('of the plain trainer raises neither question nor note', async () => {
    const found = await judged(made());
    expect(failing(found)).toEqual([]);
    expect(found.notes).toEqual([]);
  });
});

describe('a mean over the tokens of each micro-batch, by an op that is alone', () => {
  const SETTINGS = { aggregation: 'token-mean', factor: 0.5, clip: null } as const;
  const losses = {
    sft_loss: (args: Args<'sft_loss'>) => localSftLoss(args.logits, args.labels, args.micro_batches),
    value_loss: (args: Args<'value_loss'>) =>
      localValueLoss({ ...args, mask: args.completion_mask }, SETTINGS, args.micro_batches),
  };
  const CRITIC: Semantics = { value_loss_factor: 0.5, value_clip: null };

  test.each([
    ['sft_loss', 'sft-loss', {}, { sft_aggregation: 'token-mean' }],
    ['value_loss', 'value-loss', CRITIC, { value_aggregation: 'token-mean' }],
  ] as const)('of %s', async (op, prefix, known, aggregation) => {
    const { [op]: loss } = losses;
    const of = (semantics: Semantics): Promise<Judged> =>
      judged(
        objectTrainer({
          hello: { protocol: 1, name: 'x', dtype: 'float64', ops: { [op]: { micro_batches: true } } },
          ops: {
            [op]: async (args: never) => {
              const { loss: number, weights, tokens } = loss(args);
              return { loss: number, loss_weights: weights, trained_tokens: tokens };
            },
          },
        }),
        { semantics: { ...known, ...semantics }, cases: 20 },
      );
    // A declared mean over tokens is one over those of the batch; one that is not declared is asked about.
    expect(failing(await of(aggregation))).toEqual([
      `${prefix}/independent-of-micro-batches`,
      `${prefix}/independent-of-many-micro-batches`,
    ]);
    expect(failing(await of({}))).toEqual([`${prefix}/equals-the-reference`]);
    expect(failing(await of({ ...aggregation, loss_normalization: 'local' }))).toEqual([]);
    expect(failing(await of({ loss_normalization: 'global' }))).toContain(
      `${prefix}/independent-of-micro-batches`,
    );
  });
});

test('each row of the table has a source, and each op that shows its item a property that settles it', () => {
  const own = ['loss_aggregation', 'loss_norm'];
  const unsettled = PROBES.flatMap(({ id, items, ops: shown }) =>
    items
      .filter((item) => PRACTICE.some((row) => row.item === item))
      // `sft_loss` has an item of its own for what it aggregates, and its formula fails any other.
      .filter((item) => id !== 'sft_aggregation' || !own.includes(item))
      .filter(
        (item) =>
          !properties.some(
            ({ settles = [], ops }) => settles.includes(item) && ops.every((op) => shown.includes(op)),
          ),
      )
      .map((item) => `${item} of ${shown.join(', ')}`),
  );
  expect(unsettled).toEqual([]);
  for (const { source, why } of PRACTICE) {
    expect(source).toMatch(/^https?:\/\//);
    expect(why).toMatch(/\.$/);
  }
});
