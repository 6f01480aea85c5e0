// Bugs of whole models: what a forward pass and an optimiser step do to a checkpoint.
import type { Bug } from './bug.ts';

export const models: readonly Bug[] = [
  {
    id: 'PAD-05',
    what: 'Position ids count the padding on the left.',
    seen: [
      'OpenRLHF/OpenRLHF#217',
      'OpenRLHF/OpenRLHF#218',
      'huggingface/trl#6800',
      'huggingface/trl#469',
      'vwxyzjn/lm-human-preference-details#6',
      'tloen/alpaca-lora#315',
    ],
    todo: 'Pass `position_ids = (attention_mask.cumsum(-1) - 1).clamp(min=0)` to each forward pass that scores left-padded rows: policy, reference, value and reward model.',
  },
  {
    id: 'LP-05',
    what: 'Scoring leaves out the temperature of sampling, or applies it wrongly.',
    seen: [
      'huggingface/trl#3029',
      'OpenRLHF/OpenRLHF#857',
      'NVIDIA-NeMo/RL#316',
      'NVIDIA-NeMo/RL@08b4a6070',
      'THUDM/slime#557',
      'THUDM/slime@1da1bb19e',
      'inclusionAI/AReaL#581',
      'verl-project/verl#3133',
      'thinking-machines-lab/tinker-cookbook@41f93a8e',
    ],
    todo: 'Divide the logits by the sampling temperature in every function that scores samples: policy, old policy, reference. Exactly once, before log-softmax, and not in place.',
  },
  {
    id: 'LP-14',
    what: 'A cache that was filled with old weights answers after the update.',
    seen: ['PrimeIntellect-ai/prime-rl#1650'],
    todo: 'Reset prefix and KV caches of the engine whenever weights are updated, and compare one log-probability with a fresh engine.',
  },
  {
    id: 'LP-15',
    what: 'The reference is another network than the one it stands for.',
    seen: ['huggingface/trl#1534', 'huggingface/trl#3397', 'THUDM/slime#780'],
    todo: 'Make the reference once, before anything is wrapped or trained, or switch the adapter off while scoring it. KL is 0 before the first step and not afterwards.',
  },
  {
    id: 'KL-04',
    what: 'The KL in the loss has no gradient.',
    seen: ['NovaSky-AI/SkyRL#1353', 'NovaSky-AI/SkyRL#1340'],
    todo: 'Remove `no_grad` and `detach` from what computes the KL of the loss; only the reference is without gradient.',
  },
  {
    id: 'PCK-01',
    what: 'Examples in one packed row see each other.',
    seen: [
      'huggingface/trl#805',
      'huggingface/trl#1230',
      'huggingface/trl#3526',
      'hiyouga/LlamaFactory#4224',
      'hiyouga/LlamaFactory#2289',
      'unslothai/unsloth#126',
      'MeetKai/functionary#265',
      'axolotl-ai-cloud/axolotl@8c42d3226',
    ],
    todo: 'Pass segment borders to attention: `cu_seqlens`, `position_ids` that restart together with a kernel that reads them, or a block-diagonal mask. Change one example: no other may move.',
  },
];
