// How a difference between processes is told: the tensors by name, the ranks, and what was compared.
import {
  type Compared,
  type Difference,
  type Ledger,
  type LedgerFinding,
  many,
  type ReplicaSet,
  type ReplicaStep,
} from '../../../src/index.ts';
import type { Found } from '../words.ts';

/** "rank 0 and rank 1", "ranks 0, 1 and 3". */
export function ranksOf(ranks: readonly number[]): string {
  const sorted = [...new Set(ranks)].sort((a, b) => a - b);
  return `ranks ${sorted.slice(0, -1).join(', ')} and ${sorted.at(-1)}`;
}

/** "wte.weight", "wte.weight and norm.bias", "wte.weight and 26 more". */
export function tensorsOf(differ: readonly Difference[]): string {
  const [first, second] = differ;
  if (first === undefined) return 'nothing';
  if (second === undefined) return first.tensor;
  return `${first.tensor} and ${differ.length === 2 ? second.tensor : `${differ.length - 1} more`}`;
}

/** "wte.weight and 26 more of 28 tensors". */
export function partOf({ tensors, differ }: Compared): string {
  return `${tensorsOf(differ)} of ${many(tensors, 'tensor')}`;
}

export const apartOf = ({ differ }: Compared): string => ranksOf(differ.flatMap(({ ranks }) => ranks));

/** A finding about a comparison: which tensors, of which ranks, stands in `given`. */
export function differenceOf(
  set: ReplicaSet,
  { step }: ReplicaStep,
  compared: Compared,
  finding: Pick<LedgerFinding, 'kind' | 'sentence' | 'note'>,
): Found {
  return {
    // The first step of all shows where it began.
    harm: 1 / (1 + step),
    tell: () => ({
      ...finding,
      given: {
        step,
        model: set.model,
        ranks: set.ranks,
        wrapper: set.wrapper ?? null,
        tensors: compared.tensors,
        differ: compared.differ,
      },
    }),
  };
}

/**
 * They are meant to be one model: something was put around it that says so, or what the optimisers found is to the bit the
 * same in some tensor, or in proportion in all of them, which no two processes come to by themselves.
 */
export function meantAsOne({ wrapper, steps }: ReplicaSet): boolean {
  return (
    wrapper !== undefined ||
    steps.some(({ gradients, scaled }) => (gradients?.same ?? 0) > 0 || scaled !== undefined)
  );
}

/**
 * Tensors that each rank has its own of from the start, parameters and gradients, beside others that are shared: experts,
 * adapters, or a part of the model a rank. Nobody has said so, and it is no accident.
 */
export function ownParts({ wrapper, steps: [first] }: ReplicaSet): ReadonlySet<string> {
  if (wrapper !== undefined || (first?.gradients?.same ?? 0) === 0) return new Set();
  const others = new Set(first?.gradients?.differ.map(({ tensor }) => tensor));
  const apart = first?.parameters?.differ.map(({ tensor }) => tensor) ?? [];
  return new Set(apart.filter((tensor) => others.has(tensor)));
}

/** Without the tensors that are a rank's own. */
export function without(compared: Compared, own: ReadonlySet<string>): Compared {
  if (own.size === 0) return compared;
  const differ = compared.differ.filter(({ tensor }) => !own.has(tensor));
  return { ...compared, differ, tensors: compared.tensors - (compared.differ.length - differ.length) };
}

const SEVERAL =
  'no two processes that hold the same tensors were compared: one process trained, or each has a shard or a part of its own';

export const needsReplicas = ({ replicas = [] }: Ledger): string | undefined =>
  replicas.some(({ steps }) =>
    steps.some(({ parameters, gradients }) => parameters !== undefined || gradients !== undefined),
  )
    ? undefined
    : SEVERAL;
