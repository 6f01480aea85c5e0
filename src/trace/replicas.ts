// Processes that train one model side by side, compared: their parameters before each step and their gradients at it, tensor
// by tensor, by the checksums that each wrote. What lies in shards is left out: there is nothing to compare.

import type { Ranked } from './ranks.ts';
import type { ReadChecksums } from './records/shapes.ts';
import type { ReplicaRecord } from './records/steps.ts';

export interface ReplicaSet {
  readonly model: number;
  readonly ranks: readonly number[];
  /** DistributedDataParallel, or what shards: it was put around the model, so that they are meant to be one; else nobody has said so. */
  readonly wrapper: string | undefined;
  /** Each rank is known to have a part of the data: none shares its rows with another, as in tensor parallelism. */
  readonly divided: boolean;
  /** The wrapper was thrown away. */
  readonly gone: boolean;
  readonly steps: readonly ReplicaStep[];
}

export interface ReplicaStep {
  readonly step: number;
  /** Before it. Undefined: fewer than two ranks were measured. */
  readonly parameters: Compared | undefined;
  /** As the optimiser found them. */
  readonly gradients: Compared | undefined;
  /** Gradients of no rank are those of another, but for one factor each; the rank that is farthest off, and its factor to the first. */
  readonly scaled: { readonly rank: number; readonly by: number } | undefined;
  /**
   * The optimisers hold different tensors, as in ZeRO 1 by hand: of each rank, what it multiplied the gradients of its own by, against
   * the same ones where they belong to another. Undefined: they do not, or that of some rank is no one number.
   */
  readonly dealt?: readonly { readonly rank: number; readonly factor: number }[];
  /** Calls for training by all ranks, those of them through the wrapper, and those that it was to reduce behind. */
  readonly calls: number;
  readonly through: number;
  readonly synced: number;
  /** Inside of torch's Join: some may have run out of batches. */
  readonly joined: boolean;
  /** Parameters are averaged now and then, by one of torch's averagers. */
  readonly periodic: boolean;
  /** What became of the gradients of each rank alone: nothing is known; or they were averaged, added up, or left. */
  readonly reduced: 'mean' | 'sum' | 'none' | undefined;
}

export interface Compared {
  /** Tensors that two ranks have. */
  readonly tensors: number;
  /** Of them, those that are the same and not nothing. */
  readonly same: number;
  readonly differ: readonly Difference[];
}

export interface Difference {
  readonly tensor: string;
  /** Of the first two that differ. */
  readonly ranks: readonly [number, number];
}

/** Names of the tensors of a model that the optimisers of a process hold at a step; undefined: not known. */
export type HeldAt = (process: Ranked, model: number, step: number) => ReadonlySet<string> | undefined;

export function replicasOf(ranked: readonly Ranked[], heldAt: HeldAt): readonly ReplicaSet[] {
  const told = ranked.flatMap((process) =>
    [...process.policies].flatMap((model) => {
      const tensors = process.records.findLast(
        (record) => record.kind === 'replica' && record.model === model,
      );
      return tensors?.kind === 'replica' ? [{ process, model, tensors }] : [];
    }),
  );
  const sets = new Map<string, Held[]>();
  for (const each of told) {
    const key = keyOf(each.tensors, each.process.process.world);
    sets.set(key, [...(sets.get(key) ?? []), each]);
  }
  return [...sets.values()].flatMap((held) => {
    const [first] = held;
    if (first === undefined || new Set(held.map(({ process }) => process.rank)).size < 2) return [];
    const { wrapper } = first.tensors;
    return [
      {
        model: first.model,
        ranks: held.map(({ process }) => process.rank).sort((a, b) => a - b),
        wrapper: wrapper === null || wrapper === '' ? undefined : wrapper,
        divided: first.tensors.group.length > 1,
        gone: held.some(({ tensors }) => tensors.gone),
        steps: stepsOf(held, heldAt),
      },
    ];
  });
}

/**
 * Over how many processes the gradients of a forward pass are averaged, by what was observed of them; undefined: nobody knows.
 * @param recorded what the call itself says, by the wrapper that it went through
 */
