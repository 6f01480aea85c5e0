// One event stream, many folds: the engine emits these, and every report is a pure function of them.
import type { Hello } from '../protocol/message.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Renewal } from '../trainer/trainer.ts';
import type { Level, Semantics, Verdict } from '../vocabulary.ts';
import type { Doubt } from './profile/doubt.ts';
import type { Coverage, Finding, Stage, Strip } from './property.ts';

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
  /** Of so many that were to be tried; absent where none was drawn. */
  readonly outOf?: number;
  readonly shrinks: number;
  readonly shrinkStopped?: 'time';
  /** Some of the failing cases from the one that was found first to the smallest, both included. */
  readonly steps?: readonly ShrinkStep[];
  /** Values of the smallest case that do not matter: with others in their place it failed each time. */
  readonly anyValue?: readonly CasePath[];
  /** Re-run on a fresh process: deterministic, on some fresh ones, only in the used process, or not again. */
  readonly confirmed: 'deterministic' | 'some processes' | 'state leak' | 'flaky' | 'not re-run';
  readonly seed: number;
  readonly path?: string;
  /** Request lines of the smallest case, hello first, to pipe to the adapter. */
  readonly lines: readonly string[];
  /** It came from the corpus of saved failures. */
  readonly saved?: boolean;
  /** It could not be saved, so that nothing replays it by its id. */
  readonly unsaved?: true;
  /** The trainer failed in the same way in this property, where the case was made small; here it is as it was drawn. */
  readonly sameAs?: string;
  /** One request has two answers, as this property shows: what fails of its op may be that. */
  readonly explainedBy?: string;
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

/** A label of every case that fails in the way of the failure shown, and of few that hold. */
export interface FailingLabel {
  readonly label: string;
  /** Cases that fail so: each has it. */
  readonly failing: number;
  /** Cases that hold, */
  readonly holding: number;
  /** and those of them that have it. */
  readonly holdingWith: number;
}

/** How many of the cases that fail in the way of the failure shown, and of those that hold, have each label. */
export interface ComparedLabels {
  readonly failing: number;
  readonly holding: number;
  readonly labels: Readonly<Record<string, { readonly failing: number; readonly holding: number }>>;
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
  /** What the failing cases share and those that hold lack, where enough of both were seen. */
  readonly failingLabels?: readonly FailingLabel[];
  /** All labels of both, where enough of both were seen. */
  readonly comparedLabels?: ComparedLabels;
  /** Why it has this verdict, where no failure says so. */
  readonly reason?: string;
  /** `ask` without a case: one-line declarations that answer what `reason` asks. */
  readonly answers?: readonly string[];
  /** Where a known failure is discussed, if the list of known failures says so. */
  readonly link?: string;
  readonly failure?: Failure;
  /** What else is wrong: the smallest case of each further kind, and on each further route. */
  readonly others?: readonly Failure[];
  /** Saved failures of earlier runs that now hold. */
  readonly fixed: readonly string[];
  /** Saved failures that the trainer's declarations rule out by now, with the reason; kept, and not judged. */
  readonly outdated?: readonly string[];
  /** Of the clock: its cases, shrinking and runs again. */
  readonly milliseconds: number;
}

/** Where more than a fifth of the cases was not judged, a pass says so. */
export const MUCH_LEFT_OUT = 0.2;

