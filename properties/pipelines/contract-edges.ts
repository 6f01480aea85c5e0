// Hand-overs that are not as they were agreed: elements missing or in an order that nobody declared, and no segments.
// A learner may refuse them or understand them; what it must not do is go on with a loss of 0.
import {
  anyOrder,
  discard,
  type Finding,
  type Handover,
  handover,
  handoverLabels,
  many,
  type Need,
  type Ok,
  type Property,
  redrawn,
  type World,
} from '../../src/index.ts';

const ordersOf = (world: World): readonly (readonly string[])[] => world.hello.ops.contract?.orders ?? [];
const lossesOf = (world: World): readonly string[] => world.hello.ops.contract?.losses ?? [];

const declared: Need = (world) =>
  ordersOf(world).length > 0 && lossesOf(world).length > 0
    ? undefined
    : 'op `contract` declares no orders or no losses';

const isDeclared = (world: World, order: readonly string[]): boolean =>
  ordersOf(world).some((other) => other.join('\n') === order.join('\n'));

const base = { stage: 'contract', ops: ['contract'], needs: [declared] } as const;

const named = (order: readonly string[]): string =>
  order.length === 0 ? 'a batch of no elements' : `the batch (${order.join(', ')})`;

/** The first enabled loss that something is wrong with. */
function firstLoss({ enabled }: Handover, wrong: (loss: string) => string | undefined): Finding | undefined {
  for (const loss of enabled) {
    const sentence = wrong(loss);
    if (sentence !== undefined) return { kind: 'loss', sentence };
  }
  return undefined;
}

const reported = ({ losses }: Ok<'contract'>, loss: string): string =>
  losses[loss] === undefined ? '' : ` (reported loss ${losses[loss]})`;

export const contractEdges: readonly Property<Handover>[] = [
  {
    ...base,
    level: 'must',
    id: 'contract/undeclared-orders-are-refused-or-understood',
    title:
      'A batch of elements in an order that is not declared is refused, or trains what a declared one does',
    why: 'If elements are identified by their number, one is taken for another, and the loss that misses its own is skipped.',
    catches: ['ZL-01'],
    given: (world) =>
      redrawn(anyOrder(ordersOf(world), lossesOf(world)), ({ order }) => !isDeclared(world, order)),
    labels: handoverLabels,
    async check(subject, drawn) {
      const { segments, order, enabled } = drawn;
      const agreed = ordersOf(subject)[0] ?? [];
      if (isDeclared(subject, order)) return discard('the order is declared');
      const outcome = await subject.attempt('contract', { segments, order, enabled });
      if ('refused' in outcome) return undefined;
      const right = await subject.ask('contract', { segments, order: agreed, enabled });
      return firstLoss(drawn, (loss) => {
        const [ran, owed] = [outcome.ok, right].map((answer) => ({
          times: answer.executed[loss] ?? 0,
          tokens: answer.trained_tokens[loss] ?? 0,
        }));
        if (ran === undefined || owed === undefined) return undefined;
        if (ran.times === owed.times && ran.tokens === owed.tokens) return undefined;
        return `Loss "${loss}" runs ${many(ran.times, 'time')} on ${many(ran.tokens, 'token')} of ${named(order)}${reported(outcome.ok, loss)}, which is in no declared order, but ${many(owed.times, 'time')} on ${many(owed.tokens, 'token')} of ${named(agreed)} with the same segments: refuse it.`;
      });
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/nothing-is-trained-on-no-segments',
    title: 'A hand-over without segments is refused, or trains no token',
    why: 'A step without a batch trains on the previous batch, or on one that is made up.',
    catches: ['ZL-01', 'ZL-04'],
    given: (world) => handover(ordersOf(world), lossesOf(world)),
    labels: handoverLabels,
    async check(subject, drawn) {
      const { segments, order, enabled } = drawn;
      // So that there is a batch before.
      await subject.ask('contract', { segments, order, enabled });
      const outcome = await subject.attempt('contract', { segments: [], order, enabled });
      if ('refused' in outcome) return undefined;
      return firstLoss(drawn, (loss) => {
        const tokens = outcome.ok.trained_tokens[loss] ?? 0;
        return tokens === 0
          ? undefined
          : `Loss "${loss}" trains ${many(tokens, 'token')} of ${named(order)} without segments.`;
      });
    },
  },
  {
    ...base,
    // A branch that is entered and leaves again does no harm in itself.
    level: 'should',
    id: 'contract/no-loss-runs-on-no-segments',
    title: 'A hand-over without segments is refused, or no loss counts as run with a number to show',
    why: 'A loss that counts as run and is 0.0 looks like one that has converged.',
    catches: ['ZL-01', 'ZL-02', 'ZL-04'],
    given: (world) => handover(ordersOf(world), lossesOf(world)),
    labels: handoverLabels,
    async check(subject, drawn) {
      const { order, enabled } = drawn;
      const outcome = await subject.attempt('contract', { segments: [], order, enabled });
      if ('refused' in outcome) return undefined;
      return firstLoss(drawn, (loss) => {
        const times = outcome.ok.executed[loss] ?? 0;
        // NaN is loud enough.
        return times === 0 || !Number.isFinite(outcome.ok.losses[loss])
          ? undefined
          : `Loss "${loss}" counts as run ${many(times, 'time')}${reported(outcome.ok, loss)} on ${named(order)} without segments.`;
      });
    },
  },
];
