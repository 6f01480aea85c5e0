// How much the KL weighs in what is optimised.
import {
  type MonitorRule,
  median,
  quantile,
  type RuleWorld,
  type Series,
  type Violation,
} from '../../../src/index.ts';
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

/** Rows of which is told whether loss and KL are in proportion. */
const ROWS = 20;
/** The middle 80 % of the proportions lie in a band of this share of their median: nothing else is in that loss. */
const TIGHT = 0.25;
/** A KL is logged a token, and some losses are summed over tokens: a small coefficient times tens of tokens. */
const SUMMED = 10;

const dominates: MonitorRule = {
  id: 'monitor/kl-coefficient',
  title: 'The KL does not outweigh what the policy is paid for',
  stage: 'monitor',
  level: 'should',
  why: 'Advantages are around 1. With a coefficient of 100, a KL of 0.01 nats costs as much as they all: the policy is held to its reference, and the reward does not move.',
  catches: ['KL-09'],
  advice:
    'Coefficients that are published lie between 0.001 and 0.2. Look whether the number was meant for a sum over tokens, or for another estimator.',
  roles: ['kl', 'loss'],
  settings: {
    most: {
      default: 5,
      what: `Of the coefficient that the run declares. Where it declares none and ${ROWS} losses in a row are the KL times one number, ${SUMMED} times as much of that number.`,
    },
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeWeight(world),
      why: 'the run declares no coefficient of the KL, and its loss is not the KL times a number',
    }),
};

function judgeWeight(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const most = numberOf(world, 'most');
  const recent: { readonly step: number; readonly times: number }[] = [];
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
    const times = loss === undefined ? Number.NaN : loss / kl;
    if (!Number.isFinite(times)) return undefined;
    recent.push({ step: row.step, times });
    if (recent.length > ROWS) recent.shift();
    if (recent.length < ROWS) return undefined;
    const all = recent.map((each) => each.times);
    const middle = median(all);
    if (quantile(all, 0.9) - quantile(all, 0.1) > TIGHT * Math.abs(middle)) return undefined;
    if (!(middle > SUMMED * most)) return 'seen';
    const first = recent[0]?.step ?? row.step;
    return {
      kind: 'by proportion',
      sentence: `${from(series, first, row.step)}: the loss is ${read(middle)} times the KL at nearly all of these steps, and there is nothing else in it.`,
      series,
      step: first,
      value: kl,
    };
  };
}

const unused: MonitorRule = {
  id: 'monitor/kl-is-used',
  title: 'A KL that is logged has a coefficient',
  stage: 'monitor',
  level: 'may',
  why: 'With a coefficient of 0 nothing holds the policy to its reference, whose scores are computed at every step. Some runs only look at the number; others have lost a setting.',
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
