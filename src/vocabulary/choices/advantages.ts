// What correct trainers may decide of advantages, returns and whitening.
import { section } from '../choice.ts';

const FATES = ['keep', 'mask', 'drop'] as const;

const FILTERS = section('filters of rollouts', ['filter_rollouts'], {
  filter_equal_rewards: {
    values: FATES,
    says: '`drop`, `mask` (the rows stay and train nothing) or `keep`: what becomes of a group whose rewards are all equal',
    usual: 'drop',
    needed: 'filter_rollouts',
    undoubted: 'DAPO samples such groups anew, GRPO keeps them with advantages of 0',
  },
  filter_truncated: {
    values: FATES,
    says: '`drop`, `mask` or `keep`: what becomes of a completion that ran into the limit',
    usual: 'keep',
    needed: 'filter_rollouts',
    undoubted: 'DAPO masks them, GRPO trains them',
  },
  filter_long: {
    values: FATES,
    says: '`drop`, `mask` or `keep`: what becomes of a completion of more than `max_length` tokens',
    usual: 'keep',
    needed: 'filter_rollouts',
    undoubted: 'a limit of its own is a setting',
  },
  filter_rewards: {
    values: ['none', 'rows', 'groups'],
    says: 'what is dropped for a reward outside of `min_reward` and `max_reward`: `rows`, `groups` whose mean is outside, or `none`. The bounds themselves are either side',
    usual: 'none',
    needed: 'filter_rollouts',
    undoubted: 'OpenRLHF bounds the mean of a group, others a row, most neither',
  },
});

const VALUES = section('advantages', ['advantages'], {
  advantage_baseline: {
    values: ['group-mean', 'leave-one-out', 'length-weighted', 'leave-one-out-max', 'batch-mean', 'none'],
    says: "subtracted from a reward: `group-mean`, `leave-one-out` (mean of the group's other rows), `length-weighted` (mean over the tokens of the group), `leave-one-out-max` (pass@k: the best of the group less the best of its other rows), `batch-mean` or `none`",
    usual: 'group-mean',
  },
  advantage_scaling: {
    values: ['group', 'batch', 'none'],
    says: 'divided by the standard deviation of the `group`, of the `batch` (of its raw rewards, or of its rewards less the baseline), or `none`',
    usual: 'group',
  },
  advantage_ddof: {
    values: [0, 1],
    says: '0 or 1: what that deviation subtracts from its count',
    undoubted: "numpy's deviation and torch's differ in it",
  },
  advantage_epsilon: { values: 'number', says: 'a small number in the divisor', usual: 1e-4 },
  advantage_epsilon_placement: {
    values: ['std', 'variance'],
    says: 'added to the standard deviation (`std`), or under its root (`variance`)',
    undoubted: 'it changes the sixth digit',
  },
  advantage_min_std: {
    values: 'number',
    says: 'advantages are 0 if the deviation that divides them is below this: almost equal rewards carry no signal',
    unmeasured: 'a property asks where rewards that are almost equal get 0',
  },
  equal_groups: {
    values: 'flag',
    says: 'true: all groups of a batch of `advantages` have one size; undeclared, a wrong answer for other batches is a question',
    meant: { value: true, why: 'groups of a batch never differ in size' },
  },
  whiten_mean: {
    values: 'flag',
    says: 'whitening subtracts the mean (true), or only divides by the deviation',
    ops: ['gae', 'whiten'],
    usual: true,
    undoubted: 'rewards are whitened without, advantages with the mean',
  },
  whiten_ddof: {
    values: [0, 1],
    says: '0 or 1: of that deviation',
    ops: ['gae', 'whiten'],
    undoubted: "numpy's deviation and torch's differ in it",
  },
  gae_bootstrap: {
    values: 'flag',
    says: 'true: `gae` reads the value right after the last trained token, for rows that were cut off',
    ops: ['gae'],
    meant: { value: true, why: 'the value after the last token is read on purpose' },
  },
});

export const ADVANTAGES = [FILTERS, VALUES] as const;
