// What a page about logs is made of.

import type { RankedRun } from '../../../monitor/beside/ranking.ts';
import type { RunView } from '../../../monitor/view.ts';
import type { Unjudged } from '../../monitor/unjudged.ts';

export interface MonitorPage {
  readonly files: number;
  readonly points: number;
  readonly samples: number;
  readonly runs: readonly RunView[];
  /** Runs that are held to be healthy, beside which these were judged. */
  readonly baselines: readonly RunView[];
  /** Of two or more runs; else none. */
  readonly ranking: readonly RankedRun[];
  /** What could not be read, a sentence each. */
  readonly unread: readonly string[];
  /** What is odd about these logs, and how it was taken: a sentence each. */
  readonly remarks?: readonly string[];
  /** What was not judged: `10 of 43 rules judged`, then a line for each reason. */
  readonly unjudged?: { readonly words: string; readonly reasons: readonly Unjudged[] };
}
