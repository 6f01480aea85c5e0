// The scale of a loss, told by what is computed from the same tokens: the loss of an evaluation, and the perplexity. A loss
// that is divided by the steps of gradient accumulation twice, or not at all, is off by that very number.
import { type Course, type MonitorRule, median, type RuleWorld, type Series } from '../../../src/index.ts';
import { isReinforced } from '../run-kind.ts';
import { at, type Row, read, watchCourses, watchJoined } from '../watches.ts';
import { declaredNumber, numberOf } from '../world.ts';
import { isMainLoss } from './main-loss.ts';

/** As trainers call the micro-batches of one step. */
export const ACCUMULATIONS = [
  'gradient_accumulation_steps',
  'grad_accumulation_steps',
  'accumulation_steps',
  'grad_accum_steps',
  'grad_accum',
  'gradient_accumulation',
  'accumulate_grad_batches',
  'trainer.accumulate_grad_batches',
  'training.gradient_accumulation_steps',
  'train.gradient_accumulation_steps',
  'update_freq',
] as const;

const accumulated = (world: RuleWorld): number => declaredNumber(world, ...ACCUMULATIONS) ?? 1;

const ADVICE =
  'Look whether both the trainer and the model divide the loss by the steps of accumulation, or neither does: print the loss of one micro-batch, and its gradient, with 1 step and with several.';

export const scaleOfLoss: MonitorRule = {
  id: 'monitor/loss-scale-beside-evaluation',
  title: 'The training loss is not off the evaluation loss by the steps of gradient accumulation',
  stage: 'monitor',
  level: 'should',
  why: 'A loss that is summed over micro-batches, or divided by their number once too often, has a gradient that is as much too large or too small. The evaluation has no micro-batches and shows the right scale.',
  catches: ['OPT-12'],
  advice: ADVICE,
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    tolerance: {
      default: 0.3,
      what: 'How far the ratio of training loss to evaluation loss may be from the declared number of accumulation steps (4 or more), or from one over it, at each evaluation. Dropout and other data make a ratio of 0.7 to 1.4; learning by heart begins at 1. With 2 or 3 steps, and where none are declared, it is a remark.',
    },
    points: { default: 3, what: 'Evaluations at least.' },
  },
  watch: (world) => {
    const asked = new Map<Series, string>();
    const watch = watchCourses(world, {
      judge: (series, course) => {
        if (!series.evaluation || !isMainLoss(series) || isReinforced(world)) return undefined;
        const found = ratiosOf(world, series, course);
        if (found === undefined) return undefined;
        const { ratios, training, first } = found;
        const steps = accumulated(world);
        asked.delete(series);
        const factor = [steps, 1 / steps].find((each) => steps > 1 && isFactor(world, found, each));
        if (factor === undefined) {
          const odd = unusual(found, series, steps);
          if (odd !== undefined) asked.set(series, odd);
          return 'seen';
        }
        const said = `${training.name} is ${read(round(median(ratios)))} times ${series.name} at all of its ${ratios.length} evaluations, and the run accumulates ${steps} steps`;
        if (steps < SURE_STEPS) {
          asked.set(
            series,
            `${said}: ${factor > 1 ? 'is it summed over them?' : 'is it divided by them twice?'}`,
          );
          return 'seen';
        }
        return {
          kind: factor > 1 ? 'not divided' : 'divided twice',
          sentence: `${said}: ${factor > 1 ? 'it is summed over them instead of averaged' : 'it is divided by them once too often'}.`,
          series: training,
          step: first.step,
          value: first.value,
        };
      },
      least: numberOf(world, 'points'),
      why: 'fewer evaluations of a supervised loss than it needs stand beside the loss of training',
    });
    return { ...watch, remarks: () => [...asked.values()] };
  },
};

/** From here on no legal difference between data is as large. */
const SURE_STEPS = 4;
/** With fewer the ratio has to be as near as this. */
const NEAR = 0.12;
/** The largest ratio of two evaluations of one run: a scale does not change. */
const ONE_SCALE = 1.5;
/** Of the first evaluation, that the first training loss is at most: what learns by heart begins above its evaluation. */
const LEARNT = 0.7;
/** Where nothing is declared: a remark from this ratio on, or below one over it. */
const UNUSUAL = 3.5;

