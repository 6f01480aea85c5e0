// Legal ways to go on with interrupted generation: with fewer fields, without stop tokens, prefixes that are not trained.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

type Given = Args<'partial_rollout'>;

interface How {
  /** The stop token is taken off. */
  readonly bare?: boolean;
  /** What the mask has on ids of earlier policies. */
  readonly prefix?: 0 | 1;
}

const goOn =
  ({ bare = false, prefix = 1 }: How = {}) =>
  (args: Given): Required<Ok<'partial_rollout'>> => {
    const rows = args.partial_ids.map((partial, row) => {
      const left = args.max_new_tokens - partial.length;
      const sampled = (args.sampled_ids[row] ?? []).slice(0, left);
      const ends = bare && args.eos_token_ids.includes(sampled.at(-1) ?? -1);
      const fresh = ends ? sampled.slice(0, -1) : sampled;
      const logprobs = (args.sampled_logprobs[row] ?? []).slice(0, fresh.length);
      return {
        input_ids: [...(args.prompt_ids[row] ?? []), ...partial],
        max_new_tokens: left,
        completion_ids: [...partial, ...fresh],
        logprobs: [...(args.partial_logprobs[row] ?? []), ...logprobs],
        versions: [...(args.partial_versions[row] ?? []), ...fresh.map(() => args.version)],
        loss_mask: [...partial.map(() => prefix), ...fresh.map(() => 1)],
      };
    });
    const each = <K extends keyof (typeof rows)[number]>(key: K) => rows.map((row) => row[key]);
    return {
      input_ids: each('input_ids'),
      max_new_tokens: each('max_new_tokens'),
      completion_ids: each('completion_ids'),
      logprobs: each('logprobs'),
      versions: each('versions'),
      loss_mask: each('loss_mask'),
    };
  };

const idsAlone = (args: Given): Ok<'partial_rollout'> => {
  const { input_ids, completion_ids } = goOn()(args);
  return { input_ids, completion_ids };
};

/** Ids that are more than one update old are not trained. */
const fresh = (args: Given): Ok<'partial_rollout'> => {
  const answer = goOn()(args);
  return {
    ...answer,
    loss_mask: answer.versions.map((row) => row.map((version) => Number(args.version - version <= 1))),
  };
};

export const resuming: readonly Legal[] = [
  legal('interrupted rollouts that go on, undeclared', { partial_rollout: goOn() }),
  legal('interrupted rollouts that go on, ids alone', { partial_rollout: idsAlone }),
  legal('interrupted rollouts, ids of old policies left out', { partial_rollout: fresh }),
  legal('interrupted rollouts without their stop tokens', { partial_rollout: goOn({ bare: true }) }),
  legal(
    'interrupted rollouts, only new ids trained, declared',
    { partial_rollout: goOn({ prefix: 0 }) },
    { semantics: { resumed_prefix_trained: false } },
  ),
  legal(
    'interrupted rollouts, only new ids trained',
    { partial_rollout: goOn({ prefix: 0 }) },
    { is: { resumed_prefix_trained: false } },
  ),
  legal(
    'interrupted rollouts in float32, one stop token',
    { partial_rollout: goOn() },
    { dtype: 'float32', can: { partial_rollout: { eos_token_ids: 1 } } },
  ),
];
