// What can be said to `check`.
import type { ShardName } from '../../check/options.ts';
import type { BackendName } from '../../kernel/index.ts';
import type { Level } from '../../vocabulary.ts';
import type { RayOptions } from '../ray/options.ts';
import type { TrainerOptions } from './plan.ts';
import type { RecordOptions } from './record.ts';

export interface CheckOptions extends TrainerOptions, RecordOptions, RayOptions {
  /** Every trainer of the configuration, in every setting. */
  readonly all?: boolean;
  readonly only?: readonly string[];
  readonly level?: Level;
  readonly cases?: number;
  readonly seed?: number;
  readonly corpus: boolean;
  readonly profile: boolean;
  readonly known?: string;
  readonly updateKnown?: boolean;
  readonly labels?: boolean;
  readonly rows?: boolean;
  readonly shrinkTime?: number;
  readonly strict?: boolean;
  readonly quiet?: boolean;
  readonly workers?: number;
  readonly gpusPerWorker?: number;
  readonly shard?: ShardName;
  readonly resume?: string | true;
  /** Seconds. */
  readonly maxTime?: number;
  /** Made of it: when the time is over, by `performance.now()`. */
  readonly until?: number;
  readonly bail?: number;
  readonly backend?: BackendName | 'auto';
}