function isFactor(world: RuleWorld, { ratios, start }: Ratios, factor: number): boolean {
  const steps = Math.max(factor, 1 / factor);
  const near = steps < SURE_STEPS ? NEAR : numberOf(world, 'tolerance');
  const off = (ratio: number): number => Math.abs(ratio / factor - 1);
  if (off(median(ratios)) > near || ratios.some((ratio) => off(ratio) > 2 * near)) return false;
  return steady(ratios) && (factor > 1 || start <= (steps < SURE_STEPS ? 2 : 1) * LEARNT);
}

const steady = (ratios: readonly number[]): boolean => Math.max(...ratios) <= ONE_SCALE * Math.min(...ratios);

/** A remark. */
function unusual({ ratios, training, start }: Ratios, series: Series, steps: number): string | undefined {
  const ratio = median(ratios);
  const low = ratio <= 1 / UNUSUAL && start <= LEARNT;
  if (!steady(ratios) || (ratio < UNUSUAL && !low)) return undefined;
  const declared =
    steps > 1
      ? `and the run accumulates ${steps} steps`
      : 'and the run declares no steps of gradient accumulation (`--fact gradient_accumulation_steps=N` does)';
  return `${training.name} is ${read(round(ratio))} times ${series.name} at each of its evaluations, ${declared}: are both means over the same kind of tokens?`;
}

interface Ratios {
  readonly ratios: readonly number[];
  /** Of the first training loss to the first evaluation. */
  readonly start: number;
  readonly training: Series;
  readonly first: { readonly step: number; readonly value: number };
}

/** Training values around an evaluation that make its level. */
const AROUND = 2;

/** Undefined where no training loss stands beside it from its beginning on, or one of the two is not above 0. */
function ratiosOf(world: RuleWorld, series: Series, course: Course): Ratios | undefined {
  const training = world
    .series()
    .find((each) => !each.evaluation && isMainLoss(each) && each.role === series.role);
  const own = training === undefined ? undefined : world.courseOf(training);
  if (training === undefined || own === undefined || own.means.length < AROUND) return undefined;
  const ratios = course.steps.flatMap((step, which) => {
    const behind = own.steps.findIndex((each) => each > step);
    const to = behind < 0 ? own.steps.length : behind;
    const near = own.means.slice(Math.max(0, to - AROUND), to + 1);
    return near.length === 0 ? [] : [median(near) / (course.means[which] as number)];
  });
  if (ratios.length < 2 || !ratios.every((ratio) => ratio > 0 && Number.isFinite(ratio))) return undefined;
  const start = (own.means[0] as number) / (course.means[0] as number);
  return { ratios, start, training, first: { step: own.steps[0] as number, value: own.means[0] as number } };
}

const round = (value: number): number => Number(value.toPrecision(3));

type Key = 'loss' | 'perplexity' | 'eval loss' | 'eval perplexity';

const PERPLEXITY = /(?:^|[/_ ])(?:ppl|perplexity|perplexities)$/i;
/** Of ratios of two policies, of parts of a loss, or already a logarithm. */
const OTHER_PERPLEXITY = /log|rollout|ratio|diff|old|ref|aux|best|min|prompt|response|train_inf/i;

