// A policy loss that was alive and is exactly 0 from then on. A group-relative loss is 0 where all groups are without spread,
// and rounds to 0 where each batch is used once; it does not begin to from one step to the next.
import { type MonitorRule, type RuleWorld, rolling, type Violation } from '../../../src/index.ts';
import { SIGNAL_ROLES, signalKey } from '../losses/main-loss.ts';
import { from, type Row, read, watchJoined } from '../watches.ts';
import { hasRollouts, inARow, numberOf } from '../world.ts';
import type { SignalKey } from './signal.ts';

/** Steps before whose losses tell how large a loss is, and how many are needed. */
const BEFORE = 10;
/** Logs round losses to four digits: one of this size is not 0 by rounding, and its like are not either. */
const ROUNDING = 2e-3;

export const policyLossLives: MonitorRule = {
  id: 'monitor/policy-loss-stays-zero',
  title: 'The loss of a policy does not become exactly 0 and stay so while rewards differ',
  stage: 'monitor',
  level: 'should',
  why: 'A loss that moved and is 0 at every step from one on is not computed any more: every token is masked, advantages are zeroed, or what is logged is another number.',
  catches: ['ZL-01', 'ZL-04', 'TRN-04'],
  advice:
    'Count the trained tokens of a batch after this step, and look at its advantages. `lossproof trace` shows which tokens have a gradient.',
  roles: SIGNAL_ROLES,
  settings: {
    points: inARow(
      20,
      'Steps whose groups are all without spread count for nothing: their loss is rightly 0.',
    ),
  },
  watch: (world) =>
    watchJoined<SignalKey>({
      keyOf: signalKey,
      row: judge(world),
      why: `the run has no rollouts, or its losses are below ${ROUNDING} and may be rounded to 0`,
    }),
};

function judge(world: RuleWorld): (row: Row<SignalKey>) => Violation | 'seen' | undefined {
  const needed = numberOf(world, 'points');
  const before = rolling(BEFORE);
  let zeros = 0;
  let first = Number.NaN;
  let reward: number | undefined;
  return (row) => {
    const loss = row.values.get('loss');
    const series = row.seriesOf('loss');
    if (loss === undefined || series === undefined || !Number.isFinite(loss)) return undefined;
    if (!hasRollouts(world)) return undefined;
    const differed = rewardsDiffered(row);
    reward = row.values.get('reward') ?? reward;
    const alive = before.count === BEFORE && before.median() >= ROUNDING;
    if (loss !== 0) {
      zeros = 0;
      before.add(Math.abs(loss));
      return alive ? 'seen' : undefined;
    }
    if (!differed) return alive ? 'seen' : undefined;
    if (!alive) {
      before.add(0);
      return undefined;
    }
    if (zeros++ === 0) first = row.step;
    if (zeros < needed) return 'seen';
    return {
      kind: 'stays zero',
      sentence: `${from(series, first, row.step)} is exactly 0; before, its size was ${read(before.median())}.`,
      series,
      step: first,
      value: 0,
    };
  };

  /** By what is logged of them; of a mean alone, that it is not the one of the step before. */
  function rewardsDiffered({ values }: Row<SignalKey>): boolean {
    const deviation = values.get('reward std');
    const dead = values.get('dead');
    if (deviation !== undefined || dead !== undefined) return deviation !== 0 && dead !== 1;
    return values.get('reward') !== reward || reward === undefined;
  }
}
