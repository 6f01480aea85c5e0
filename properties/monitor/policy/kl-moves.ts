// A policy that stays its reference.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { at, type Row, watchJoined } from '../watches.ts';
import { declaredNumber, inARow, numberOf, someSeries } from '../world.ts';
import { COEFFICIENTS } from './kl-coefficient.ts';

type Key = 'kl' | 'grad' | 'lr';

export const klLeavesZero: MonitorRule = {
  id: 'monitor/kl-leaves-zero',
  title: 'The KL to the reference does not stay exactly 0 while the policy is trained',
  stage: 'monitor',
  level: 'should',
  why: 'After one real step policy and reference differ. A KL that stays exactly 0 means that no step changes the parameters, or that the policy is compared with itself.',
  catches: ['KL-09', 'KL-04', 'ZL-05'],
  advice:
    'Check that the optimiser holds the parameters of the model that samples, and that the reference is a frozen copy and not the same object.',
  roles: ['kl', 'grad_norm', 'learning_rate'],
  settings: {
    points: inARow(
      10,
      'With a gradient and a learning rate above 0, in runs that declare a coefficient of the KL (`beta`, `kl_coef`) or log it only with one, as TRL does. Half precision swallows the smallest first steps.',
    ),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf: ({ role, part }) =>
        part !== ''
          ? undefined
          : role === 'kl'
            ? 'kl'
            : role === 'grad_norm'
              ? 'grad'
              : role === 'learning_rate'
                ? 'lr'
                : undefined,
      row: judgeStill(world),
      why: {
        keys: { kl: 'KL to the reference', grad: 'gradient norm' },
        otherwise: 'the run declares no coefficient of the KL (beta, kl_coef)',
      },
    }),
};

/** TRL's GRPO and RLOO log a KL only where it has a coefficient; `trainer_state.json` declares none. Told by a name of their own. */
const logsItWhereUsed = someSeries(({ name }) => /(?:^|\/)frac_reward_zero_std$/.test(name));

function judgeStill(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  let first = Number.NaN;
  let still = 0;
  let moved = false;
  return (row) => {
    const kl = row.values.get('kl');
    const grad = row.values.get('grad');
    const series = row.seriesOf('kl');
    const coefficient = declaredNumber(world, ...COEFFICIENTS) ?? (logsItWhereUsed(world) ? 1 : 0);
    if (kl === undefined || grad === undefined || series === undefined || coefficient <= 0) return undefined;
    moved ||= kl !== 0;
    if (moved) return 'seen';
    if (Number.isNaN(first)) first = row.step;
    if (grad > 0 && (row.values.get('lr') ?? 1) > 0) still++;
    // The first point is measured before the first step, and is rightly 0.
    if (still <= numberOf(world, 'points')) return 'seen';
    return {
      kind: 'never moves',
      sentence: `${at(series, first)} is exactly 0, and so it is at every logged step up to ${row.step}, although there are gradients.`,
      series,
      step: first,
      value: 0,
    };
  };
}
