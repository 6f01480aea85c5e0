// The optimiser's steps of a traced run as numbers: for each rank what was put in, what of it was trained, with which
// weight, and whether the model is another one after it.
import type { Ledger, LedgerRow, RankStep } from '../../trace/ledger.ts';
import type { ReplicaSet } from '../../trace/replicas.ts';
import { unknownIn } from '../../trace/terms.ts';
import { realCount, trainedCount } from './rows.ts';

export interface StepSum {
  readonly step: number;
  readonly rank: number;
  /** Forward passes that a backward pass reached: the micro-batches. */
  readonly forwards: number;
  readonly rows: number;
  /** Without padding. */
  readonly tokens: number;
  readonly trained: number;
  /** Of these, what the gradient trains there is not known. */
  readonly unknown: number;
  /** Undefined: not all of them were measured. */
  readonly weight: number | undefined;
  readonly optimizer: string;
  /** The gradient norm is that of this rank's shard; `together`: of all ranks, where each has a part of its own. */
  readonly shard?: { readonly together?: number };
  /** Absent: the script ended before the step was made. */
  readonly done?: RankStep['done'];
}

/** In the order of the ledger; what was trained behind the last step made stands with the step that never was. */
export function stepSums({ steps, rows, replicas = [] }: Ledger): readonly StepSum[] {
  return steps.flatMap(({ index, ranks }) =>
    ranks.map(({ rank, optimizer, done }): StepSum => {
      const sharded = replicas.find((set) => set.ranks.includes(rank) && SHARDING.has(set.wrapper ?? ''));
      const own = rows.filter((row) => row.step === index && row.rank === rank && row.reached);
      const weights = own.flatMap(({ trained }) => trained.flatMap((each) => (each ? [each.weight] : [])));
      return {
        step: index,
        rank,
        forwards: new Set(own.map(({ forward }) => forward)).size,
        rows: own.length,
        tokens: sumOf(own, realCount),
        trained: sumOf(own, trainedCount),
        unknown: unknownIn(own).open,
        weight: totalOf(weights),
        optimizer,
        ...(sharded === undefined ? {} : { shard: shardOf(sharded, ranks) }),
        ...(done === undefined ? {} : { done }),
      };
    }),
  );
}

/** undefined: some are not known. What rounding leaves of weights that cancel out, as those of centred advantages, is 0. */
function totalOf(weights: readonly (number | undefined)[]): number | undefined {
  const known = weights.filter((each) => each !== undefined);
  if (known.length < weights.length) return undefined;
  const total = known.reduce((sum, each) => sum + each, 0);
  const size = known.reduce((sum, each) => sum + Math.abs(each), 0);
  return Math.abs(total) <= ROUNDING * size ? 0 : total;
}

/** Weights are read off float32 gradients: their sum is not better than this share of their sizes. */
const ROUNDING = 1e-5;

/** A rank's optimiser got its shard alone. */
export function shardWords(shard: StepSum['shard']): string {
  if (shard === undefined) return '';
  return shard.together === undefined
    ? ' of its shard'
    : ` of its shard, ${Number(shard.together.toPrecision(4))} of all ranks`;
}

export const hasSeveralRanks = ({ processes, rows }: Ledger): boolean =>
  processes.some(({ world }) => world > 1) || new Set(rows.map(({ rank }) => rank)).size > 1;

/** Wrappers that leave each rank a part of each tensor, and so a part of each gradient. */
const SHARDING: ReadonlySet<string> = new Set(['FSDPModule', 'FullyShardedDataParallel']);

/** Where ranks are known to divide one set of shards, squares of their norms add up. */
function shardOf({ divided, ranks }: ReplicaSet, all: readonly RankStep[]): NonNullable<StepSum['shard']> {
  const norms = all.flatMap(({ rank, done }) => (ranks.includes(rank) ? [done?.gradientNorm] : []));
  const known = norms.filter((norm) => typeof norm === 'number');
  return divided && known.length === ranks.length ? { together: Math.hypot(...known) } : {};
}

function sumOf(rows: readonly LedgerRow[], count: (row: LedgerRow) => number): number {
  return rows.reduce((sum, row) => sum + count(row), 0);
}
