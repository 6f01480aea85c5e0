// One event stream, many folds: the engine emits these, and every report is a pure function of them.
import type { Hello } from '../protocol/message.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Level, Semantics, Stage, Verdict } from '../vocabulary.ts';
import type { Coverage, Finding, Strip } from './property.ts';

/** One failing case on the way from the first to the smallest. */
export interface ShrinkStep {
  /** Of the case as JSON: what shrinking makes fewer. */
  readonly characters: number;
  readonly sentence: string;
  /** Absent where it is too long to be read. */
  readonly given?: unknown;
  /** The first strip of its finding, where it has one of a size to look at. */
  readonly strip?: Strip;
}

/** The way to a value inside of a case: `['completions', 0, 2]`. */
export type CasePath = readonly (string | number)[];

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
  /** Some of the failing cases from the one that was found first to the smallest, both included. */
  readonly steps?: readonly ShrinkStep[];
  /** Values of the smallest case that do not matter: with others in their place it failed each time. */
  readonly anyValue?: readonly CasePath[];
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

/** What only the caller of a run knows: how its failures are seen again from where it was started. */
export interface Replay {
  /** Usually `npx lossproof replay`. */
  readonly command: string;
  /** The adapter as typed in a shell, ready for `< file`; absent for a trainer in this process. */
  readonly adapter?: string;
  /** Folder of saved cases as seen from the shell; absent: nothing was saved. */
  readonly folder?: string;
  /** What to type where nothing was saved, if one line does it. */
  readonly again?: string;
  /** The cases are what a script trained: none was drawn, so that no seed draws them again and none was made smaller. */
  readonly traced?: true;
  /** The cases are those of golden files, each compared with its recorded answer; `traced` is said, too. */
  readonly golden?: true;
  /** The cases are what a run has logged; `traced` is said, too. */
  readonly logged?: true;
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
  /** `ask` without a case: one-line declarations that answer what `reason` asks. */
  readonly answers?: readonly string[];
  /** Where a known failure is discussed, if the list of known failures says so. */
  readonly link?: string;
  readonly failure?: Failure;
  /** Saved failures of earlier runs that now hold. */
  readonly fixed: readonly string[];
  /** Saved failures that the trainer's declarations rule out by now, with the reason; kept, and not judged. */
  readonly outdated?: readonly string[];
  /** Of the clock: its cases, shrinking and runs again. */
  readonly milliseconds: number;
}

/** Of a property that had no case. */
export const NOT_TRIED = {
  cases: 0,
  rejected: 0,
  setAside: 0,
  labels: {},
  thin: [],
  fixed: [],
  milliseconds: 0,
} as const satisfies Partial<PropertyResult>;

/** What a report may say of a property without knowing the catalogue. */
export interface PropertyFacts {
  readonly id: string;
  readonly title: string;
  readonly stage: Stage;
  readonly level: Level;
  readonly why: string;
  /** Rows of the bug catalogue. */
  readonly catches: readonly string[];
}

export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly seed: number;
      readonly cases: number;
      readonly hello: Hello;
      /** The trainer's command line, as typed. */
      readonly command: string;
      readonly properties: readonly PropertyFacts[];
      /** Of the harness. */
      readonly version: string;
      /** When it began: ISO 8601 in UTC, as `2026-03-01T09:30:00.000Z`. Absent where nobody said it. */
      readonly started?: string;
      /** What the configuration says of the trainer, over what it declares. */
      readonly configured?: Semantics;
      /** What the trainer was measured to do and does not declare; it is held to this, too. */
      readonly measured?: Semantics;
      /** How a failure is seen again. */
      readonly replay?: Replay;
    }
  | { readonly type: 'property-start'; readonly id: string; readonly index: number; readonly total: number }
  | { readonly type: 'progress'; readonly id: string; readonly done: number; readonly total: number }
  /** A failure is being made smaller. For someone who is looking on; never written to a file. */
  | {
      readonly type: 'shrinking';
      readonly id: string;
      /** Smaller failing cases found so far. */
      readonly shrinks: number;
    }
  | { readonly type: 'property-end'; readonly result: PropertyResult }
  | {
      readonly type: 'run-end';
      readonly interrupted: boolean;
      readonly milliseconds: number;
    };
