// A checklist for PPO with tool calls, written after a run that collapsed.
import type { PresetItem } from './item.ts';

export const TOOLS: readonly PresetItem[] = [
  {
    at: '4, symptoms',
    says: 'Outputs are "!!!!..."',
    rules: ['monitor/completions-do-not-repeat-themselves'],
    settings: { 'monitor/completions-do-not-repeat-themselves': { share: 0.1 } },
  },
  {
    at: '4, symptoms',
    says: 'NaN in losses, rewards and advantages',
    rules: ['monitor/finite-training', 'monitor/finite-metrics', 'monitor/rewards-of-samples-are-numbers'],
  },
  {
    at: '4, symptoms',
    says: 'Rewards stay at -1',
    rules: ['monitor/rewards-differ', 'monitor/rewards-of-samples-differ'],
    settings: { 'monitor/rewards-of-samples-differ': { samples: 64 } },
    corrected: 'Any reward that stays the same teaches nothing, 1 as well as -1.',
  },
  {
    at: '4, symptoms',
    says: 'Invalid tool call format, and later no calls at all',
    rules: ['monitor/tool-calls-are-well-formed', 'monitor/tool-failures'],
    settings: {
      'monitor/tool-calls-are-well-formed': { steps: 5 },
      'monitor/tool-failures': { points: 5 },
    },
    corrected: 'That calls become fewer is no fault by itself: a policy may learn to answer without.',
  },
  {
    at: '1.1',
    says: 'The learning rate is too high; about 1e-4 is right',
    rules: ['monitor/learning-rate-size', 'monitor/learning-rate-as-scheduled', 'monitor/kl-size'],
    corrected:
      'The same checklist calls 1e-6 standard for the policy, which is nearer to practice. No number is right for all; what a rate that is too high does is seen in gradient norm and KL.',
  },
  {
    at: '1.1',
    says: 'The clip range should be 0.1 to 0.3',
    rules: ['monitor/clip-fraction', 'monitor/first-ratio-is-one'],
    corrected:
      'A hyper-parameter and no invariant: 0.2 to 0.28 and 3e-4 (of sequences) are in use. What is judged is the share of tokens that is clipped.',
  },
  {
    at: '1.1, 3',
    says: 'Gradients are clipped, max_norm = 0.5',
    rules: ['monitor/grad-norm-explodes', 'monitor/grad-norm-spike'],
    corrected: 'The bound is a hyper-parameter. The norm before clipping is what tells.',
  },
  {
    at: '1.2, 2.1',
    says: 'Rewards at the end of an episode only are too sparse',
    rules: ['monitor/groups-alive'],
    settings: { 'monitor/groups-alive': { points: 10 } },
    corrected:
      'Sparse rewards train well where some completions of a prompt earn one and others do not; groups without spread are what is wasted.',
  },
  {
    at: '1.2',
    says: 'Rewards of +1 and -1 make most advantages negative',
    rules: ['monitor/advantages-centred'],
    corrected: 'Rewards are not advantages: once the baseline is taken off, advantages have mean 0.',
  },
  {
    at: '1.3',
    says: 'Samples and reference answers are longer than the context',
    rules: [
      'monitor/truncated-share',
      'monitor/completions-end-before-the-limit',
      'monitor/prompts-are-not-empty',
    ],
  },
  {
    at: '1.4',
    says: 'The tool answers nothing, or in a wrong format',
    rules: ['monitor/tool-failures'],
  },
  {
    at: '1.5, 2.3',
    says: 'Without an entropy bonus -beta * H in the loss, the policy converges too early',
    rules: ['monitor/entropy-collapse'],
    corrected:
      'The sign is right: a bonus is subtracted from the loss. Whether one is needed is a choice; a collapse is seen in the entropy.',
  },
  {
    at: '2.2',
    says: 'adv = max(adv, -5) + min(adv, 5) keeps the ratio loss from NaN',
    rules: ['monitor/finite-training', 'monitor/kl-size'],
    corrected:
      'That sum doubles what is inside the range and bounds nothing; min(max(adv, -5), 5) clips. Neither touches the ratio, which overflows in exp(logprobs - old_logprobs): its log is what needs a bound.',
  },
  {
    at: '3',
    says: 'Advantages are normalised in every mini-batch',
    rules: ['monitor/advantages-centred'],
    corrected:
      'Over the whole batch or over groups, with the padding left out: of a mini-batch of 2 nothing remains but the sign, and of 1 it is NaN.',
  },
  {
    at: '3',
    says: 'Policy loss, value loss, KL and entropy are watched for sudden spikes',
    rules: ['monitor/loss-rises', 'monitor/kl-spike', 'monitor/grad-norm-spike', 'monitor/entropy-collapse'],
    settings: {
      'monitor/kl-spike': { warm_up: 10 },
      'monitor/grad-norm-spike': { warm_up: 10 },
    },
  },
  {
    at: '3',
    says: 'Small batches and many epochs lower the variance',
    rules: ['monitor/first-ratio-is-one'],
    corrected:
      'Small batches raise it. Several epochs need old_logprobs that were taken before the first of them, and then the ratio is 1 in the first update only.',
  },
];
