// Clipping of a model that lies in shards: every rank multiplies its part of the gradient by one coefficient.
import { type Ledger, type LedgerProperty, type ReplicaSet, show } from '../../../src/index.ts';
import { eventsOf, numberIn } from '../steps/made.ts';
import { aside, judgementFrom, type Said } from '../words.ts';

const clipped: LedgerProperty = {
  id: 'ranks/shards-are-clipped-by-one-norm',
  title: 'The shards of a gradient are clipped by the norm of the whole, on all ranks alike',
  stage: 'trace',
  level: 'should',
  why: 'A norm over the shards of one rank gives each rank a coefficient of its own: the step has another direction than the gradient, and less is clipped than was asked for.',
  catches: ['OPT-09'],
  needs: ({ replicas = [] }) =>
    replicas.some(isSharded) ? undefined : 'no model that FSDP cuts into shards was seen on several ranks',
  judge: (ledger) => {
    const said = (ledger.replicas ?? [])
      .filter(isSharded)
      .flatMap((set) => ledger.steps.map(({ index }) => sayOf(ledger, set, index)));
    return judgementFrom(said);
  },
};

const SHARDED: ReadonlySet<string> = new Set(['FSDPModule', 'FullyShardedDataParallel']);
const isSharded = ({ wrapper }: ReplicaSet): boolean => wrapper !== undefined && SHARDED.has(wrapper);

function sayOf(ledger: Ledger, set: ReplicaSet, step: number): Said {
  const factors = set.ranks.flatMap((rank) => {
    const event = eventsOf(ledger, 'reworked', step).find((each) => each.rank === rank);
    const [factor, cosine = 0] =
      event === undefined ? [] : [numberIn(event, 'factor'), numberIn(event, 'cosine')];
    return factor === undefined || cosine < ONE_FACTOR || factor <= 0 ? [] : [{ rank, factor }];
  });
  // A rank on which nothing was done to the gradients, or more than a factor, is compared with none.
  if (factors.length < set.ranks.length)
    return aside('a rank did nothing to its gradients, or more than multiply them');
  const ordered = factors.toSorted((a, b) => a.factor - b.factor);
  const [least, most] = [ordered[0], ordered.at(-1)];
  if (least === undefined || most === undefined || most.factor / least.factor <= 1 + NEAR) return 'good';
  return {
    harm: most.factor / least.factor,
    tell: () => ({
      kind: 'clipped apart',
      sentence: `Before step ${step}, the gradients of rank ${least.rank} are multiplied by ${show(least.factor)} and those of rank ${most.rank} by ${show(most.factor)}: each is clipped by the norm of its own shards.`,
      note: 'With FullyShardedDataParallel, call model.clip_grad_norm_(). With fully_shard, give torch.nn.utils.clip_grad_norm_ the parameters themselves, which are DTensors. By hand, add up the squares of all ranks before the root.',
      given: { step, factors },
    }),
  };
}

/** The whole gradient was multiplied, and nothing else. */
const ONE_FACTOR = 0.9999;
/** A norm that is reduced in half precision. */
const NEAR = 0.02;

export const clippingRules: readonly LedgerProperty[] = [clipped];
