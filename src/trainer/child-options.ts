// What a child process is started with, and how long it is kept. Apart from child.ts, because it is part of the public types: those must not lead
// to types of Node, which a program that imports this package may not have.

export interface ChildOptions {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** When a process that goes on well is replaced by a fresh one; what it remembered is lost. */
export interface Renew {
  /** So many requests are sent to one process. */
  readonly requests?: number;
  /** Resident, of the trainer and all that it started. Linux only. */
  readonly bytes?: number;
}
