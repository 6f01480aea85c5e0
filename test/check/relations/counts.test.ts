// Formulas of one's own: no reference is compared, so these relations alone tell a loss from a constant, or from a loss of a part of
// its request. Legal formulas that are flat somewhere pass.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Args, type Formula, type Ok, objectTrainer } from '../../../src/index.ts';
import { judgedBy } from '../questions/judged.ts';

type Pairs = Args<'preference_loss'>;
type Rows = readonly (readonly number[])[];

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

async function verdictsOf(
  op: Formula,
  answer: (args: never) => object,
  ids: readonly string[],
  can: object = {},
): Promise<Record<string, string>> {
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'own',
      dtype: 'float64',
      ops: { [op]: can },
      semantics: { own_formulas: [op] },
    },
    ops: { [op]: answer },
  });
  const results = await judgedBy(ids, trainer);
  return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
}

/** A loss of each pair by the scores of its halves. */
const pairwise =
  (
    loss: (chosen: number, rejected: number) => number,
    score: (row: readonly number[], ref: readonly number[]) => number = (row, ref) => sum(row) - sum(ref),
  ) =>
  (args: Pairs): Ok<'preference_loss'> => ({
    loss: mean(
      args.chosen_logprobs.map((row, b) =>
        loss(
          score(row, args.ref_chosen_logprobs[b] ?? []),
          score(args.rejected_logprobs[b] ?? [], args.ref_rejected_logprobs[b] ?? []),
        ),
      ),
    ),
  });
const dpo = pairwise((chosen, rejected) => softplus(-0.1 * (chosen - rejected)));
const perToken = (row: readonly number[]): number => mean(row);
const odds = (row: readonly number[]): number => mean(row) - Math.log1p(-Math.exp(mean(row)));

const ON_PAIRS = [
  'preference_loss/falls-towards-the-chosen-completion',
  'preference_loss/every-number-counts',
];
const [FALLS = '', COUNTS = ''] = ON_PAIRS;

test.each<[string, (args: Pairs) => object, readonly string[]]>([
  ['log 2 whatever the rows say', () => ({ loss: Math.LN2 }), [COUNTS]],
  ['the chosen half alone', pairwise((chosen) => softplus(-0.1 * chosen)), [COUNTS]],
  [
    'the first token of each half',
    pairwise(
      (chosen, rejected) => softplus(-0.1 * (chosen - rejected)),
      (row, ref) => (row[0] ?? 0) - (ref[0] ?? 0),
    ),
    [COUNTS],
  ],
  [
    'all tokens, against the first one of the reference',
    pairwise(
      (chosen, rejected) => softplus(-0.1 * (chosen - rejected)),
      (row, ref) => sum(row) - row.length * (ref[0] ?? 0),
    ),
    [COUNTS],
  ],
  [
    'the first pair of a batch',
    (args) =>
      dpo({
        ...args,
        chosen_logprobs: args.chosen_logprobs.slice(0, 1),
      }),
    [COUNTS],
  ],
  [
    'a last token with the other sign',
    pairwise(
      (chosen, rejected) => softplus(-0.1 * (chosen - rejected)),
      (row, ref) => sum(row) - sum(ref) - 2 * ((row.at(-1) ?? 0) - (ref.at(-1) ?? 0)),
    ),
    [FALLS],
  ],
])('a loss on pairs of %s is found', async (_, loss, found) => {
  const verdicts = await verdictsOf('preference_loss', loss, ON_PAIRS);
  expect(Object.keys(verdicts).filter((id) => verdicts[id] === 'fail')).toEqual(found);
});

test.each<[string, (args: Pairs) => object]>([
  ['a hinge', pairwise((chosen, rejected) => Math.max(0, 1 - (chosen - rejected)))],
  ['IPO over sums', pairwise((chosen, rejected) => (chosen - rejected - 5) ** 2)],
  ['SimPO with a margin', pairwise((chosen, rejected) => softplus(-2 * (chosen - rejected) + 1.5), perToken)],
  [
    'odds beside the likelihood (ORPO)',
    pairwise((chosen, rejected) => softplus(rejected - chosen) - chosen, odds),
  ],
  [
    'a chosen completion that may fall (APO-down)',
    pairwise((chosen, rejected) => sigmoid(0.1 * chosen) + 1 - sigmoid(0.1 * (chosen - rejected))),
  ],
])('%s is a loss on pairs', async (_, loss) => {
  expect(await verdictsOf('preference_loss', loss, ON_PAIRS)).toEqual({ [FALLS]: 'pass', [COUNTS]: 'pass' });
});