/** Refused by the trainer or set aside by the check. */
export function isMuchLeftOut({
  cases,
  rejected,
  setAside,
}: Pick<PropertyResult, 'cases' | 'rejected' | 'setAside'>): boolean {
  return rejected + setAside > cases * MUCH_LEFT_OUT;
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

/** A request that the trainer refused, where that cost a property its verdict. */
export interface Refusal {
  readonly op: string;
  /** What the refused requests have in common and the answered ones lack: `on route sft`, `with add_generation_prompt true`. */
  readonly request: readonly string[];
  readonly times: number;
  /** The trainer's own words, numbers aside the same each time. */
  readonly why: string;
  /** Properties that judged so few cases because of it that they have no verdict. */
  readonly lost: readonly string[];
  /** Properties that hold on less than four fifths of their cases because of it. */
  readonly weakened: readonly string[];
}

/** What no property could judge of an op that was asked, because its answers, or the adapter, leave it out. */
export interface Unjudged {
  readonly op: string;
  /** Follows "Not judged: ". */
  readonly what: string;
  /** What to write into the adapter. */
  readonly line: string;
}

/** How often each mark was seen, of how many requests. */
export interface Marks {
  total: number;
  readonly counts: Record<string, number>;
}

/** One way in which an op was refused, its words without their numbers. */
export interface RefusalReason {
  readonly op: string;
  readonly why: string;
  readonly marks: Marks;
  /** By property. */
  readonly of: Record<string, Marks>;
}

/** What was asked and refused, as plain JSON: the tallies of several runs add up. */
export interface RequestTally {
  /** By op. */
  readonly answered: Readonly<Record<string, Marks>>;
  /** By op: the optional fields that its answers had. */
  readonly given?: Readonly<Record<string, Marks>>;
  /** By op and words. */
  readonly refused: Readonly<Record<string, RefusalReason>>;
}

/** What a report may say of a property without knowing the catalogue. */
export interface PropertyFacts {
  readonly id: string;
  readonly title: string;
  readonly stage: Stage;
  readonly level: Level;
  readonly why: string;
  /** Rows of the bug catalogue. */
  readonly catches: readonly string[];
  /** What it asks of a trainer. Absent of rules that ask nothing. */
  readonly ops?: readonly string[];
  /** It compares with a formula: the items of the semantics that say which. */
  readonly settles?: readonly string[];
}

/** Which part of a run this is. All parts of a run have the same `of` and `total`, and each place is in one of them. */
export interface ShardFacts {
  /** From 1 to `of`. */
  readonly index: number;
  readonly of: number;
  /** Properties of the whole run. */
  readonly total: number;
  /** Of this part's properties among them, from 0. */
  readonly places: readonly number[];
}

/** What a run was asked, so far as it does not stand in its beginning: parts of one run, and a run that goes on, agree in it. */
export interface Fingerprints {
  /** Of the ids of all its properties, other parts' included. */
  readonly properties: string;
  /** Of the known failures that it was told. */
  readonly known: string;
  readonly strict: boolean;
}

/** Why a run ended before all of its properties had their turn, where nobody interrupted it. */
export type Stopped = 'time' | 'bail';

export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly seed: number;
      readonly cases: number;
      readonly hello: Hello;
      /** Which of several trainers it is: `grpo · tokenizer a · padding_side left`. Reports call the run so. */
      readonly name?: string;
      /** The trainer's command line, as typed. */
      readonly command: string;
      /** It is the bundled example and not the trainer of whoever reads this. */
      readonly bundled?: true;
      readonly properties: readonly PropertyFacts[];
      /** How many more the trainer could be held to, by the level that left them out. */
      readonly notRun?: Partial<Readonly<Record<Level, number>>>;
      /** Of the harness. */
      readonly version: string;
      /** When it began: ISO 8601 in UTC, as `2026-03-01T09:30:00.000Z`. Absent where nobody said it. */
      readonly started?: string;
      /** What the configuration says of the trainer, over what it declares. */
      readonly configured?: Semantics;
      /** What the trainer was measured to do and does not declare; it is held to this, too. */
      readonly measured?: Semantics;
      /** Measured, legal, and often not meant; what is in doubt beyond that is asked by a property. */
      readonly notes?: readonly Pick<Doubt, 'sentence' | 'answers'>[];
      /** How a failure is seen again. */
      readonly replay?: Replay;
      readonly shard?: ShardFacts;
      readonly asked?: Fingerprints;
      /** It goes on with the run before it in the same file, which was cut off. */
      readonly resumed?: true;
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
  | {
      readonly type: 'property-end';
      readonly result: PropertyResult;
      /** It was judged before the run was cut off that this one goes on with. */
      readonly kept?: true;
    }
  /** Something about the run itself that its reader should know: a worker was lost, a process renewed. */
  | { readonly type: 'notice'; readonly sentence: string }
  | {
      readonly type: 'run-end';
      readonly interrupted: boolean;
      readonly milliseconds: number;
      readonly stopped?: Stopped;
      /** Requests that the trainer refused, where that cost a property its verdict, the dearest first. */
      readonly refusals?: readonly Refusal[];
      /** What no property could judge of the ops that it asked, and what to write into the adapter. */
      readonly unjudged?: readonly Unjudged[];
      /** The trainer's processes were replaced while they went on well, because that was asked for: how often, and why. */
      readonly renewed?: readonly Renewal[];
      /** Of one part of a run: what `refusals` and `unjudged` of the whole are made of. */
      readonly tally?: RequestTally;
      /** Of a traced script: why nothing that failed is no pass. */
      readonly noVerdict?: string;
      /** Of a traced script: what its properties noticed, legal and often not meant. */
      readonly notes?: readonly Pick<Doubt, 'sentence' | 'answers'>[];
    };

export type RunStart = Extract<RunEvent, { type: 'run-start' }>;
export type RunEnd = Extract<RunEvent, { type: 'run-end' }>;
