// What a command may touch of the outside world, so that tests can be the outside world.
import type { Property } from '../check/property.ts';
import type { PipeStream } from '../monitor/read/stream.ts';
import { harmless } from '../visible.ts';
import { NO_VERDICT } from './exit.ts';

export interface Context {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Screen;
  readonly err: Screen;
  /** The words that start this program again; absent: it is no process of its own. */
  readonly self?: readonly string[];
  /** Loaded when needed: `--help` must not wait for the generators. */
  readonly properties: () => Promise<readonly Property[]>;
  /** Calls back at each Ctrl-C until the returned function is called. */
  readonly onInterrupt: (callback: () => void) => () => void;
  /** Calls back at a SIGTERM, or a SIGHUP as a closed terminal sends it, until the returned function is called; absent: nobody can send one. */
  readonly onTerminate?: (callback: (signal: Ending) => void) => () => void;
  /** Standard input, for commands that read from it; absent: there is none. */
  readonly input?: () => PipeStream;
  /** Puts a question to whoever sits at the terminal; absent: nobody does. */
  readonly ask?: (question: string) => Promise<string>;
  /** Calls back once standard output cannot be written any more, until the returned function is called. */
  readonly onOutputLost?: (callback: () => void) => () => void;
  /** Leaves at once, whatever is still open. */
  readonly exitNow: (code: number) => void;
  /** For long work that lets no timer in: ends the process where it is to end with the one that started it, and that is gone. */
  readonly endWithStarter?: () => void;
  /** To be done where an error that nobody caught ends the process, until the returned function is called. */
  readonly atCrash?: (will: () => Promise<void>) => () => void;
  /** When somebody began to wait, by `performance.now()`; absent: when the command is run. */
  readonly begun?: number;
}

/** What ends a program in order, beside Ctrl-C. */
export type Ending = 'SIGTERM' | 'SIGHUP';

export interface Screen {
  /** Text of others in it is shown, and not obeyed; a document is for a program, which reads it as it is. */
  readonly write: (text: string, as?: 'document') => void;
  readonly isTty: boolean;
  readonly columns: number;
  /** Of a terminal; undefined where that is not known. */
  readonly rows?: number | undefined;
}

/** Something that the user can put right, as one sentence. */
export interface Problem {
  readonly problem: string;
}

/** Whether what was to be opened or read is the sentence that says why it could not be. */
export function isProblem(value: object): value is Problem {
  return 'problem' in value;
}

/** What was thrown, for a sentence of a problem. */
export function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One line on stderr, and the exit code for "no verdict". */
export function refuse(context: Context, { problem }: Problem): number {
  context.err.write(`lossproof: ${harmless(problem)}\n`);
  return NO_VERDICT;
}

/** Text whose reader is a program: JSON, a page, commands of a CI job. Its format has escapes of its own. */
export function sayDocument(context: Context, ...lines: readonly string[]): void {
  for (const line of lines) context.out.write(`${line}\n`, 'document');
}

export function say(context: Context, ...lines: readonly string[]): void {
  for (const line of lines) context.out.write(`${line}\n`);
}