const scored =
  (loss: (chosen: number, rejected: number, margin: number) => number) =>
  ({ chosen_scores, rejected_scores, margins }: Args<'reward_loss'>): Ok<'reward_loss'> => ({
    loss: mean(chosen_scores.map((chosen, b) => loss(chosen, rejected_scores[b] ?? 0, margins?.[b] ?? 0))),
  });
const labelled =
  (score: (row: readonly number[], ref: readonly number[]) => number) =>
  ({ logprobs, ref_logprobs, desirable }: Args<'unpaired_preference_loss'>): object => ({
    loss: mean(
      logprobs.map((row, b) => {
        const ratio = score(row, ref_logprobs[b] ?? []);
        return 1 - sigmoid(desirable[b] === 1 ? 0.1 * ratio : -0.1 * ratio);
      }),
    ),
  });
const grouped =
  (advantage: (reward: number, group: readonly number[]) => number) =>
  ({ rewards, group_ids }: Args<'advantages'>): Ok<'advantages'> => ({
    advantages: rewards.map((reward, row) =>
      advantage(
        reward,
        rewards.filter((_, at) => group_ids[at] === group_ids[row]),
      ),
    ),
  });
const deviation = (group: readonly number[]): number =>
  Math.sqrt(sum(group.map((reward) => (reward - mean(group)) ** 2)) / group.length);
const masked = (mask: Rows, value: (row: number, column: number) => number): number => {
  const trained = mask.flatMap((row, b) => row.flatMap((on, t) => (on === 1 ? [value(b, t)] : [])));
  return trained.length === 0 ? 0 : mean(trained);
};
const critic =
  (loss: (error: number) => number, clip = Number.POSITIVE_INFINITY) =>
  ({ values, old_values, returns, completion_mask }: Args<'value_loss'>): object => ({
    loss: masked(completion_mask, (b, t) => {
      const [value = 0, old = 0, target = 0] = [values[b]?.[t], old_values[b]?.[t], returns[b]?.[t]];
      const held = old + Math.min(clip, Math.max(-clip, value - old));
      return Math.max(loss(value - target), loss(held - target));
    }),
  });
const kl =
  (estimate: (ratio: number) => number) =>
  ({ logprobs, ref_logprobs }: Args<'kl'>): Ok<'kl'> => ({
    kl: logprobs.map((row, b) => row.map((value, t) => estimate(value - (ref_logprobs[b]?.[t] ?? 0)))),
  });
const huber = (error: number): number => (Math.abs(error) < 1 ? error ** 2 / 2 : Math.abs(error) - 1 / 2);

test.each<[string, Formula, (args: never) => object, string, object?]>([
  ['scores of the chosen answers alone', 'reward_loss', scored((chosen) => softplus(-chosen)), 'fail'],
  [
    'margins that are taken and not read',
    'reward_loss',
    scored((chosen, rejected) => softplus(rejected - chosen)),
    'fail',
    { margins: true },
  ],
  [
    'a hinge of scores with margins',
    'reward_loss',
    scored((c, r, m) => Math.max(0, m + 1 - c + r)),
    'pass',
    { margins: true },
  ],
  ['one number for all labelled rows', 'unpaired_preference_loss', () => ({ loss: 0.5 }), 'fail'],
  [
    'the first token of labelled rows',
    'unpaired_preference_loss',
    labelled((row, ref) => (row[0] ?? 0) - (ref[0] ?? 0)),
    'fail',
  ],
  [
    'labelled rows one by one',
    'unpaired_preference_loss',
    labelled((row, ref) => sum(row) - sum(ref)),
    'pass',
  ],
  ['no advantage for anybody', 'advantages', grouped(() => 0), 'fail'],
  [
    'advantages over a deviation',
    'advantages',
    grouped((reward, group) => (reward - mean(group)) / (deviation(group) || 1)),
    'pass',
  ],
  [
    'the best of a group alone',
    'advantages',
    grouped((reward, group) => (reward === Math.max(...group) ? 1 : 0)),
    'pass',
  ],
  [
    'a critic that does not read its values',
    'value_loss',
    ({ returns, completion_mask }: Args<'value_loss'>) => ({
      loss: masked(completion_mask, (b, t) => (returns[b]?.[t] ?? 0) ** 2),
    }),
    'fail',
  ],
  ['a Huber loss within a clip', 'value_loss', critic(huber, 0.2), 'pass'],
  ['a KL of 0', 'kl', kl(() => 0), 'fail'],
  [
    'a KL that is clamped on both sides',
    'kl',
    kl((ratio) => Math.min(10, Math.max(-10, Math.exp(-ratio) + ratio - 1))),
    'pass',
  ],
  ['a supervised loss that is always 1', 'sft_loss', () => ({ loss: 1 }), 'fail'],
])('%s', async (_, op, answer, verdict, can = {}) => {
  const id = `${{ sft_loss: 'sft-loss', value_loss: 'value-loss' }[op as string] ?? op}/every-number-counts`;
  expect(await verdictsOf(op, answer, [id], can)).toEqual({ [id]: verdict });
});

