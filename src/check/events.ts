// One event stream, many folds: the engine emits these, and every report is a pure function of them.
import type { Hello } from '../protocol/message.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Level, Verdict } from '../vocabulary.ts';
import type { Coverage, Finding } from './property.ts';

export interface Failure {
  /** The saved case's id: a few letters and digits, the same for the same case. */
  readonly caseId: string;
  readonly finding?: Finding;
  readonly trainerFailure?: TrainerFailure;
  /** The smallest failing case, plain JSON. */
  readonly given: unknown;
  readonly casesToFail: number;
  readonly shrinks: number;
  readonly shrinkStopped?: 'time';
  /** Re-run on a fresh process: deterministic, only in the used process, or not again. */
  readonly confirmed: 'deterministic' | 'state leak' | 'flaky' | 'not re-run';
  readonly seed: number;
  readonly path?: string;
  /** Request lines of the smallest case, hello first, to pipe to the adapter. */
  readonly lines: readonly string[];
  /** It came from the corpus of saved failures. */
  readonly saved?: boolean;
  readonly stderrTail?: string;
}

export interface ThinLabel {
  readonly label: string;
  /** Of the cases that were judged. */
  readonly share: number;
  readonly least: number;
  readonly judged: number;
  /** Cases that had it and that the trainer refused. */
  readonly refused: number;
}

export interface PropertyResult {
  readonly id: string;
  readonly title: string;
  readonly level: Level;
  readonly verdict: Verdict;
  readonly cases: number;
  /** Cases that the trainer refused. */
  readonly rejected: number;
  /** Cases that the check set aside, because they say nothing about its rule. */
  readonly setAside: number;
  /** Of the cases that were judged, how many had each label. */
  readonly labels: Readonly<Record<string, number>>;
  /** The share of judged cases that each label must have, in the world of this run. */
  readonly coverage?: Coverage;
  /** Labels that certainly have less. */
  readonly thin: readonly ThinLabel[];
  /** Why it has this verdict, where no failure says so. */
  readonly reason?: string;
  readonly failure?: Failure;
  /** Saved failures of earlier runs that now hold. */
  readonly fixed: readonly string[];
}

export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly seed: number;
      readonly cases: number;
      readonly hello: Hello;
      readonly command: string;
      readonly properties: readonly string[];
      readonly version: string;
    }
  | { readonly type: 'property-start'; readonly id: string; readonly index: number; readonly total: number }
  | { readonly type: 'progress'; readonly id: string; readonly done: number; readonly total: number }
  | { readonly type: 'property-end'; readonly result: PropertyResult }
  | {
      readonly type: 'run-end';
      readonly interrupted: boolean;
      readonly milliseconds: number;
    };
