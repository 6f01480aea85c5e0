// Which index of a field means what: all that the general relations of check/relations/ need to know of an op. Most of it
// follows from the kinds of its fields (ops.ts). A new op says here what does not, and gets every relation that fits it.
import { OPS, type Op } from './message.ts';
import type { ArgAxis, OkAxis, OpAxes, OpFacts } from './op-axes.ts';

export type { ArgAxis, OkAxis, OpAxes, Relation } from './op-axes.ts';
export { WITHOUT_AXES } from './op-axes.ts';

const FACTS: { readonly [O in Op]?: OpFacts<O> } = {
  collate: {
    reach: 'batch',
    ids: { args: ['input_ids', 'labels', 'pad_token_id'], ok: ['input_ids', 'labels'] },
  },
  sft_batch: { reach: 'row' },
  truncate: { reach: 'row' },
  truncate_prompts: { reach: 'batch' },
  preference_batch: { reach: 'row' },
  extract: {
    reach: 'row',
    except: { finite: 'its only real numbers were handed over, and extract/ compares them' },
    ids: {
      args: ['prompt_ids', 'input_ids', 'sequences', 'sampled_ids', 'pad_token_id', 'eos_token_ids'],
      ok: ['completion_ids'],
    },
  },
  mask: {
    reach: 'batch',
    ids: {
      args: ['prompt_ids', 'completion_ids', 'sequences', 'pad_token_id', 'eos_token_ids'],
      ok: ['input_ids'],
    },
  },
  rollout: { reach: 'batch' },
  penalties: { reach: 'row' },
  score: { reach: 'row' },
  model_score: { reach: 'row' },
  values: { reach: 'row' },
  reward_model: { reach: 'row' },
  logprobs: { reach: 'row' },
  entropy: { reach: 'row' },
  full_kl: { reach: 'row' },
  kl: { reach: 'row', reads: ['logprobs', 'ref_logprobs'] },
  token_rewards: {
    reach: 'row',
    behind: true,
    except: { long: 'the score stands at the last token alone, which repeated is several' },
  },
  gae: {
    reach: 'row',
    except: {
      'batch-mates': 'a trainer may whiten advantages over the batch',
      long: 'a token gets what comes behind it: repeated, it is another token',
    },
  },
  returns: {
    reach: 'row',
    except: { long: 'a token gets what comes behind it: repeated, it is another token' },
  },
  whiten: {
    reach: 'batch',
    reads: ['values'],
    except: {
      counts: 'a token alone is whitened to 0 whatever it is; whiten/ judges that all tokens move alike',
      stacked:
        'a variance that divides by one token fewer is another one for more rows; whiten/ judges 17 and 65 rows by the formula',
      long: 'a variance that divides by one token fewer is another one for more tokens',
    },
  },
  clip_advantages: { reach: 'row' },
  advantages: {
    reach: 'group',
    reads: ['rewards'],
    except: {
      stacked:
        'a group of twice the rows has another deviation, and stacked groups would need prompts of their own',
    },
  },
  // A loss that only carries a gradient is the same whatever the log-probabilities are.
  loss: { reach: 'batch', reads: ['advantages'] },
  sft_loss: { reach: 'batch', reads: ['logits'], padding: { labels: -100 } },
  value_loss: { reach: 'batch', reads: ['values', 'returns'] },
  preference: { reach: 'row' },
  // Not every objective has a reference.
  preference_loss: { reach: 'row', reads: ['chosen_logprobs', 'rejected_logprobs'] },
  reward_loss: { reach: 'row', reads: ['chosen_scores', 'rejected_scores', 'margins'] },
  unpaired_preference_loss: { reach: 'batch', reads: ['logprobs'] },
  sampling: { reach: 'row', except: { finite: 'a token that cannot be drawn has minus infinity' } },
  reward: { reach: 'row' },
  overlong_penalty: { reach: 'row' },
  format_score: { reach: 'row' },
  unroll: { reach: 'row' },
};

/** One value, for the whole request or the whole answer. */
const SINGLE: readonly string[] = ['int', 'float', 'text', 'flag', 'amounts', 'choices'];
/** Lists that no row has an item of. */
const SETTINGS: readonly string[] = ['eos_token_ids', 'banned_sequences'];
const PARTITIONS: readonly string[] = ['micro_batches', 'ranks'];

const kindOf = (spec: string): string => spec.replace('?', '');
const isTrack = (kind: string): boolean => kind.endsWith('_track') || kind === 'float_cube';

function argAxis(name: string, kind: string, hasTracks: boolean): ArgAxis {
  if (name === 'prompt_width' && hasTracks) return 'width';
  if (SINGLE.includes(kind) || SETTINGS.includes(name)) return 'setting';
  if (PARTITIONS.includes(name)) return 'partition';
  if (name === 'group_ids') return 'group';
  if (name === 'completion_mask' && hasTracks) return 'mask';
  // A matrix of ids beside numbers for each token is one of the same tokens.
  return isTrack(kind) || (kind === 'int_matrix' && hasTracks) ? 'token' : 'row';
}

function okAxis(name: string, kind: string): OkAxis {
  if (name === 'kept') return 'kept';
  if (SINGLE.includes(kind)) return 'batch';
  return isTrack(kind) ? 'token' : 'row';
}

function axesFor(op: Op, facts: OpFacts): OpAxes {
  const { args, ok } = OPS[op];
  const hasTracks = Object.values(args).some((spec) => isTrack(kindOf(spec)));
  return {
    ...facts,
    args: each(args, (name, kind) => argAxis(name, kind, hasTracks)),
    ok: each(ok, okAxis),
  };
}

function each<Axis>(
  specs: Readonly<Record<string, string>>,
  axis: (name: string, kind: string) => Axis,
): Record<string, Axis> {
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, axis(name, kindOf(spec))]));
}

/** Of each op that is asked about batches of rows. */
export const AXES: { readonly [O in Op]?: OpAxes<O> } = Object.fromEntries(
  Object.entries(FACTS).map(([op, facts]) => [op, axesFor(op as Op, facts as OpFacts)]),
);
