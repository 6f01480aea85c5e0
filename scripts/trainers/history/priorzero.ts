// PriorZero in LightZero: the batch of three that was read as another, and what was around it.
import type { History } from './history.ts';

const BEFORE = ['53803a5', '9d54f08', 'd22f88a'] as const;
const MICRO_BATCHED = ['0ad3fdf', '4ef57a5'] as const;
const PIPELINE = ['d22f88a', ...MICRO_BATCHED] as const;
const EVERY = [...BEFORE, ...MICRO_BATCHED] as const;
const families = (name: string) => ({ LOSSPROOF_TOKENIZER: `src/tokenizers/families/${name}` });

export const priorzero: History = {
  adapter: 'priorzero',
  repository: 'opendilab/LightZero',
  folders: ['lzero', 'zoo/jericho'],
  commits: EVERY,
  bugs: [
    {
      what: 'a batch of three is read as one without segments: no loss of the language model runs',
      in: ['53803a5'],
      properties: ['contract/every-enabled-loss-runs', 'contract/orders-train-the-same'],
    },
    {
      what: 'reinforcement of a single row: the deviation of one reward, a loss of NaN',
      in: BEFORE,
      properties: ['contract/every-enabled-loss-is-reported'],
    },
    {
      what: 'reinforcement under no_grad: no gradient',
      in: BEFORE,
      properties: ['contract/every-enabled-loss-trains-tokens'],
    },
    {
      what: 'the length of the prompt counted from the left edge of rows that are padded on the left',
      in: EVERY,
      properties: ['mask/prompt-is-never-trained', 'mask/independent-of-batch-mates'],
    },
    {
      what: 'pad is eos: the stop is masked as padding',
      in: EVERY,
      properties: ['mask/stop-token-is-trained-once'],
      settings: families('mistral'),
    },
    {
      what: 'reinforcement tokenises prompts alone',
      in: EVERY,
      properties: ['mask/row-holds-prompt-and-completion'],
      settings: { LOSSPROOF_ROUTE: 'rft' },
    },
    {
      what: 'micro-batches divided by a number of the configuration',
      in: MICRO_BATCHED,
      properties: ['sft-loss/equals-the-reference'],
    },
    {
      what: 'rendered text is encoded with special tokens: two BOS',
      in: EVERY,
      properties: ['tokenize/exactly-the-right-number-of-bos'],
      settings: families('llama3'),
    },
    {
      what: 'the optional trainer is made only where it has been made',
      in: PIPELINE,
      properties: ['schedule/installed-trainers-are-used'],
    },
    {
      what: 'the frequency of the language model is not read',
      in: PIPELINE,
      properties: ['schedule/frequencies-are-honoured'],
    },
    {
      what: 'the mode is not read',
      in: PIPELINE,
      properties: ['schedule/alternating-takes-turns'],
    },
    {
      what: 'a batch of eight is read as one of six: actions as the mask of padding',
      in: EVERY,
      properties: ['segments/unrolled-mask-marks-the-steps'],
    },
  ],
};
