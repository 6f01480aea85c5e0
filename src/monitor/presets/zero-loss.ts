// A checklist for losses of a language model that are logged as 0.
import type { PresetItem } from './item.ts';

export const ZERO_LOSS: readonly PresetItem[] = [
  {
    at: 'symptom',
    says: 'llm_sft_loss_avg: 0.0, llm_rft_loss_avg: 0.0, llm_total_loss_avg: 0.0',
    rules: ['monitor/expected-losses', 'monitor/idle-loss', 'monitor/zero-loss'],
    settings: {
      'monitor/expected-losses': {
        expect: 'llm_sft_loss,llm_rft_loss,llm_total_loss,num_sft_samples,num_rft_samples',
        steps: 10,
      },
    },
    corrected:
      'A loss of 0 in one step may be legal; one that is exactly 0 in every step was never computed. Take a name out of `expect` where that loss is switched off.',
  },
  {
    at: 'verification 3',
    says: 'llm_sft_loss_avg > 0 if there is data',
    rules: ['monitor/idle-loss', 'monitor/gradient-flows'],
    corrected:
      'Without samples it is legally 0, and a positive loss proves little: it may be computed on the prompt. `lossproof trace` shows which tokens are trained.',
  },
  {
    at: 'verification 3',
    says: 'llm_rft_loss_avg > 0 if RFT is switched on',
    rules: ['monitor/idle-loss'],
    corrected:
      'A policy-gradient loss has either sign, and in a group-relative one it is about 0 at the first update while its gradient is not. Only a loss that stays exactly 0 while its samples are counted is blamed.',
  },
  {
    at: 'verification 3',
    says: 'num_sft_samples > 0, num_rft_samples > 0',
    rules: ['monitor/expected-losses', 'monitor/idle-loss'],
  },
  {
    at: 'verification 2',
    says: 'data length: 3, game_segments count: 32',
    rules: [],
    corrected:
      'How many fields a batch has is no invariant: reading it by its length is what was wrong. Fields should have names; `lossproof check` holds a trainer to that (contract).',
  },
];