export function averagedOver(
  sets: readonly ReplicaSet[],
  place: { readonly step: number; readonly rank: number; readonly model: number },
  recorded: number,
): number | undefined {
  const set = sets.find(({ model, ranks }) => model === place.model && ranks.includes(place.rank));
  const step = set?.steps.find((each) => each.step === place.step);
  if (set === undefined || step === undefined) return recorded;
  // Each optimiser has its own tensors, and nothing else to compare.
  if (step.gradients === undefined && step.dealt !== undefined && set.wrapper === undefined)
    return step.reduced === 'mean' ? set.ranks.length : step.reduced === 'sum' ? 1 : undefined;
  if (step.gradients === undefined) return recorded;
  // Each optimiser has its own rank's: nothing was shared, whatever wraps the model. Where some are one rank's, as those of its
  // experts are, the others tell.
  if (step.gradients.differ.length > 0 && step.gradients.same === 0)
    return step.scaled === undefined ? 1 : recorded;
  if (set.wrapper !== undefined) return Math.max(recorded, set.ranks.length);
  if (step.gradients.same === 0) return recorded;
  if (step.reduced === 'mean') return set.ranks.length;
  return step.reduced === undefined ? undefined : 1;
}

// --- helpers ---

interface Held {
  readonly process: Ranked;
  readonly model: number;
  readonly tensors: ReplicaRecord;
}

/** Of another model, or of another part of one, tensors have other names or shapes. */
function keyOf({ names, shapes, group, wrapper }: ReplicaRecord, world: number): string {
  const whole = group.length === 0 ? [world] : group;
  return JSON.stringify([names, shapes, whole, wrapper]);
}

function stepsOf(held: readonly Held[], heldAt: HeldAt): readonly ReplicaStep[] {
  const sums = held.map(({ process, model, tensors }) => ({
    rank: process.rank,
    names: tensors.names,
    heldAt: (step: number) => heldAt(process, model, step),
    records: process.records.flatMap((record) =>
      record.kind === 'checksums' && record.model === model
        ? [{ ...record, step: process.stepAt(record.step) }]
        : [],
    ),
  }));
  const steps = new Set(sums.flatMap(({ records }) => records.map(({ step }) => step)));
  return [...steps]
    .sort((a, b) => a - b)
    .map((step) => {
      const at = (of: ReadChecksums['of']): Measured[] =>
        sums.flatMap(({ rank, names, records, heldAt }) => {
          const record = records.find((each) => each.step === step && each.of === of);
          const held = of === 'gradients' ? heldAt(step) : undefined;
          return record === undefined || record.sums.length !== names.length
            ? []
            : [{ rank, names, record, held }];
        });
      const gradients = at('gradients');
      const compared = comparedOf(gradients);
      const dealt = dealtBy(gradients);
      return {
        step,
        parameters: comparedOf(at('parameters')),
        gradients: compared,
        scaled: (compared?.differ.length ?? 0) > 0 ? scaledOf(gradients) : undefined,
        ...(dealt === undefined ? {} : { dealt }),
        calls: gradients.reduce((sum, { record }) => sum + (record.calls ?? 0), 0),
        through: gradients.reduce((sum, { record }) => sum + (record.through ?? record.calls ?? 0), 0),
        synced: gradients.reduce((sum, { record }) => sum + (record.synced ?? 0), 0),
        joined: gradients.some(({ record }) => record.joined === true),
        periodic: gradients.some(({ record }) => record.periodic === true),
        reduced: reducedBy(gradients),
      };
    });
}

interface Measured {
  readonly rank: number;
  readonly names: readonly string[];
  readonly record: ReadChecksums;
  /** Tensors that the rank's optimiser holds at this step; undefined: not known, as of parameters and of an engine. */
  readonly held: ReadonlySet<string> | undefined;
}

/** Not one rank's optimiser alone holds it. */
const isShared = (measured: readonly Measured[], tensor: string): boolean =>
  measured.some(({ held }) => held === undefined) ||
  measured.filter(({ held }) => held?.has(tensor) === true).length !== 1;

/** No gradient, or a part of a shard. */
const ABSENT = -1;

