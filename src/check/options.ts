// What a run is asked to do.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Level, Semantics } from '../vocabulary.ts';
import type { PropertyResult, Replay } from './events.ts';
import type { Measured } from './profile/measured.ts';
import type { Property } from './property.ts';
import type { Requests } from './refusals.ts';
import type { Corpus } from './saved/corpus.ts';
import type { KnownFailures } from './saved/known.ts';
import type { StopSignal } from './stop.ts';

export interface RunOptions {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  /** From the configuration; merged over what hello declares. */
  readonly semantics?: Semantics;
  /** What it was measured to do and does not declare: it is held to this, too, and asked about what is in doubt. */
  readonly measured?: Measured;
  /** What is legal and often not meant fails the run as well, until it is declared. */
  readonly strict?: boolean;
  readonly properties: readonly Property[];
  /** Properties that the trainer could be held to, and that their level leaves out: for the report. */
  readonly notRun?: Partial<Readonly<Record<Level, number>>>;
  readonly seed: number;
  /** Cases per property. */
  readonly cases: number;
  /** Saved failures; absent: none are read or written. */
  readonly corpus?: Corpus;
  readonly known?: KnownFailures;
  /** Ids of every property there is, chosen or not: a known failure of none of them is unseen. Absent: not asked. */
  readonly catalogue?: readonly string[];
  /** Aborted: finish the cases in flight, report, stop. */
  readonly signal?: StopSignal;
  readonly shrinkMilliseconds?: number;
  /** Nobody reads the failure: the first case in trouble is told as it was drawn, not made smaller and not run again. */
  readonly verdictOnly?: boolean;
  /** Which of several trainers it is, for the report. */
  readonly name?: string;
  /** The trainer's command line as the user typed it, for the report. */
  readonly command: string;
  /** The trainer is the bundled example, for the report. */
  readonly bundled?: boolean;
  /** How a failure is seen again, for the report. */
  readonly replay?: Replay;
  /** When the run begins, for the report: ISO 8601 in UTC. */
  readonly started?: string;
  /** More trainers like the first, beside which they judge; absent: one judges all. */
  readonly workers?: Workers;
  /** Only this part of the properties is judged. */
  readonly shard?: ShardName;
  /** Results of the run that this one goes on with: they stand, and are told again. */
  readonly kept?: readonly PropertyResult[];
  /** How long a property takes, where that was measured before; and how telling it is, where time is short. */
  readonly costs?: Costs;
  /** What was asked and answered is counted here, so that several runs of one trainer know of each other. */
  readonly requests?: Requests;
  /** Of the clock: what has not ended by then is not judged, and the most telling properties have their turn first. */
  readonly mostMilliseconds?: number;
  /** Nothing more is begun once so many properties have failed. */
  readonly bail?: number;
}

export interface Workers {
  /** Trainers in all, the first included. */
  readonly count: number;
  /** Why they are fewer than somebody asked for, told at the beginning. */
  readonly fewer?: string;
  /** Starts the trainer of worker `number`, from 2. The run stops it. */
  start(number: number): Promise<{ readonly trainer: Trainer } | { readonly failure: TrainerFailure }>;
}

/** Part `index`, from 1, of `of`. */
export interface ShardName {
  readonly index: number;
  readonly of: number;
}

export interface Costs {
  /** Milliseconds a case; undefined where it has not been seen. */
  millisecondsOf(id: string): number | undefined;
  /** Runs in which it found something. */
  caught(id: string): number;
}
