// What correct trainers may decide of what was sampled: completions, their masks, and turns.
import { section } from '../choice.ts';

const COMPLETIONS = section('completions', ['mask'], {
  completions_always_stop: {
    values: 'flag',
    says: 'every completion ends with a stop token, as in supervised fine-tuning: `mask` gets no other',
    undoubted:
      'it is measured of a trainer that puts the stop token there itself, where a completion without one cannot be',
  },
  stop_token_in_completion: {
    values: 'flag',
    says: 'extracted completions keep their stop token',
    ops: ['extract'],
    undoubted: 'either is in use; `stop_token_in_mask` is what trains it',
  },
  stop_token_in_mask: {
    values: 'flag',
    says: 'completion_mask is 1 on the stop token',
    ops: ['preference_batch', 'preference', 'mask'],
    usual: true,
  },
  truncated_completions_trained: {
    values: 'flag',
    says: 'false: a completion without a stop token is masked out whole',
    ops: ['mask', 'trajectory'],
    usual: true,
    undoubted: 'DAPO leaves cut answers out, GRPO trains them',
  },
  resumed_prefix_trained: {
    values: 'flag',
    says: 'completion ids that an earlier policy sampled, before generation was interrupted, are trained; `false` is a question where it is not declared',
    ops: ['partial_rollout'],
    usual: true,
  },
  single_turn: {
    values: 'flag',
    says: 'true: a completion is one answer, no masked token stands before a trained one, and a mask may be read as a length: in `loss`, `kl`, `full_kl`, `entropy`, `value_loss`, `token_rewards`, `gae`, `returns` and `whiten`. Ignored if an op for tools is offered; without both, a difference is a question',
    ops: ['loss', 'kl', 'full_kl', 'entropy', 'value_loss', 'token_rewards', 'gae', 'returns', 'whiten'],
    meant: { value: true, why: 'a completion is one answer, its mask a length' },
  },
});

const TURNS = section('turns', ['trajectory'], {
  tool_truncation_side: {
    values: ['left', 'right', 'middle'],
    says: "`left`, `right` or `middle`: where ids of a tool's output are lost above `max_tool_tokens`; with `middle`, the head and the tail stay, and differ by one id if the number is odd",
    undoubted: 'verl has all three as a setting',
  },
  turn_reward_placement: {
    values: ['turn', 'row'],
    says: '`turn`: on the last trained token of its turn; `row`: the sum on the last trained token of the row',
    undoubted: 'trainers use either, by how they assign credit',
  },
  free_text_calls: {
    values: 'flag',
    says: 'true: any text between the tags of a call is its argument (the query of Search-R1), and `tool_step` answers `call` or `no_call`; undeclared, a status that a JSON call would not have is a question',
    ops: ['tool_step'],
    meant: { value: true, why: 'whatever stands between the tags of a call is its argument' },
  },
  turns_are_episodes: {
    values: 'flag',
    says: 'true: each turn of a completion is an episode, and `returns` end with it; undeclared, such returns are a question',
    ops: ['returns'],
    meant: { value: true, why: 'the returns of a turn end with it' },
  },
});

export const ROLLOUTS = [COMPLETIONS, TURNS] as const;
