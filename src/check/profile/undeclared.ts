// What `check` holds a trainer to beyond its declaration: what was measured of the items that it does not declare. Quick,
// and nothing where it is unsure: what could not be told, and what practice would question, is a doubt, which is asked.
import { CHOICES, type ItemName, itemsOf, type Semantics } from '../../vocabulary.ts';
import type { World } from '../property.ts';
import { worldOf } from '../run.ts';
import { AGGREGATION_OF, SHARE_DENOMINATORS } from '../support.ts';
import type { Doubt } from './doubt.ts';
import { type ItemRow, valuesOf } from './items.ts';
import { klInLoss } from './losses/kl-in-loss.ts';
import { type Measured, NOT_MEASURED } from './measured.ts';
import { doubtsOf } from './practice.ts';
import { missingOp } from './probe.ts';
import { PROBES } from './probes.ts';
import { type ProfileOptions, profileTrainer } from './profile.ts';
import type { Probed } from './reading.ts';
import { mixedWays, ownWays, unknownFormulas } from './unknown.ts';

type Ops = World['hello']['ops'];

/** Asks only where an op is offered that shows an undeclared item. Never holds a declared one. */
export async function measureUndeclared(
  options: Pick<ProfileOptions, 'trainer' | 'tokenizer' | 'semantics' | 'signal'>,
): Promise<Measured> {
  const world = worldOf(options.trainer, options.tokenizer, options.semantics);
  const { hello, semantics: declared } = world;
  const shown = PROBES.filter((probe) => missingOp(probe, hello.ops) === undefined);
  const items = new Set(
    shown
      .flatMap((probe) => probe.items)
      .filter((item) => declared[item] === undefined && matters(item, declared, hello.ops)),
  );
  if (items.size === 0) return NOT_MEASURED;
  const {
    measured,
    probes,
    items: rows,
  } = await profileTrainer({
    ...options,
    items,
    drawn: QUICK,
    trustDeclared: true,
    onlyWhileAlive: true,
  });
  // Pieces that do not add up to the loss would blame it for the rest: a ratio over sequences, say.
  const doubtful = PROBES.flatMap(({ id, confirms = [] }) =>
    probes.find(({ probe }) => probe.id === id)?.reading.state === 'fits' ? [] : confirms,
  );
  const withheld = new Set([...doubtful, ...excuses({ ...measured, ...declared })]);
  const kept = (Object.keys(measured) as ItemName[]).filter((item) => items.has(item) && !withheld.has(item));
  const semantics = Object.fromEntries(kept.map((item) => [item, measured[item]])) as Semantics;
  // What is not held against a trainer may well be asked about.
  const unknown = unknownFormulas(world, { ...semantics, ...declared }, probes);
  return {
    semantics,
    doubts: [
      ...unknown,
      ...mixedWays(world, probes),
      ...ownWays(world, probes),
      ...conflicts(rows, items),
      ...doubtsOf({ ...measured, ...inLoss(probes) }, items, world),
    ],
  };
}

/** Ops that do it in different ways, each of them legal: often one of them was forgotten. */
function conflicts(rows: readonly ItemRow[], items: ReadonlySet<ItemName>): Doubt[] {
  return rows
    .filter(({ item, verdict }) => verdict === 'conflict' && items.has(item))
    .map(({ item, why }) => ({
      item,
      weight: 'note',
      sentence: `Measured, not declared: ${item} is not the same everywhere: ${why}.`,
      answers: [`"${item}": ...  (the one that is meant)`],
    }));
}

/** Which KL the loss has a term of, where op `kl` answers another: practice is about the former. */
function inLoss(probes: readonly Probed[]): Semantics {
  const own = probes.filter(({ probe }) => probe.id === klInLoss.id);
  const values = valuesOf('kl_estimator', own);
  return values?.length === 1 ? ({ kl_estimator: values[0] } as Semantics) : {};
}

/** The separating cases are made by hand; a few drawn ones guard against a way that only looks like a known one. */
const QUICK = 3;

/**
 * Values that would excuse a bug or promise what was not seen. To offer entropies is to say that they are rewarded. A
 * ratio that multiplies the KL is exponentiated apart from the one that was seen to be bounded. IPO compares sums or means,
 * and its name does not say which.
 */
function excuses({
  entropy_coef,
  kl_coef,
  kl_ratio_correction,
  preference_objective,
}: Semantics): readonly ItemName[] {
  return [
    ...(entropy_coef === 0 ? (['entropy_coef'] as const) : []),
    ...(kl_coef === 0 || kl_ratio_correction === false ? [] : (['log_ratio_clamp'] as const)),
    ...(preference_objective === 'ipo' ? (['preference_objective', 'preference_beta'] as const) : []),
  ];
}

/** An item without effect under what is declared is not missed. */
function matters(item: ItemName, declared: Semantics, ops: Ops): boolean {
  if (CHOICES[item].unheld !== undefined) return false;
  // A declared aggregation is that of the batch (`meansLocal`).
  if (item === 'loss_normalization') return aggregationIn(declared, ops) === undefined;
  if (item === 'loss_norm') return (declared.loss_aggregation ?? 'token-sum-norm') === 'token-sum-norm';
  // Likewise: to declare that advantages are scaled by their group, or not at all, is to speak of groups, and what is
  // declared of a clip is said of a clipped objective.
  if (item === 'advantage_baseline') return !['group', 'none'].includes(declared.advantage_scaling ?? '');
  if (item === 'policy_objective') return CLIPS.every((other) => declared[other] === undefined);
  if (itemsOf('advantages').includes(item))
    return item === 'advantage_scaling' || declared.advantage_scaling !== 'none';
  return true;
}

/** What is declared of the loss that is measured. */
function aggregationIn(declared: Semantics, ops: Ops): Semantics['loss_aggregation'] {
  const measured = SHARE_DENOMINATORS.find((op) => ops[op] !== undefined);
  return declared.loss_aggregation ?? (measured && declared[AGGREGATION_OF[measured]]);
}

const CLIPS: readonly ItemName[] = ['clip_low', 'clip_high'];
