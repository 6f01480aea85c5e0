// Fine-tunes by three methods, healthy and with one fault each, and what of a fault its log shows: for the test, which trains
// one seed of each, and for `npm run monitor:trained`, which trains several and writes the table of docs/measurements.md.
import { join } from 'node:path';
import type { Training } from './runs.ts';

export const METHODS = ['sft', 'dpo', 'grpo'] as const;
export type Method = (typeof METHODS)[number];

/** To be seen in the plots of the run alone: some rule has to fail; of those that are named, one. */
interface Shown {
  readonly by?: readonly string[];
}
/** To be seen in the plots, and no rule says it yet: where to look. */
interface Missed {
  readonly missed: string;
}
/** To be seen only beside the plots of a healthy run, and why. */
interface Compared {
  readonly beside: string;
}
/** Not in the log, and why. */
interface Hidden {
  readonly hidden: string;
}
export type Expected = Shown | Missed | Compared | Hidden;

export interface Fault {
  /** For a person. */
  readonly name: string;
  /** By the method that can have it. */
  readonly in: Readonly<Partial<Record<Method, Expected>>>;
}

export const HEALTHY = 'healthy';

const all = (expected: Expected): Fault['in'] => ({ sft: expected, dpo: expected, grpo: expected });

const ONE_PASS: Hidden = { hidden: 'one pass over a data set, and no log says that its rows are alike' };
const NOT_A_NUMBER = ['finite-training', 'zero-loss', 'grad-norm-finite'];

/** By their names in `scripts/finetune.py`. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'rate-100': {
    name: 'learning rate times 100',
    in: {
      sft: { by: ['loss-rises'] },
      dpo: { by: ['entropy-explodes'] },
      grpo: { by: ['rewards-differ', 'reward-falls', 'truncated-share'] },
    },
  },
  'rate-0': { name: 'learning rate 0', in: all({ by: ['learning-rate-not-zero'] }) },
  'labels-shuffled': {
    name: 'labels, preferences or rewards shuffled',
    in: {
      sft: { beside: 'the loss falls, by more than without the fault, to a floor that is too high' },
      dpo: { by: ['preferences-are-learnt'] },
      grpo: {
        hidden:
          'a reward that stays where it was is also that of a task that is too hard; beside a healthy run most seeds show it',
      },
    },
  },
  overfit: {
    name: '64 rows, 75 times',
    in: { sft: { by: ['evaluation-turns'] }, dpo: { by: ['evaluation-turns'] } },
  },
  half: {
    name: 'float16 without a scaler',
    in: {
      sft: { by: NOT_A_NUMBER },
      dpo: { by: NOT_A_NUMBER },
      grpo: { hidden: 'the run ends at its second step, where it would sample from NaN' },
    },
  },
  detached: { name: 'loss detached', in: all({ by: ['gradient-flows'] }) },
  'wrong-sign': {
    name: 'loss of the wrong sign',
    in: {
      sft: { by: ['supervised-loss-not-negative'] },
      dpo: { by: ['preferences-are-learnt'] },
      grpo: { by: ['reward-falls', 'truncated-share', 'rewards-differ'] },
    },
  },
  'frozen-optimiser': {
    name: 'optimiser that changes nothing',
    in: {
      sft: { by: ['evaluations-move'] },
      dpo: { by: ['loss-moves', 'loss-improves'] },
      grpo: { by: ['kl-leaves-zero'] },
    },
  },
  'reward-zero': { name: 'rewards of 0', in: { grpo: { by: ['rewards-differ'] } } },
  'reward-constant': { name: 'rewards all alike', in: { grpo: { by: ['rewards-differ'] } } },
  'kl-0': {
    name: 'KL coefficient 0',
    in: {
      dpo: { by: ['gradient-flows', 'loss-moves'] },
      grpo: { hidden: 'TRL logs no KL then, and the reward rises as it should' },
    },
  },
  'kl-100': {
    name: 'KL coefficient 100',
    in: { dpo: { by: ['loss-diverges'] }, grpo: { by: ['kl-coefficient'] } },
  },
  repeated: { name: 'each row eight times', in: all(ONE_PASS) },
};

export interface Finetune {
  readonly method: Method;
  /** `healthy`, or one of the faults. */
  readonly fault: string;
  readonly expected?: Expected;
}

export const FINETUNES: readonly Finetune[] = METHODS.flatMap((method) => [
  { method, fault: HEALTHY },
  ...Object.entries(FAULTS).flatMap(([fault, { in: methods }]) => {
    const expected = methods[method];
    return expected === undefined ? [] : [{ method, fault, expected }];
  }),
]);

export const nameOf = ({ method, fault }: Finetune): string => join(method, fault);

/** Its trainings, of seeds from 0 on, from the model at `model`, which the first of them makes. */
export function trainingsOf({ method, fault }: Finetune, seeds: number, model: string): readonly Training[] {
  return Array.from({ length: seeds }, (_, seed) => ({
    script: 'finetune',
    method,
    model,
    seed,
    ...(fault === HEALTHY ? {} : { fault }),
    // As users have it: some write both logs.
    tensorboard: seed === 1,
  }));
}

export type Kind = 'shown' | 'missed' | 'beside' | 'hidden';
export function kindOf(expected: Expected): Kind {
  return 'hidden' in expected
    ? 'hidden'
    : 'beside' in expected
      ? 'beside'
      : 'missed' in expected
        ? 'missed'
        : 'shown';
}

/** Whether one of these rules, without `monitor/`, is the finding. */
export function isFound(rules: readonly string[], expected: Expected): boolean {
  const by = 'by' in expected ? expected.by : undefined;
  return rules.some((rule) => by === undefined || by.includes(rule));
}

/** What to see where nothing is found, or why there is nothing; empty: a rule has to speak. */
export function reasonOf(expected: Expected): string {
  if ('hidden' in expected) return expected.hidden;
  if ('beside' in expected) return expected.beside;
  return 'missed' in expected ? expected.missed : '';
}