function comparedOf(measured: readonly Measured[]): Compared | undefined {
  const [first, ...others] = measured;
  if (first === undefined || others.length === 0) return undefined;
  let [tensors, same] = [0, 0];
  const differ: Difference[] = [];
  first.names.forEach((tensor, at) => {
    const own = first.record.sums[at] ?? ABSENT;
    const other = others.find(({ record }) => record.sums[at] !== own);
    if (other === undefined && own === ABSENT) return;
    // What becomes of it where no optimiser takes it is nobody's business.
    if (other !== undefined && !isShared(measured, tensor)) return;
    tensors++;
    if (other !== undefined) differ.push({ tensor, ranks: [first.rank, other.rank] });
    else if (own !== 0) same++;
  });
  return tensors === 0 ? undefined : { tensors, same, differ };
}

/** Clipped on some ranks only, or with another norm: each tensor is that of the first rank times one number. */
function scaledOf(measured: readonly Measured[]): ReplicaStep['scaled'] {
  const [first, ...others] = measured;
  if (first === undefined) return undefined;
  let worst: { rank: number; by: number } | undefined;
  for (const { rank, record } of others) {
    const factors = (record.sizes ?? []).flatMap((size, at) => {
      const own = first.record.sizes?.[at] ?? 0;
      return own > 0 && size > 0 ? [size / own] : [];
    });
    // One or two tensors may be in proportion by accident.
    const [low, high] = [Math.min(...factors), Math.max(...factors)];
    if (factors.length < FEWEST || !(high - low <= CLOSE * high)) return undefined;
    const by = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
    if (Math.abs(by - 1) > CLOSE && Math.abs(Math.log(by)) > Math.abs(Math.log(worst?.by ?? 1)))
      worst = { rank, by };
  }
  return worst;
}

/** What each rank did to the gradients that its optimiser alone holds. */
function dealtBy(measured: readonly Measured[]): ReplicaStep['dealt'] {
  const [first] = measured;
  if (first === undefined || measured.length < 2) return undefined;
  const own = first.names.map((tensor) => (isShared(measured, tensor) ? undefined : tensor));
  const found = measured.flatMap(({ rank, record, held }) => {
    const other = measured.find((each) => each.rank !== rank);
    const factors = own.flatMap((tensor, at) => {
      const [size = 0, theirs = 0] = [record.sizes?.[at], other?.record.sizes?.[at]];
      return tensor !== undefined && held?.has(tensor) === true && size > 0 && theirs > 0
        ? [size / theirs]
        : [];
    });
    const [low, high] = [Math.min(...factors), Math.max(...factors)];
    return factors.length < FEWEST || !(high - low <= CLOSE * high) ? [] : [{ rank, factor: high }];
  });
  return found.length < measured.length ? undefined : found;
}

const FEWEST = 3;
const CLOSE = 1e-3;

function reducedBy(measured: readonly Measured[]): ReplicaStep['reduced'] {
  // Where a rank has clipped what is its own, the others still have what that was reduced to: the largest.
  const found = measured.map(({ record }) => record.reduced ?? []);
  const reduced = (found[0] ?? []).map((first, at) =>
    found.reduce((most, each) => (Math.abs(each[at] ?? 0) > Math.abs(most) ? (each[at] ?? 0) : most), first),
  );
  const locals = measured.map(({ record }) => record.local ?? []);
  if (reduced.length === 0 || locals.some((local) => local.length !== reduced.length)) return undefined;
  const sums = reduced.map((_, at) => locals.reduce((sum, local) => sum + (local[at] ?? Number.NaN), 0));
  const size = Math.hypot(...sums);
  const is = (factor: number): boolean =>
    Math.hypot(...sums.map((sum, at) => sum * factor - (reduced[at] ?? Number.NaN))) <= CLOSE * size * factor;
  if (!(size > 0)) return undefined;
  // Nothing was added to anything: all came to the same by themselves, with the same rows, as in tensor parallelism.
  if (locals.every((local) => local.every((each, at) => each === reduced[at]))) return 'none';
  if (is(1 / measured.length)) return 'mean';
  return is(1) ? 'sum' : undefined;
}
