// Which rollouts a filter keeps: groups whose rewards are all equal are sampled anew (Yu et al. 2025, "DAPO", arXiv 2503.14476,
// section 3.2), what was cut off is masked (section 3.4), and lengths and rewards have bounds. Trainers that follow one rule
// differ where two rules meet, and at the edge of each: all that they do is allowed.
import { CHOICES, type Semantics } from '../../vocabulary.ts';

/** `mask`: the row stays, and trains nothing. */
export type Fate = (typeof CHOICES.filter_equal_rewards.values)[number];

export interface FilterInput {
  readonly rewards: readonly number[]; // (B,)
  readonly group_ids: readonly number[]; // (B,)
  readonly lengths: readonly number[]; // (B,) in tokens
  readonly truncated: readonly number[]; // (B,) 1 = ran into the limit
  readonly max_length: number;
  readonly min_reward: number;
  readonly max_reward: number;
}

export interface FilterRule {
  readonly equal: Fate;
  readonly truncated: Fate;
  readonly long: Fate;
  readonly rewards: (typeof CHOICES.filter_rewards.values)[number];
}

/** A group: its rows, and what may become of them, all of them together. */
export interface GroupFates {
  readonly rows: readonly number[];
  readonly allowed: readonly (readonly Fate[])[];
}

/** Rewards are equal up to here at most (a threshold on their deviation), and apart from here on. */
const NEARLY_EQUAL = 1e-3;
/** Multiples of this have an exact mean in every format, so that equal ones have a deviation of 0. */
const EXACT = 1 / 4;

const SEVERITY: readonly Fate[] = CHOICES.filter_equal_rewards.values;
const worst = (...fates: readonly Fate[]): Fate =>
  SEVERITY[Math.max(...fates.map((fate) => SEVERITY.indexOf(fate)))] ?? 'keep';

/** Undefined where one of the four is not known. */
export function filterRule(semantics: Semantics): FilterRule | undefined {
  const { filter_equal_rewards: equal, filter_truncated: truncated, filter_long: long } = semantics;
  const { filter_rewards: rewards } = semantics;
  return equal === undefined || truncated === undefined || long === undefined || rewards === undefined
    ? undefined
    : { equal, truncated, long, rewards };
}

/** A row that no rule speaks of: its fate is its group's. */
export function isPlain({ rewards, lengths, truncated, ...bounds }: FilterInput, row: number): boolean {
  const reward = rewards[row] ?? Number.NaN;
  return (
    truncated[row] !== 1 &&
    (lengths[row] ?? 0) <= bounds.max_length &&
    reward >= bounds.min_reward &&
    reward <= bounds.max_reward
  );
}

/** What may become of each group under a rule, in the order in which the groups come. */
export function fatesUnder(rule: FilterRule, rollouts: FilterInput): readonly GroupFates[] {
  const { rewards, group_ids: groups, lengths, truncated, ...bounds } = rollouts;
  const isOutside = (reward: number): boolean => reward < bounds.min_reward || reward > bounds.max_reward;
  const ownFate = (row: number): Fate =>
    worst(
      truncated[row] === 1 ? rule.truncated : 'keep',
      (lengths[row] ?? 0) > bounds.max_length ? rule.long : 'keep',
      rule.rewards === 'rows' && isOutside(rewards[row] ?? Number.NaN) ? 'drop' : 'keep',
    );
  const groupFates = (rows: readonly number[]): readonly Fate[] => {
    const own = rows.map((row) => rewards[row] ?? Number.NaN);
    const equal = equalFates(own, rule.equal);
    // A group that trains nothing may as well go.
    if (own.length === 0) return ['keep', 'drop'];
    if (rule.rewards !== 'groups') return equal;
    const mean = own.reduce((sum, reward) => sum + reward, 0) / own.length;
    const edge = [bounds.min_reward, bounds.max_reward].some((at) => Math.abs(at - mean) < NEARLY_EQUAL);
    const outside: readonly Fate[] = edge ? ['keep', 'drop'] : [isOutside(mean) ? 'drop' : 'keep'];
    return equal.flatMap((one) => outside.map((other) => worst(one, other)));
  };
  return [...new Set(groups)].map((group) => {
    const rows = groups.flatMap((id, row) => (id === group ? [row] : []));
    const fates = rows.map(ownFate);
    // A group is judged by all of its rows, by those that stay, or by those that are trained: one filter goes first.
    const judged = [
      rows,
      rows.filter((_, at) => fates[at] !== 'drop'),
      rows.filter((_, at) => fates[at] === 'keep'),
    ];
    const together = new Set(judged.flatMap(groupFates));
    return { rows, allowed: [...together].map((fate) => fates.map((own) => worst(own, fate))) };
  });
}

/** What may become of a group for its spread: nobody agrees on one row, and on rewards that only rounding tells apart. */
function equalFates(rewards: readonly number[], fate: Fate): readonly Fate[] {
  const [first = Number.NaN] = rewards;
  const spread = Math.max(...rewards) - Math.min(...rewards);
  if (spread >= NEARLY_EQUAL) return ['keep'];
  const isSure = spread === 0 && rewards.length > 1 && Number.isInteger(first / EXACT);
  return isSure ? [fate] : ['keep', fate];
}

/** What became of each row of a request. */
export function fatesIn(
  { kept, trained }: { readonly kept: readonly number[]; readonly trained?: readonly number[] | undefined },
  rows: number,
): readonly Fate[] {
  return Array.from({ length: rows }, (_, row) => {
    const at = kept.indexOf(row);
    return at < 0 ? 'drop' : trained?.[at] === 0 ? 'mask' : 'keep';
  });
}

/** The first group that is treated otherwise than the rule says. */
export const unlikeRule = (
  rule: FilterRule,
  input: FilterInput,
  observed: readonly Fate[],
): GroupFates | undefined =>
  fatesUnder(rule, input).find(
    ({ rows, allowed }) =>
      !allowed.some((fates) => fates.every((fate, at) => fate === observed[rows[at] ?? -1])),
  );

/** The rule in words. */
export function describeFilter({ equal, truncated, long, rewards }: FilterRule): string {
  const words = { keep: 'kept', mask: 'masked', drop: 'dropped' } as const;
  const bounded = {
    none: 'of any reward',
    rows: 'within the bounds',
    groups: 'with a mean within the bounds',
  };
  return `groups of equal rewards ${words[equal]}, truncated rows ${words[truncated]}, long rows ${words[long]}, ${rewards === 'none' ? 'rows' : rewards} ${bounded[rewards]}`;
}
