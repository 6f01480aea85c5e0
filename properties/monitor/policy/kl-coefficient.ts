// How much the KL weighs in what is optimised.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isPolicyKl } from '../run-kind.ts';
import { from, type Row, read, watchJoined } from '../watches.ts';
import { declaredNumber, hasRollouts, numberOf } from '../world.ts';

type Key = 'kl' | 'loss';

const keyOf = ({ role, part }: Series): Key | undefined =>
  part === '' && (role === 'kl' || role === 'loss') ? role : undefined;

/** As trainers call it. */
export const COEFFICIENTS = [
  'beta',
  'kl_coef',
  'init_kl_coef',
  'kl_loss_coef',
  'actor_rollout_ref.actor.kl_loss_coef',
  'algorithm.kl_ctrl.kl_coef',
] as const;

/** Rows of which is told what the loss has of the KL. */
const ROWS = 20;
/** Of the variance of the loss that the KL explains (r squared of a line by least squares): the rest is the policy's own. */
const EXPLAINED = 0.8;
/** A KL is logged a token, and some losses are summed over tokens: a small coefficient times tens of tokens. */
const SUMMED = 10;

const dominates: MonitorRule = {
  id: 'monitor/kl-coefficient',
  title: 'The KL does not outweigh what the policy is paid for',
  stage: 'monitor',
  level: 'should',
  why: 'Advantages are around 1. With a coefficient of 100, a KL of 0.01 nats costs as much as all of them: the policy stays at its reference, and the reward does not move.',
  catches: ['KL-09'],
  advice:
    'Coefficients that are published lie between 0.001 and 0.2. Look whether the number was meant for a sum over tokens, or for another estimator.',
  roles: ['kl', 'loss'],
  settings: {
    most: {
      default: 5,
      what: `Share of the declared coefficient. Without a declaration, ${SUMMED} times as much of the slope of the loss over the KL. That slope is the coefficient, because the loss contains the coefficient times the KL.`,
    },
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeWeight(world),
      why: 'the run declares no coefficient of the KL, and its loss does not follow the KL',
    }),
};

function judgeWeight(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const most = numberOf(world, 'most');
  const recent: { readonly step: number; readonly x: number; readonly y: number }[] = [];
  return (row) => {
    const kl = row.values.get('kl');
    const series = row.seriesOf('kl');
    if (kl === undefined || series === undefined || !isPolicyKl(world) || !hasRollouts(world))
      return undefined;
    const coefficient = declaredNumber(world, ...COEFFICIENTS);
    if (coefficient !== undefined) {
      if (!(coefficient > most)) return 'seen';
      return {
        kind: 'declared',
        sentence: `${from(series, row.step, row.step)} is ${read(kl)}, and the run declares a coefficient of ${read(coefficient)} for it: advantages are around 1, and ${read(1 / coefficient)} nats cost as much.`,
        series,
        step: row.step,
        value: kl,
      };
    }
    const loss = row.values.get('loss');
    if (loss === undefined || !Number.isFinite(loss) || !Number.isFinite(kl)) return undefined;
    recent.push({ step: row.step, x: kl, y: loss });
    if (recent.length > ROWS) recent.shift();
    if (recent.length < ROWS) return undefined;
    const { slope, explained } = line(recent);
    if (!(explained >= EXPLAINED)) return undefined;
    if (!(slope > SUMMED * most)) return 'seen';
    const first = recent[0]?.step ?? row.step;
    return {
      kind: 'by proportion',
      sentence: `${from(series, first, row.step)}: the loss follows the KL, ${read(slope)} times as steep, and next to nothing else moves it (${Math.round(100 * explained)} % of its variance).`,
      series,
      step: first,
      value: kl,
    };
  };
}

/** Least squares. */
function line(points: readonly { readonly x: number; readonly y: number }[]): {
  readonly slope: number;
  readonly explained: number;
} {
  const mean = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const together = mean((point) => (point.x - x) * (point.y - y));
  const ofX = mean((point) => (point.x - x) ** 2);
  const ofY = mean((point) => (point.y - y) ** 2);
  return { slope: together / ofX, explained: together ** 2 / (ofX * ofY) };
}

const unused: MonitorRule = {
  id: 'monitor/kl-is-used',
  title: 'A KL that is logged has a coefficient',
  stage: 'monitor',
  level: 'may',
  why: 'With a coefficient of 0 nothing ties the policy to its reference, whose scores are computed at every step. Some runs only look at the number; others have lost a setting.',
  catches: ['KL-09'],
  advice:
    'If the KL should be penalised, set its coefficient (`beta`, `kl_coef`, `kl_loss_coef`). If it should not, leave the reference out and save its time.',
  roles: ['kl'],
  settings: {},
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: (row) => {
        const series = row.seriesOf('kl');
        const kl = row.values.get('kl');
        const coefficients = COEFFICIENTS.flatMap((name) => declaredNumber(world, name) ?? []);
        if (kl === undefined || series === undefined || coefficients.length === 0) return undefined;
        if (!isPolicyKl(world) || coefficients.some((each) => each !== 0)) return 'seen';
        return {
          kind: 'coefficient 0',
          sentence: `${from(series, row.step, row.step)} is ${read(kl)}, and the run declares a coefficient of 0 for it: it is computed and not used.`,
          series,
          step: row.step,
          value: kl,
        };
      },
      why: 'the run declares no coefficient of the KL',
    }),
};

export const klCoefficientRules: readonly MonitorRule[] = [dominates, unused];
