// What the legal object trainers do with pairs, with what is too long, with whitening and with samples: measured as what
// their names say, or said to be none of the known ways.
import { expect, test } from 'vitest';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Args, objectTrainer, type Semantics, sftLoss } from '../../../src/index.ts';
import { LEGAL } from '../../conformance/correct.ts';
import { undeclared } from './profiled.ts';

async function opened(name: string) {
  const found = LEGAL.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no legal trainer is called ${name}`);
  const { trainer, tokenizer } = await found.open();
  return { trainer: undeclared(trainer), tokenizer };
}

const KNOWN: readonly (readonly [string, Semantics])[] = [
  [
    'DPO of an undeclared beta, summed over pairs',
    { preference_objective: 'dpo', preference_beta: 0.15, preference_label_smoothing: 0 },
  ],
  ['labels smoothed, and not said so', { preference_beta: 0.1, preference_label_smoothing: 0.1 }],
  ['robust DPO', { preference_beta: 0.1, preference_label_smoothing: 0.15 }],
  ['hinge', { preference_objective: 'hinge', preference_beta: 0.2 }],
  ['IPO over means, rewards over means', { preference_objective: 'ipo', preference_beta: 0.1 }],
  ['IPO over sums, undeclared', { preference_objective: 'ipo', preference_beta: 0.1 }],
  [
    'SimPO, undeclared',
    {
      preference_objective: 'simpo',
      preference_beta: 2,
      preference_gamma: 0.5,
      preference_label_smoothing: 0,
    },
  ],
  [
    'DPO over means, undeclared',
    { preference_objective: 'dpo_norm', preference_beta: 5, preference_label_smoothing: 0 },
  ],
  [
    'DPO over means, labels smoothed',
    { preference_objective: 'dpo_norm', preference_beta: 2, preference_label_smoothing: 0.1 },
  ],
  ['SFT weighted by p (DFT), undeclared', { sft_objective: 'dft', sft_aggregation: 'token-mean' }],
  ['SFT weighted by p (DFT), over rows', { sft_objective: 'dft', sft_aggregation: 'seq-mean-token-mean' }],
  ['SFT weighted by p, without weights', { sft_objective: 'dft', sft_aggregation: 'token-mean' }],
  ['DPO in float32', { preference_objective: 'dpo', preference_beta: 1 }],
  ['DPO in bfloat16', { preference_objective: 'dpo', preference_beta: 1, preference_label_smoothing: 0 }],
  ['hinge in bfloat16', { preference_objective: 'hinge', preference_beta: 1 }],
  ['IPO over sums in bfloat16', { preference_objective: 'ipo', preference_beta: 1 }],
  ['Bradley-Terry, undeclared', { reward_centering: 0 }],
  ['Bradley-Terry in bfloat16', { reward_centering: 0 }],
  ['scores kept around 0, undeclared', { reward_centering: 0.05 }],
  ['scores kept around 0 in bfloat16', { reward_centering: 0.01 }],
  [
    'KTO, undeclared',
    { unpaired_objective: 'kto', unpaired_beta: 0.1, desirable_weight: 1, undesirable_weight: 1 },
  ],
  [
    'KTO with weights, in float32',
    { unpaired_objective: 'kto', desirable_weight: 1.33, undesirable_weight: 1 },
  ],
  ['KTO in bfloat16, undeclared', { unpaired_objective: 'kto', desirable_weight: 1 }],
  ['KTO with weights, undeclared', { unpaired_beta: 0.02, undesirable_weight: 1.5 }],
  ['unpaired APO-zero, undeclared', { unpaired_objective: 'apo_zero', unpaired_beta: 0.3 }],
  ['whitened with ddof 1', { whiten_mean: true, whiten_ddof: 1 }],
  ['whitened with ddof 0, in float32', { whiten_mean: true, whiten_ddof: 0 }],
  ['whitened around the mean, which stays', { whiten_mean: false, whiten_ddof: 1 }],
  ['only divided by the deviation', { whiten_mean: false }],
  ['a sampler that records what it drew from', { sampling_logprobs: 'processed' }],
  ['the temperature behind the truncations', { sampling_logprobs: 'raw' }],
  ['a sampler in bfloat16', { sampling_logprobs: 'processed' }],
  [
    'rollout: tools are cut on the left, undeclared',
    { tool_truncation_side: 'left', turn_reward_placement: 'turn' },
  ],
  ['rollout: tools are cut in the middle, undeclared', { tool_truncation_side: 'middle' }],
  ['rollout: tools are cut in the middle, the head is the longer', { tool_truncation_side: 'middle' }],
  [
    'rollout: rewards of a row are added up, undeclared',
    { tool_truncation_side: 'right', turn_reward_placement: 'row' },
  ],
  ['examples are cut on the left, undeclared', { truncation_side: 'left', overlong: 'truncate' }],
  ['examples come back sorted, and say which they are', { truncation_side: 'right', overlong: 'truncate' }],
  ['overlong examples are dropped', { overlong: 'drop' }],
];

test.each(KNOWN)('%s', async (name, expected) => {
  const { measured } = await profileTrainer(await opened(name));
  expect(measured).toMatchObject(expected);
  // What becomes of one example that is too long is no rule for all of them.
  const { truncation_side, overlong, ...kept } = expected;
  // IPO over sums goes by the same name as IPO over means.
  const held = kept.preference_objective === 'ipo' ? {} : kept;
  const { semantics: quick } = await measureUndeclared(await opened(name));
  expect(quick).toMatchObject(held);
  if (held !== kept || truncation_side !== undefined) expect(quick).toEqual({});
});

test.each([
  'squared rewards around a target',
  'both sigmoids apart',
  'the chosen completion may fall',
  'noise contrastive',
  'pairs against their batch',
])('%s is no known objective', async (name) => {
  const { items, measured } = await profileTrainer(await opened(name));
  const row = items.find(({ item }) => item === 'preference_objective');
  expect(row?.verdict).toBe('unknown');
  expect(row?.closest?.misfit.where).toContain('the loss of');
  expect(measured).toEqual({});
});

test('examples that are refused, and prompts that are dropped, show no side', async () => {
  const refused = await profileTrainer(await opened('overlong examples are refused'));
  expect(refused.measured).toEqual({});
  expect(refused.items.find(({ item }) => item === 'overlong')?.why).toContain('has no effect');
  const dropped = await profileTrainer(await opened('overlong examples are dropped'));
  expect(dropped.measured.truncation_side).toBeUndefined();
});

test.each([
  ['a gradient through the weight', (p: number) => -p * (1 + Math.log(p))],
  ['the rest of the probability', (p: number) => -(1 - p)],
  ['its root', (p: number) => -Math.sqrt(p)],
  ['its square', (p: number) => -p * p],
] as const)('labels weighted by %s are no DFT', async (_, slope) => {
  const { sft_loss: right } = (await opened('SFT weighted by p (DFT), undeclared')).trainer.hello.ops;
  expect(right).toBeDefined();
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'weighted', dtype: 'float64', ops: { sft_loss: {} } },
    ops: {
      sft_loss: ({ logits, labels }: Args<'sft_loss'>) => {
        const { loss, weights, tokens } = sftLoss(logits, labels, 'dft');
        return {
          loss,
          loss_weights: weights.map((row) => row.map((w) => (w === 0 ? 0 : slope(-w * tokens) / tokens))),
        };
      },
    },
  });
  const { items } = await profileTrainer({ trainer, tokenizer: undefined });
  expect(items.find(({ item }) => item === 'sft_objective')?.verdict).toBe('unknown');
});

test('means over tokens with a beta for sums are asked about, and as what they are', async () => {
  const logistic = (margin: number): number => Math.log1p(Math.exp(-margin));
  const mean = (row: readonly number[]): number => row.reduce((sum, each) => sum + each, 0) / row.length;
  const ofMeans = (beta: number) =>
    objectTrainer({
      hello: { protocol: 1, name: 'means', dtype: 'float64', ops: { preference_loss: {} } },
      ops: {
        preference_loss: (args: Args<'preference_loss'>) => {
          const losses = args.chosen_logprobs.map((chosen, b) => {
            const [rejected = [], refChosen = [], refRejected = []] = [
              args.rejected_logprobs[b],
              args.ref_chosen_logprobs[b],
              args.ref_rejected_logprobs[b],
            ];
            return logistic(beta * (mean(chosen) - mean(refChosen) - (mean(rejected) - mean(refRejected))));
          });
          return { loss: mean(losses), losses };
        },
      },
    });
  const doubtsOf = async (beta: number) =>
    (await measureUndeclared({ trainer: ofMeans(beta), tokenizer: undefined })).doubts.map(
      ({ item, weight, answers }) => ({ item, weight, answers }),
    );
  expect(await doubtsOf(0.1)).toEqual([
    {
      item: 'preference_objective',
      weight: 'ask',
      answers: [
        '"preference_objective": "dpo_norm"  (it is meant)',
        '"preference_objective": "dpo"  (it should be this)',
      ],
    },
  ]);
  expect(await doubtsOf(5)).toEqual([]);
});
