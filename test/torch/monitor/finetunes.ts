// Fine-tunes by three methods, healthy and with one fault each, and what of a fault its log shows: for the test, which trains
// one seed of each, and for `npm run monitor:trained`, which trains several and writes the table of docs/monitor.md.
import { join } from 'node:path';
import type { Training } from './runs.ts';

export const METHODS = ['sft', 'dpo', 'grpo'] as const;
export type Method = (typeof METHODS)[number];

/** A careful engineer sees it in the plots: some rule has to fail; of those that are named, one. */
interface Shown {
  readonly by?: readonly string[];
}
/** Nobody can, and why. */
interface Hidden {
  readonly hidden: string;
}
export type Expected = Shown | Hidden;

export interface Fault {
  /** For a person. */
  readonly name: string;
  /** By the method that can have it. */
  readonly in: Readonly<Partial<Record<Method, Expected>>>;
}

export const HEALTHY = 'healthy';

/** By their names in `scripts/finetune.py`. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'rate-100': { name: 'learning rate times 100', in: { sft: {}, dpo: {}, grpo: {} } },
  'rate-0': { name: 'learning rate 0', in: { sft: {}, dpo: {}, grpo: {} } },
  'labels-shuffled': { name: 'labels, preferences or rewards shuffled', in: { sft: {}, dpo: {}, grpo: {} } },
  overfit: { name: '64 rows, over and over', in: { sft: {}, dpo: {} } },
  half: { name: 'float16 without a scaler', in: { sft: {}, dpo: {}, grpo: {} } },
  detached: { name: 'loss detached', in: { sft: {}, dpo: {}, grpo: {} } },
  'wrong-sign': { name: 'loss of the wrong sign', in: { sft: {}, dpo: {}, grpo: {} } },
  'frozen-optimiser': { name: 'optimiser that changes nothing', in: { sft: {}, dpo: {}, grpo: {} } },
  'reward-zero': { name: 'rewards of 0', in: { grpo: {} } },
  'reward-constant': { name: 'rewards all alike', in: { grpo: {} } },
  'kl-0': { name: 'KL coefficient 0', in: { dpo: {}, grpo: {} } },
  'kl-100': { name: 'KL coefficient 100', in: { dpo: {}, grpo: {} } },
  repeated: {
    name: 'each row eight times',
    in: { sft: {}, dpo: {}, grpo: {} },
  },
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

export const isHidden = (expected: Expected): expected is Hidden => 'hidden' in expected;
