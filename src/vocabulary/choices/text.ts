// What correct trainers may decide of a chat template, and of supervised fine-tuning.
import { section } from '../choice.ts';

const CHAT = section('chat template', ['render', 'tokenize', 'rollout'], {
  template_arguments: {
    values: 'template arguments',
    says: 'variables of the chat template that the trainer sets, `{"enable_thinking": false}`: lossproof renders with them',
    undoubted: 'whether a model is to think is a question of what it is trained for',
  },
  default_system: {
    values: 'text',
    says: 'the system message that the trainer puts before a conversation that has none',
    undoubted: 'any text may be meant',
  },
});

const SUPERVISED = section('supervised fine-tuning', ['truncate'], {
  sft_target: {
    values: ['all', 'assistant', 'last-assistant'],
    says: '`all`, `assistant` or `last-assistant`: the tokens that supervised fine-tuning trains',
    ops: ['tokenize', 'sft_batch'],
    usual: 'assistant',
  },
  flagged_roles: {
    values: ['assistant', 'any'],
    says: '`assistant` or `any`: whose messages a train flag that is `true` turns on; undeclared, `any` is a question',
    ops: ['tokenize'],
    usual: 'assistant',
    unmeasured: 'a property asks about `any` where flags turn on other messages',
  },
  sft_objective: {
    values: ['nll', 'dft'],
    says: '`nll`: the negative log-likelihood of a token. `dft`: that times its probability, without a gradient through the latter (DFT)',
    ops: ['sft_loss'],
    usual: 'nll',
  },
  sft_aggregation: {
    values: ['token-mean', 'seq-mean-token-mean'],
    says: '`token-mean` or `seq-mean-token-mean`: the supervised loss',
    ops: ['sft_loss'],
    usual: 'token-mean',
  },
  truncation_side: {
    values: ['left', 'right', 'parts'],
    says: '`left` or `right`: the end of an example that `truncate` cuts off; `parts`: the prompt and the answer lose one end each, which is a question where it is not declared. Prompts are judged without it',
    unheld: 'where an example is cut may hang on what is in it: what became of some is no rule for all',
  },
  overlong: {
    values: ['truncate', 'drop'],
    says: '`truncate` or `drop`: what `truncate` does with an example that is too long',
    unheld: 'which examples are cut may hang on what is in them: what became of some is no rule for all',
  },
  cut_at: {
    values: 'lengths',
    says: 'list of lengths, in tokens, that `tokenize`, `sft_batch`, `preference_batch`, `collate`, `pack`, `preference`, `rollout`, `trajectory`, `score`, `values` and `reward_model` cut longer input at: rows, or only their prompts, answers or tool outputs (0: leave them empty). Empty list: all are kept whole, or refused. Undeclared, a cut is a question. Do not list limits that a request names (of `truncate` and `truncate_prompts`, `max_tool_tokens` of `trajectory`); list a lower limit of your own',
    ops: [
      'tokenize',
      'sft_batch',
      'preference_batch',
      'collate',
      'pack',
      'preference',
      'rollout',
      'trajectory',
      'score',
      'values',
      'reward_model',
    ],
    unmeasured: 'properties ask whether a cut that they see is meant',
  },
});

export const TEXT = [CHAT, SUPERVISED] as const;