test('a loss that only carries a gradient is a question', async () => {
  const carried = ({ labels, logits }: Args<'sft_loss'>): object => ({
    loss: 1,
    loss_weights: labels.map((row, b) =>
      row.map((label, t) => (label === -100 ? 0 : -sigmoid(logits[b]?.[t - 1]?.[0] ?? 0))),
    ),
  });
  expect(await verdictsOf('sft_loss', carried, ['sft-loss/every-number-counts'])).toEqual({
    'sft-loss/every-number-counts': 'ask',
  });
});

test('where nothing is read, a NaN is hidden by that', async () => {
  const ids = ['preference_loss/every-number-counts', 'preference_loss/a-nan-is-seen'];
  expect(await verdictsOf('preference_loss', () => ({ loss: Math.LN2 }), ids)).toEqual({
    'preference_loss/every-number-counts': 'fail',
    'preference_loss/a-nan-is-seen': 'skipped',
  });
});

type Unpaired = Args<'unpaired_preference_loss'>;

test.each<[string, readonly (readonly [desirable: boolean, logprob: number])[]]>([
  [
    'one of each kind',
    [
      [true, -4],
      [false, -10],
    ],
  ],
  [
    'two of each kind',
    [
      [true, -1],
      [false, -3],
      [false, -2],
      [true, -5],
    ],
  ],
])('a shared KL that rows of equal ratios gain and lose by alike is read: %s', async (_, drawn) => {
  const kto = ({ logprobs, ref_logprobs, kl_logprobs, ref_kl_logprobs, desirable }: Unpaired) => {
    const ratios = logprobs.map((row, b) => sum(row) - sum(ref_logprobs[b] ?? []));
    const kl = mean(kl_logprobs.map((row, b) => sum(row) - sum(ref_kl_logprobs[b] ?? [])));
    const losses = ratios.map(
      (ratio, b) => 1 - sigmoid(0.1 * (desirable[b] ? 1 : -1) * (ratio - Math.max(0, kl))),
    );
    return { loss: mean(losses) };
  };
  const rows = drawn.map(([desirable, logprob]) => ({
    desirable,
    tokens: [{ logprob, ref: logprob }],
    kl: [
      { logprob: -2, ref: -2 },
      { logprob: -3, ref: -3 },
    ],
  }));
  const verdict = async (
    answer: (args: Unpaired) => Ok<'unpaired_preference_loss'>,
  ): Promise<string | undefined> => {
    const trainer = objectTrainer({
      hello: { protocol: 1, name: 'kto', dtype: 'float64', ops: { unpaired_preference_loss: {} } },
      ops: { unpaired_preference_loss: answer },
    });
    const ids = ['unpaired_preference_loss/every-number-counts'];
    const given = () => fc.constant<unknown>({ rows });
    const [result] = await judgedBy(ids, trainer, { given, coverage: {} });
    return result?.verdict;
  };
  expect(await verdict(kto)).toBe('pass');
  // The second token of a row is not read.
  const blind = (args: Unpaired) =>
    kto({
      ...args,
      kl_logprobs: args.kl_logprobs.map((row, b) => row.with(1, args.ref_kl_logprobs[b]?.[1] ?? 0)),
    });
  expect(await verdict(blind)).not.toBe('pass');
});
