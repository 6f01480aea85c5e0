// What can be said to `mutate`.
import type { Level } from '../../vocabulary.ts';
import type { TrainerOptions } from '../check/plan.ts';

export interface MutateOptions extends TrainerOptions {
  readonly source?: readonly string[];
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly cases?: number;
  readonly seed?: number;
  readonly known?: string;
  /** Seconds. */
  readonly maxTime?: number;
  readonly workers?: number;
  readonly resume?: boolean;
  /** Percent. */
  readonly atLeast?: number;
  readonly json?: string;
  readonly html?: string;
  readonly quiet?: boolean;
}
