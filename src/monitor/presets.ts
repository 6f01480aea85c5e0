// Presets of `monitor --preset`: rules that belong together, with the settings that differ from their defaults.
// No preset sets a range of lengths, an entropy in nats or a learning rate: such a number is right for one run and blames others.
import type { SettingValue } from './rule.ts';

export interface Preset {
  readonly name: string;
  readonly title: string;
  /** The trouble that it was written after, as a sentence. */
  readonly origin: string;
  /** By rule: its settings. */
  readonly rules: Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
}

export const PRESETS: readonly Preset[] = [
  {
    name: 'zero-loss',
    title: 'Losses of a language model beside others, which must not stay 0',
    origin:
      'Written after a trainer whose language-model losses were logged as 0.0, because it read its batch by its length.',
    rules: {
      'monitor/expected-losses': {
        expect: 'llm_sft_loss,llm_rft_loss,llm_total_loss,num_sft_samples,num_rft_samples',
        steps: 10,
      },
      'monitor/idle-loss': {},
      'monitor/zero-loss': {},
      'monitor/gradient-flows': {},
    },
  },
  {
    name: 'tools',
    title: 'PPO or GRPO with tool calls: the signs of a collapse',
    origin:
      'Written after a PPO run with tool calls that collapsed: repeated tokens, NaN, a reward that stays at -1, malformed calls.',
    rules: {
      'monitor/completions-do-not-repeat-themselves': { share: 0.1 },
      'monitor/finite-training': {},
      'monitor/finite-metrics': {},
      'monitor/rewards-of-samples-are-numbers': {},
      'monitor/rewards-differ': {},
      'monitor/rewards-of-samples-differ': { samples: 64 },
      'monitor/tool-calls-are-well-formed': { steps: 5 },
      'monitor/tool-failures': { points: 5 },
      'monitor/learning-rate-size': {},
      'monitor/learning-rate-as-scheduled': {},
      'monitor/kl-size': {},
      'monitor/clip-fraction': {},
      'monitor/first-ratio-is-one': {},
      'monitor/grad-norm-explodes': {},
      'monitor/grad-norm-spike': { warm_up: 10 },
      'monitor/groups-alive': { points: 10 },
      'monitor/advantages-centred': {},
      'monitor/truncated-share': {},
      'monitor/completions-end-before-the-limit': {},
      'monitor/prompts-are-not-empty': {},
      'monitor/entropy-collapse': {},
      'monitor/loss-rises': {},
      'monitor/kl-spike': { warm_up: 10 },
    },
  },
  {
    name: 'grpo',
    title: 'The first steps of GRPO',
    origin:
      'Written after five bugs of one GRPO trainer: where its completions begin and end, how long they are, their entropy.',
    rules: {
      'monitor/completions-begin-behind-the-header': {},
      'monitor/completions-begin-behind-the-prompt': {},
      'monitor/length-stuck-at-one': { least: 2 },
      'monitor/length-stuck-at-limit': {},
      'monitor/length-in-range': {},
      'monitor/entropy-collapse': { share: 0.1 },
      'monitor/entropy-in-bounds': {},
      'monitor/completions-end-at-their-stop-token': { share: 0.1 },
      'monitor/completions-end-before-the-limit': {},
      'monitor/stopped-share': {},
      'monitor/completions-are-not-empty': {},
      'monitor/rewards-differ': {},
      'monitor/rewards-of-samples-differ': { samples: 64 },
      'monitor/groups-alive': {},
      'monitor/sampling-gap': {},
      'monitor/first-ratio-is-one': {},
      'monitor/k3-kl-negative': {},
      'monitor/kl-size': {},
    },
  },
];
