// The rows of the profile: each item of the semantics as declared, as measured, and what is to be said of the two.
import type { Hello, Op } from '../../protocol/message.ts';
import type { ItemName, Semantics } from '../../vocabulary.ts';
import { type ItemValue, type Misfit, missingOp, wordsOf } from './probe.ts';
import type { Probed } from './reading.ts';

/**
 * agrees: as declared. undeclared: measured, not declared. differs: declared as something that does not fit.
 * untold: several values fit. unknown: none of the known ways fits. conflict: its ops do it in different ways.
 * silent: not measured, for the reason given. absent: no op that shows it is offered.
 */
export type ItemVerdict =
  | 'agrees'
  | 'undeclared'
  | 'differs'
  | 'untold'
  | 'unknown'
  | 'conflict'
  | 'silent'
  | 'absent';

export interface ItemRow {
  readonly item: ItemName;
  readonly verdict: ItemVerdict;
  readonly declared?: ItemValue;
  /** All values that fit every case; one where it is measured. */
  readonly fits: readonly ItemValue[];
  readonly ops: readonly Op[];
  /** silent: why. conflict: who has what. */
  readonly why?: string;
  /** unknown: the way that came closest, and where it is off most. */
  readonly closest?: { readonly name: string; readonly misfit: Misfit };
}

/** Every item that some probe measures, in the order of the groups; undeclared ones that cannot be seen included. */
export function itemRows(declared: Semantics, ops: Hello['ops'], probed: readonly Probed[]): ItemRow[] {
  return ITEMS.flatMap((item) => {
    const about = probed.filter(({ probe }) => probe.items.includes(item));
    return about.length === 0 ? [] : [rowOf(item, declared[item], ops, about)];
  });
}

/** The values of an item that fit what every probe saw; undefined where none saw it, empty where two disagree. */
export function valuesOf(item: ItemName, probed: readonly Probed[]): ItemValue[] | undefined {
  const sets = probed.flatMap((each) => seenBy(item, each));
  const [first, ...others] = sets;
  return first?.filter((value) => others.every((set) => set.some((other) => same(other, value))));
}

/** Numbers that were solved for are as good as their rounding. */
export function same(a: ItemValue, b: ItemValue): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b || textOf(a) === textOf(b);
  return a === b || Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));
}

const ROUNDING = 1e-5;

/** Arguments are the same in any order. */
const textOf = (value: ItemValue): string =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : JSON.stringify(value);

/** What the profile groups them by: the stage at which one meets them. */
export const GROUPS: readonly { readonly title: string; readonly items: readonly ItemName[] }[] = [
  { title: 'chat template', items: ['template_arguments', 'default_system'] },
  {
    title: 'supervised fine-tuning',
    items: ['sft_target', 'sft_objective', 'sft_aggregation', 'truncation_side', 'overlong'],
  },
  {
    title: 'completions',
    items: [
      'completions_always_stop',
      'stop_token_in_completion',
      'stop_token_in_mask',
      'truncated_completions_trained',
    ],
  },
  { title: 'turns', items: ['tool_truncation_side', 'turn_reward_placement'] },
  { title: 'log-probabilities', items: ['sampling_logprobs', 'temperature_in_scoring'] },
  {
    title: 'KL',
    items: ['kl_estimator', 'kl_clamp', 'kl_ratio_correction', 'kl_placement', 'kl_coef'],
  },
  {
    title: 'advantages',
    items: [
      'advantage_baseline',
      'advantage_scaling',
      'advantage_ddof',
      'advantage_epsilon',
      'advantage_epsilon_placement',
      'whiten_mean',
      'whiten_ddof',
    ],
  },
  {
    title: 'policy loss',
    items: [
      'policy_objective',
      'ratio_level',
      'log_ratio_clamp',
      'clip_low',
      'clip_high',
      'dual_clip',
      'sampling_correction',
      'sampling_correction_level',
      'sampling_correction_low',
      'sampling_correction_high',
      'entropy_coef',
      'loss_aggregation',
      'loss_norm',
      'loss_normalization',
    ],
  },
  { title: 'value loss', items: ['value_loss_factor', 'value_clip', 'value_aggregation'] },
  {
    title: 'preference loss',
    items: ['preference_objective', 'preference_beta', 'preference_label_smoothing', 'preference_gamma'],
  },
  { title: 'reward loss', items: ['reward_centering'] },
  {
    title: 'unpaired preference loss',
    items: ['unpaired_objective', 'unpaired_beta', 'desirable_weight', 'undesirable_weight'],
  },
];
const ITEMS: readonly ItemName[] = GROUPS.flatMap(({ items }) => items);

/** One set, or none where the probe says nothing of the item: a way in which it has no effect rules nothing out. */
function seenBy(item: ItemName, { probe, reading }: Probed): ItemValue[][] {
  if (reading.state !== 'fits' || !probe.items.includes(item)) return [];
  const values = reading.remaining.map(({ items }) => items[item]);
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return [];
  return [known.filter((value, at) => known.findIndex((other) => same(other, value)) === at)];
}

function rowOf(
  item: ItemName,
  declared: ItemValue | undefined,
  offered: Hello['ops'],
  about: readonly Probed[],
): ItemRow {
  const ops = [...new Set(about.flatMap(({ probe }) => probe.ops))];
  const base = { item, ops, fits: [], ...(declared === undefined ? {} : { declared }) };
  const values = valuesOf(item, about);
  if (values !== undefined) {
    const fits = { ...base, fits: values };
    const sets = about.flatMap((each) => seenBy(item, each).map((set) => ({ op: each.probe.ops[0], set })));
    const contradicted =
      declared !== undefined && sets.some(({ set }) => !set.some((value) => same(value, declared)));
    if (contradicted)
      return {
        ...fits,
        fits: values.length > 0 ? values : sets.flatMap(({ set }) => set),
        verdict: 'differs',
      };
    if (values.length > 1) return { ...fits, verdict: 'untold' };
    if (values.length === 1) return { ...fits, verdict: declared === undefined ? 'undeclared' : 'agrees' };
    const why = sets.map(({ op, set }) => `op \`${op}\` has ${set.map(wordsOf).join(' or ')}`).join(', ');
    return { ...base, verdict: 'conflict', why };
  }
  for (const { reading } of about) {
    if (reading.state !== 'unknown') continue;
    return { ...base, verdict: 'unknown', closest: { name: reading.closest.name, misfit: reading.misfit } };
  }
  const missing = ops.filter((op) => offered[op] === undefined);
  if (missing.length === ops.length) return { ...base, verdict: 'absent' };
  return { ...base, verdict: 'silent', why: silenceOf(about, offered) };
}

/** The first reason that is not an op that is missing beside one that is there. */
function silenceOf(about: readonly Probed[], offered: Hello['ops']): string {
  if (about.some(({ reading }) => reading.state === 'fits')) return NO_EFFECT;
  for (const { probe, reading } of about) {
    if (missingOp(probe, offered) !== undefined) continue;
    if (reading.state === 'silent' || reading.state === 'failed') return reading.why;
  }
  return NO_EFFECT;
}

const NO_EFFECT = 'has no effect here';
