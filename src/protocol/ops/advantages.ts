// Ops from reward to advantage: what a completion is worth, and what of it each token gets.
import { KNOBS } from '../fields.ts';
import { op } from '../op.ts';

export const ADVANTAGE_OPS = {
  reward: op({
    args: {
      prompts: 'texts',
      completions: 'texts[completion]',
      references: 'texts',
      completion_ids: 'int_rows',
    },
    ok: { rewards: 'floats[completion]', lengths: 'ints[completion]?' }, // lengths: tokens of each completion, where the reward counts them
    offers: ['samples'],
    batch: { reach: 'row' },
  }),
  overlong_penalty: op({
    args: { lengths: 'ints[completion]', max_length: 'int', buffer: 'int' },
    ok: { penalties: 'floats[completion]' },
    batch: { reach: 'row' },
  }),
  format_score: op({
    args: { completions: 'texts[completion]' },
    ok: { scores: 'floats[completion]' },
    offers: ['tags'],
    batch: { reach: 'row' },
  }),
  filter_rollouts: op({
    args: {
      rewards: 'floats[row]',
      group_ids: 'ints',
      lengths: 'ints', // tokens of each row's completion
      truncated: 'ints', // 1 = the completion ran into the limit of its generation
      max_length: 'int', // for a filter of lengths
      min_reward: 'float', // for a filter of rewards
      max_reward: 'float',
    },
    ok: {
      kept: 'ints', // which rows stay
      trained: 'ints[row]?', // of each of them: 0 = it stays and trains nothing
    },
    offers: ['group_size', 'interleaved_groups'],
    batch: { reach: 'group' },
  }),
  token_rewards: op({
    args: {
      scores: 'floats', // (B,)
      process_rewards: 'float_track',
      kl: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      kl_coef: 'float',
    },
    ok: { rewards: 'float_track' },
    offers: ['process_rewards'],
    batch: {
      reach: 'row',
      behind: true,
      except: { long: 'the score stands at the last token alone, which repeated is several' },
    },
  }),
  gae: op({
    args: {
      rewards: 'float_track',
      values: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      gamma: 'float',
      lam: 'float',
    },
    ok: { advantages: 'float_track', returns: 'float_track?' },
    batch: {
      reach: 'row',
      except: {
        'batch-mates': 'a trainer may whiten advantages over the batch',
        long: 'a token gets what follows it: repeated, it is another token',
      },
    },
  }),
  returns: op({
    args: {
      rewards: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      gamma: 'float',
    },
    ok: { returns: 'float_track' },
    batch: {
      reach: 'row',
      except: { long: 'a token gets what follows it: repeated, it is another token' },
    },
  }),
  whiten: op({
    args: { values: 'float_track', completion_mask: 'int_track', prompt_width: 'int', ranks: 'int_rows?' },
    ok: { values: 'float_track' },
    offers: ['ranks'],
    batch: {
      reach: 'batch',
      reads: ['values'],
      except: {
        counts: 'a token alone is whitened to 0 whatever it is; whiten/ judges that all tokens move alike',
        stacked:
          'a variance that divides by one token fewer is another one for more rows; whiten/ judges 17 and 65 rows by the formula',
        long: 'a variance that divides by one token fewer is another one for more tokens',
      },
    },
  }),
  clip_advantages: op({
    args: { advantages: 'floats[row]', limit: 'float' },
    ok: { advantages: 'floats[row]' },
    batch: { reach: 'row' },
  }),
  advantages: op({
    args: {
      rewards: 'floats[row]',
      group_ids: 'ints',
      prompt_ids: 'int_rows?', // of each row; rows of one group share theirs, and two groups may have the same
      lengths: 'ints?', // tokens of each row's completion
      ranks: 'int_rows?', // a partition of the row indices over data-parallel ranks
      ...KNOBS,
    },
    ok: { advantages: 'floats[row]' },
    offers: ['group_size', 'groups_of_one', 'interleaved_groups', 'ranks', 'knobs'],
    batch: {
      reach: 'group',
      reads: ['rewards'],
      except: {
        stacked:
          'a group of twice the rows has another deviation, and stacked groups would need prompts of their own',
      },
    },
  }),
};
