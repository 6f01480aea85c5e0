// A checklist for the first steps of a GRPO trainer, written after five bugs of one.
import type { PresetItem } from './item.ts';

export const GRPO: readonly PresetItem[] = [
  {
    at: 'first steps, boundary',
    says: 'The response does not begin with <|start_header_id|> and the like',
    rules: ['monitor/completions-begin-behind-the-header', 'monitor/completions-begin-behind-the-prompt'],
    corrected: 'Headers are those of the chat template of the run, whatever its family.',
  },
  {
    at: 'first steps, boundary',
    says: 'The prompt ends with assistant<|end_header_id|>',
    rules: ['monitor/completions-begin-behind-the-header'],
    corrected:
      'True of prompts of a chat that are to be answered; of plain prompts it is not. Where it is missing, the policy writes the header itself, and that is seen.',
  },
  {
    at: 'first steps, length',
    says: '15 to 96 tokens, not 1 or 2, and not 200',
    rules: ['monitor/length-stuck-at-one', 'monitor/length-stuck-at-limit', 'monitor/length-in-range'],
    settings: { 'monitor/length-stuck-at-one': { least: 2 } },
    corrected:
      '15 was that run’s min_new_tokens and 96 its limit. A task has a range of its own: --set length-in-range.low=15 --set length-in-range.high=96.',
  },
  {
    at: 'first steps, entropy',
    says: 'Entropy above 0.5, and not 0.000 in most samples',
    rules: ['monitor/entropy-collapse', 'monitor/entropy-in-bounds'],
    settings: { 'monitor/entropy-collapse': { share: 0.1 } },
    corrected:
      'No number of nats is right for all: tokenizer, temperature and task decide. Judged against the first steps of the same run.',
  },
  {
    at: 'first steps, stop tokens',
    says: 'At most one <|eot_id|> in a response; ten or more are abnormal',
    rules: ['monitor/completions-end-at-their-stop-token'],
    settings: { 'monitor/completions-end-at-their-stop-token': { share: 0.1 } },
    corrected:
      'Of what was sampled. Where pad is the stop token, a row that ended early is full of it and is right; a rollout of several turns has one a turn.',
  },
  {
    at: 'stop at once',
    says: 'The whole row has 36 <|eot_id|>',
    rules: [],
    corrected:
      'The same list calls a prompt with more than 50 of them normal, and it is: that is padding on the left. How many a row has says nothing.',
  },
  {
    at: 'first steps, stop tokens',
    says: 'pad_token_id equal to eot is normal',
    rules: ['monitor/completions-end-before-the-limit', 'monitor/stopped-share'],
    corrected:
      'It is legal, and the reason why stop tokens get lost: whoever masks by pad_token_id masks the end of each answer. What follows is a policy that no longer stops.',
  },
  {
    at: 'before the start, test 1',
    says: 'The response has no pad_token_id',
    rules: [],
    corrected:
      'Rows of a batch that end early do have it, and where pad is eos every finished one. `lossproof check` holds the extraction to the ids (extract).',
  },
  {
    at: 'before the start, test 2',
    says: 'The mask is 1 at T - 2',
    rules: [],
    corrected:
      'Masks are in no log. On one row without padding the wrong formula gives the same; `lossproof check` tries rows of unequal length (mask).',
  },
  {
    at: 'troubles, 1-token generation',
    says: 'The stop token is suppressed at first, and the boundary is right',
    rules: ['monitor/length-stuck-at-one', 'monitor/completions-are-not-empty'],
  },
  {
    at: 'troubles, entropy collapse',
    says: 'Raise the temperature, or lower entropy_coef',
    rules: ['monitor/entropy-collapse'],
    corrected:
      'With loss = policy - coef * entropy a lower coefficient makes the collapse worse. It helps only where the sign is wrong.',
  },
  {
    at: 'troubles, rewards',
    says: 'All rewards are 0',
    rules: ['monitor/rewards-differ', 'monitor/rewards-of-samples-differ', 'monitor/groups-alive'],
    settings: { 'monitor/rewards-of-samples-differ': { samples: 64 } },
  },
  {
    at: 'sampling',
    says: 'temperature 1.2, top_p 0.95 and penalties are fine',
    rules: ['monitor/sampling-gap', 'monitor/first-ratio-is-one'],
    corrected:
      'Only if scoring knows them: log-probabilities of another distribution than was sampled from make the ratio of the first update other than 1.',
  },
  {
    at: 'right already',
    says: 'KL after Eq. 4 of DeepSeekMath, the forward KL',
    rules: ['monitor/k3-kl-negative', 'monitor/kl-size'],
    corrected:
      'Eq. 4 is the estimator k3 of KL(policy, reference), which is the reverse KL. It is never negative.',
  },
  {
    at: 'right already',
    says: 'Stop tokens [128001, 128009], and the attention mask is automatic',
    rules: ['monitor/completions-end-at-their-stop-token'],
    corrected:
      'All of the stop tokens must be known to sampling and to the mask, and a mask made of ids that are not padding hides stop tokens in the prompt. The mask is in no log.',
  },
];
