// Bugs of masks, and of batches that train nothing.
import type { Bug } from './bug.ts';

export const masks: readonly Bug[] = [
  {
    id: 'MSK-01',
    what: 'The tokens of the prompt are trained.',
    seen: [
      'OpenRLHF/OpenRLHF#235',
      'OpenRLHF/OpenRLHF#237',
      'PrimeIntellect-ai/verifiers@a51e2bdc8',
      'TIGER-AI-Lab/verl-tool#116',
      'opendilab/LightZero@0ad3fdf0',
    ],
    todo: 'Set labels to -100, or the mask to 0, for `[0, prompt_width)`. The attention mask is not a loss mask, and a length of 1s "for the prompt" in a rollout class trains it.',
  },
  {
    id: 'MSK-02',
    what: 'Tokens that a tool or an environment wrote are trained.',
    seen: [
      'PeterGriffinJin/Search-R1#21',
      'THUDM/slime#1370',
      'THUDM/slime#1372',
      'PrimeIntellect-ai/verifiers@6bf6061c1',
      'radixark/miles#559',
    ],
    todo: 'Keep a 0/1 flag beside each id from the moment it is sampled or injected, and multiply it into policy loss, KL, entropy and denominators alike.',
  },
  {
    id: 'MSK-04',
    what: 'The mask is shifted by one, in the wrong direction or at the wrong end.',
    seen: ['verl-project/verl#3287', 'Goekdeniz-Guelmez/mlx-lm-lora#80', 'modelscope/ms-swift#8427'],
    todo: 'With `logprobs[:, t]` of token t + 1 the mask is `mask[:, 1:]`. Print one row of (token, mask, logprob): the first trained token is the first of the completion, the last is its stop.',
  },
  {
    id: 'MSK-05',
    what: 'Markers of user and assistant are paired wrongly in irregular dialogues.',
    seen: ['huggingface/trl#1185'],
    todo: 'Walk through the messages and mark spans by role, instead of pairing the n-th user marker with the n-th assistant marker. Try a dialogue that begins with the assistant.',
  },
  {
    id: 'MSK-06',
    what: 'Padding is left in the labels and counts as a target.',
    seen: ['huggingface/trl#1625'],
    todo: 'Set labels to -100 where the attention mask is 0, before a negative log-likelihood over the whole row is taken.',
  },
  {
    id: 'MSK-08',
    what: 'A rollout that is continued later keeps the mask of its first part.',
    seen: ['THUDM/slime#1445'],
    todo: 'Extend ids, mask and log-probabilities together whenever a rollout goes on, and compare the three lengths where it is handed over.',
  },
  {
    id: 'MSK-09',
    what: 'Of several turns the wrong ones are trained: the first for the last, or past a tool.',
    seen: ['hiyouga/LlamaFactory@d71446e38', 'modelscope/ms-swift#9923'],
    todo: 'Define which turns are trained by the role of the message behind them (the last answer after the last user or tool message), and reverse lists before indexing them, not after.',
  },
  {
    id: 'MSK-10',
    what: 'The number of trained tokens comes from a length or a span, not from the mask.',
    seen: [
      'OpenRLHF/OpenRLHF#1252',
      'OpenRLHF/OpenRLHF#1243',
      'THUDM/slime@e61b2d2ff',
      'THUDM/slime@ba0b13a5e',
    ],
    todo: 'Count trained tokens as `mask.sum()`; a span or a length counts tool output and holes.',
  },
  {
    id: 'MSK-11',
    what: 'Ids and mask are cut to different limits.',
    seen: ['PrimeIntellect-ai/verifiers@66f9391aa'],
    todo: 'Cut ids, mask and everything beside them with one slice, in one place, and compare their shapes afterwards.',
  },
  {
    id: 'MSK-12',
    what: 'A filtered row is removed from one mask and stays in another.',
    seen: ['huggingface/trl#4976'],
    todo: 'Derive every mask from one: multiply the row filter into that one, and take tool mask, padding mask and denominators from it.',
  },
  {
    id: 'MSK-15',
    what: 'Per-step arrays of a segment have lengths that differ by one, and the mask follows the wrong one.',
    seen: ['opendilab/LightZero@9d54f082', 'opendilab/LightZero@0ad3fdf0'],
    todo: 'Write down whether an array speaks of states (K + 1) or of transitions (K), name it so, and let the mask have the length of the transitions. Do not cut by "if it is longer".',
  },
  {
    id: 'ZL-01',
    what: 'A batch is read by length or position, and a loss that is switched on never runs.',
    seen: ['opendilab/LightZero@9d54f082', 'opendilab/LightZero@a3a2d698'],
    todo: 'Hand batches over with named fields and raise for a missing one. Count how often each loss that is switched on ran.',
  },
  {
    id: 'ZL-02',
    what: 'Nothing is trained, and the run reports a loss of 0 as success.',
    seen: [
      'unslothai/unsloth#2900',
      'unslothai/unsloth#1128',
      'unslothai/unsloth#2364',
      'unslothai/unsloth#2771',
      'huggingface/trl#6668',
      'huggingface/trl#6671',
      'shibing624/MedicalGPT#252',
    ],
    todo: 'Count trained tokens of each step, log them, and stop at 0. The cause lies further up: the mask (TOK-06, TPL-09) or truncation (TRN-04).',
  },
  {
    id: 'ZL-03',
    what: 'A loss near 0 in the first step of GRPO is taken for a failure.',
    seen: [
      'huggingface/open-r1#239',
      'huggingface/trl#2703',
      'huggingface/trl#3452',
      'huggingface/trl#3857',
      'unslothai/unsloth#2614',
      'unslothai/unsloth#2291',
    ],
    todo: 'Nothing is wrong: the ratio is 1 and advantages of a group sum to 0. Watch the norm of the gradient and the rewards instead.',
    unshown: 'It is a wrong alarm, not a bug: the correct trainers show that no property raises it.',
  },
  {
    id: 'ZL-04',
    what: 'A batch without any advantage crashes, or is skipped in silence.',
    seen: ['thinking-machines-lab/tinker-cookbook#507', 'OpenRLHF/OpenRLHF#1250'],
    todo: 'Skip the step explicitly, count it, and keep all ranks in step. If it happens often, the prompts are too easy or too hard.',
  },
  {
    id: 'ZL-05',
    what: 'A counter or a metric is read from a place that nobody writes.',
    seen: ['verl-project/verl@66d2b3a43'],
    todo: 'Compute counters from the mask that the loss used, in the same function.',
  },
];
