// grpo-dual: the five bugs that its author mended one after the other, and some that are there to this day.
import type { History } from './history.ts';

const EVERY = ['5323176', 'be52b55', '6810389', '86a5902', 'fc99b9f', 'a07af9a', '96b4c1a'] as const;
// Its tokenizer merges nothing across the end of a prompt: what else is wrong there is a bug of its own, below.
const UNMERGED = { LOSSPROOF_TOKENIZER: 'src/tokenizers/families/mistral' } as const;
const before = (commit: (typeof EVERY)[number]) => EVERY.slice(0, EVERY.indexOf(commit));

export const grpoDual: History = {
  adapter: 'grpo-dual',
  repository: 'BoBaCai/grpo-dual',
  folders: ['grpo-dual/src'],
  commits: EVERY,
  bugs: [
    {
      what: 'presence and frequency penalties count the prompt',
      in: before('be52b55'),
      properties: [
        'penalties/first-step-ignores-the-prompt',
        'penalties/equal-the-definition',
        'penalties/padding-is-not-counted',
      ],
    },
    {
      what: 'fine-tuning has no chat template, and reinforcement has one',
      in: before('6810389'),
      properties: [
        'render/sft-and-rl-render-the-same-prompt',
        'tokenize/sft-and-rl-tokenize-the-same-prompt',
      ],
      settings: UNMERGED,
    },
    {
      what: 'completions are scored behind the question without its template',
      in: before('86a5902'),
      properties: ['rollout/scored-prompt-is-the-prompt-generated-from'],
      settings: UNMERGED,
    },
    {
      what: 'completions are cut out at the length of the prompt without its padding',
      in: before('fc99b9f'),
      properties: ['extract/exact-under-left-padding', 'extract/independent-of-batch-mates'],
    },
    {
      what: 'the mask is counted from the left edge of rows that are padded on the left',
      in: before('a07af9a'),
      properties: [
        'mask/prompt-is-never-trained',
        'mask/padding-is-never-trained',
        'mask/every-completion-token-is-trained',
        'mask/stop-token-is-trained-once',
        'mask/independent-of-batch-mates',
      ],
    },
    {
      what: 'completions become text and ids again: without their stop, and other ids',
      in: EVERY,
      properties: ['rollout/scored-ids-are-sampled-ids'],
    },
    {
      what: 'fine-tuning trains no stop',
      in: EVERY,
      properties: ['tokenize/stop-token-is-trained'],
    },
    {
      what: 'prompt and answer are encoded in one piece: a token across the end of the prompt',
      in: EVERY.slice(EVERY.indexOf('6810389')),
      properties: ['tokenize/generation-prompt-begins-the-training-row'],
    },
    {
      what: 'the KL is that of the mean log-ratio of a row',
      in: EVERY,
      properties: ['kl/equals-the-estimator'],
    },
    {
      what: 'the gradient has twice the KL of the loss that is logged',
      in: EVERY,
      properties: ['loss/weights-are-the-slope-of-the-loss'],
    },
    {
      what: 'rendered text is encoded with special tokens: two BOS',
      in: EVERY,
      properties: ['tokenize/exactly-the-right-number-of-bos'],
      settings: { LOSSPROOF_TOKENIZER: 'src/tokenizers/families/llama3' },
    },
  ],
};