export const perplexityFits: MonitorRule = {
  id: 'monitor/perplexity-fits-loss',
  title: 'A perplexity is the exponential of the loss beside it, not of a multiple of it',
  stage: 'monitor',
  level: 'should',
  why: 'Both are computed from one cross-entropy. If the logarithm of the perplexity is 8 times the loss, or an eighth of it, one of them is divided by micro-batches, devices or logged steps once too often, or not at all. If the loss is wrong, it trains with that scale.',
  catches: ['OPT-12'],
  advice: ADVICE,
  roles: [],
  settings: {
    tolerance: {
      default: 0.005,
      what: 'How far the quotient of log perplexity and loss may be from a whole number, or from one over it; four times as much if that is the declared number of accumulation steps. A loss in bits has a factor of 0.69, and one per byte has about one over the bytes of a token, which is no whole number.',
    },
    points: { default: 5, what: 'Steps with both, all with one factor.' },
  },
  watch: (world) => {
    const judges = { training: judgePerplexity(world), evaluation: judgePerplexity(world) };
    const watch = watchJoined<Key>({
      keyOf: (series) => {
        const key = isMainLoss(series)
          ? 'loss'
          : PERPLEXITY.test(series.name) && !OTHER_PERPLEXITY.test(series.name)
            ? 'perplexity'
            : undefined;
        return key === undefined ? undefined : series.evaluation ? `eval ${key}` : key;
      },
      row: (row) => {
        const training = judges.training.row(row, 'loss', 'perplexity');
        const evaluation = judges.evaluation.row(row, 'eval loss', 'eval perplexity');
        return [training, evaluation].find((each) => typeof each === 'object') ?? training ?? evaluation;
      },
      why: 'no perplexity is logged beside a loss',
    });
    return {
      ...watch,
      remarks: () => [...judges.training.remarks(), ...judges.evaluation.remarks()],
    };
  },
};

/** Below it four decimals of a loss hide the factor. */
const LEAST_LOSS = 0.05;
/** Above it, exponentials are cut off. */
const MOST_LOG = 15;
const KEPT = 64;
/** Largest over smallest factor of one run. */
const ONE_FACTOR = 1.03;

interface PerplexityJudge {
  row(row: Row<Key>, loss: Key, perplexity: Key): ReturnType<Parameters<typeof watchJoined<Key>>[0]['row']>;
  remarks(): readonly string[];
}

function judgePerplexity(world: RuleWorld): PerplexityJudge {
  const factors: number[] = [];
  let names: readonly [string, string] | undefined;
  const oneFactor = (): number | undefined => {
    if (factors.length < numberOf(world, 'points')) return undefined;
    return Math.max(...factors) <= ONE_FACTOR * Math.min(...factors) ? median(factors) : undefined;
  };
  return {
    row({ step, values, seriesOf }, lossKey, perplexityKey) {
      const [loss, perplexity] = [values.get(lossKey), values.get(perplexityKey)];
      const [series, other] = [seriesOf(lossKey), seriesOf(perplexityKey)];
      if (loss === undefined || perplexity === undefined || series === undefined || other === undefined)
        return undefined;
      const log = Math.log(perplexity);
      if (!(loss > LEAST_LOSS && log > LEAST_LOSS && log < MOST_LOG)) return undefined;
      names = [series.name, other.name];
      factors.push(log / loss);
      if (factors.length > KEPT) factors.shift();
      const factor = oneFactor();
      const times = factor === undefined ? undefined : wholeOf(world, factor);
      if (factor === undefined || times === undefined) return 'seen';
      return {
        kind: 'another scale',
        sentence: `${at(series, step)} is ${read(loss)}, and ${other.name} is ${read(perplexity)}, the exponential of ${read(log)}: ${factor > 1 ? `${times} times the loss` : `the loss divided by ${times}`}, as at each step before.${times === accumulated(world) ? ` The run accumulates ${times} steps.` : ''}`,
        series,
        step,
        value: loss,
      };
    },
    remarks() {
      const factor = oneFactor();
      if (factor === undefined || names === undefined || isUsual(factor)) return [];
      if (wholeOf(world, factor) !== undefined) return [];
      return [
        `${names[1]} is the exponential of ${read(round(factor))} times ${names[0]}, at each step: are both means over the same tokens?`,
      ];
    },
  };
}

/** The whole number, 2 or more, that a factor is, or is one over. */
function wholeOf(world: RuleWorld, factor: number): number | undefined {
  const times = Math.max(factor, 1 / factor);
  const whole = Math.round(times);
  const tolerance = numberOf(world, 'tolerance') * (whole === accumulated(world) ? DECLARED : 1);
  return whole >= 2 && Math.abs(times / whole - 1) <= tolerance ? whole : undefined;
}

/** Times the tolerance, where it is the declared number of steps of accumulation. */
const DECLARED = 4;

/** Nats; bits beside nats, either way; and what noise makes of them. */
const isUsual = (factor: number): boolean =>
  [1, Math.LN2, 1 / Math.LN2].some((usual) => Math.abs(factor / usual - 1) < 0.1);
