// The checkpoint that a trainer calls its best, beside the evaluations that it logged.
import type { Course, MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { read } from '../watches.ts';
import { declaredNumber, declaredText, textOf } from '../world.ts';

export const bestCheckpoint: MonitorRule = {
  id: 'monitor/best-checkpoint',
  title: 'The checkpoint that is called the best has the best evaluation that could be saved',
  stage: 'monitor',
  level: 'should',
  why: 'The checkpoint that the trainer calls its best is loaded at the end, and used afterwards. If a better one was saved before, the direction of the metric is reversed, or the trainer follows another metric.',
  catches: [],
  advice:
    'Check `metric_for_best_model` and `greater_is_better` (a loss: false), and that `save_steps` is a multiple of `eval_steps`, so that each evaluation can be saved.',
  roles: [],
  settings: {
    direction: {
      default: 'auto',
      what: '`lower` or `higher` is better; `auto`: lower for losses, perplexities and error rates, higher for accuracies, F1, BLEU, ROUGE and rewards, else what the run declares as greater_is_better. There is no noise in this: the trainer compares the very numbers that it logs.',
    },
  },
  watch: (world) => {
    let judged = 0;
    let why =
      'the run names no best checkpoint (best_metric and best_model_checkpoint of trainer_state.json)';
    return {
      end() {
        const verdict = judge(world);
        if (typeof verdict === 'string') {
          why = verdict;
          return undefined;
        }
        if (verdict !== undefined) judged++;
        return verdict?.violation;
      },
      judged: () => judged,
      why: () => why,
    };
  },
};

/** Numbers that a log may have rounded. */
const ROUNDING = 1e-4;

/** Undefined: no best is declared. Text: why it cannot be compared. */
function judge(world: RuleWorld): { readonly violation?: Violation } | string | undefined {
  const best = declaredNumber(world, 'best_metric');
  const step = stepOfBest(world);
  if (best === undefined || step === undefined) return undefined;
  const found = world
    .series()
    .flatMap((series) => {
      const course = series.evaluation ? world.courseOf(series) : undefined;
      return course === undefined ? [] : [{ series, course, value: valueAt(course, step) }];
    })
    .find(({ value }) => value !== undefined && same(value, best));
  if (found === undefined)
    return `no evaluation of step ${step} has the declared best_metric of ${read(best)}`;
  const { series, course } = found;
  const lower = lowerIsBetter(world, series);
  if (lower === undefined)
    return `nothing says whether more or less of ${series.name} is better; \`--set monitor/best-checkpoint.direction=lower\` does`;
  const better = betterOf(course, best, lower, savedAt(world, step));
  if (better === undefined) return {};
  return {
    violation: {
      kind: 'not the best',
      sentence: `The checkpoint of step ${step} is called the best, with a ${series.name} of ${read(best)}; at step ${better.step} it was ${read(better.value)}, which is ${lower ? 'lower' : 'higher'}.`,
      series,
      step: better.step,
      value: better.value,
    },
  };
}

function stepOfBest(world: RuleWorld): number | undefined {
  const step = declaredNumber(world, 'best_global_step');
  if (step !== undefined && step > 0) return step;
  const named = /checkpoint-(\d+)\/?$/.exec(declaredText(world, 'best_model_checkpoint') ?? '')?.[1];
  return named === undefined ? undefined : Number(named);
}

function valueAt({ steps, means, points }: Course, step: number): number | undefined {
  // A mean of several evaluations is none of them.
  return points === means.length ? means[steps.indexOf(step)] : undefined;
}

/** Which evaluations could have become a checkpoint: those of saved steps, where the best is one of these. */
function savedAt(world: RuleWorld, best: number): (step: number) => boolean {
  const every = declaredNumber(world, 'save_steps') ?? 0;
  // What is logged behind it is newer than the declaration.
  const last = declaredNumber(world, 'global_step') ?? Number.POSITIVE_INFINITY;
  const aligned = every >= 1 && best % every === 0;
  return (step) => step <= last && (!aligned || step % every === 0);
}

/** The best of all that are better; the last evaluation may be newer than what is declared. */
function betterOf(
  { steps, means }: Course,
  best: number,
  lower: boolean,
  saved: (step: number) => boolean,
): { readonly step: number; readonly value: number } | undefined {
  const gain = (value: number): number => (lower ? best - value : value - best);
  let found: { readonly step: number; readonly value: number } | undefined;
  for (const [at, step] of steps.slice(0, -1).entries()) {
    const value = means[at] as number;
    if (!saved(step) || gain(value) <= ROUNDING * Math.abs(best)) continue;
    if (found === undefined || gain(value) > gain(found.value)) found = { step, value };
  }
  return found;
}

const same = (value: number, best: number): boolean => Math.abs(value - best) <= ROUNDING * Math.abs(best);

const LOWER = /loss|perplexity|(?:^|[/_])(?:ppl|nll|wer|cer|mse|mae|rmse)(?:$|[/_])|error/i;
const HIGHER =
  /accurac|(?:^|[/_])(?:acc|f1|bleu|sacrebleu|rouge\w*|meteor|reward|score|precision|recall|auc|map|mcc|pass@?\d*|exact_match|em)(?:$|[/_])/i;

function lowerIsBetter(world: RuleWorld, { name }: Series): boolean | undefined {
  const said = textOf(world, 'direction');
  if (said === 'lower' || said === 'higher') return said === 'lower';
  const [low, high] = [LOWER.test(name), HIGHER.test(name)];
  if (low !== high) return low;
  const greater = declaredText(world, 'greater_is_better')?.toLowerCase();
  return greater === 'true' ? false : greater === 'false' ? true : undefined;
}
