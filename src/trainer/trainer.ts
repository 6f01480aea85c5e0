// The trainer under test as the rest of the harness sees it: something with a hello that answers ops. Whether
// it is a process (process.ts) or a TypeScript object (object.ts) is nobody else's business.
import type { Args, Hello, Ok, Op } from '../protocol/message.ts';
import type { TrainerFailure } from './failure.ts';

/** The answer to one request, seen from the harness: the protocol's four, or a process that failed. */
export type Outcome<T> =
  /** `written`: arguments that are not what they were before the call; absent: none that is known of. */
  | { readonly kind: 'ok'; readonly ok: T; readonly written?: readonly string[] }
  | { readonly kind: 'reject'; readonly why: string }
  | { readonly kind: 'skip'; readonly why: string }
  | { readonly kind: 'failure'; readonly failure: TrainerFailure };

/** A process that went on well was replaced by a fresh one, because that was asked for. */
export interface Renewal {
  readonly times: number;
  /** `after 10,000 requests`, `above 2 GB of memory`. */
  readonly why: string;
}

/** How a request is asked. */
export interface How {
  /** It is sent although the same request was answered before: what is in question is whether the answer is the same. */
  readonly anew?: boolean;
}

export interface Trainer {
  readonly hello: Hello;
  /** Token-aligned arguments in, token-aligned answer out; the layout is converted on the way. Never throws for what the trainer does. */
  ask<O extends Op>(op: O, args: Args<O>, how?: How): Promise<Outcome<Ok<O>>>;
  /** The request as it crosses the pipe, one JSON line without the newline, for `replay` and reports. */
  line<O extends Op>(op: O, args: Args<O>): string;
  /** The hello request as a line. */
  helloLine(): string;
  /** Stop this process and start a fresh one (no-op for objects without state to lose). */
  restart(): Promise<void>;
  /** End the trainer and everything it started. Safe to call twice. */
  stop(): Promise<void>;
  /** The last lines the trainer wrote to stderr (and stray stdout), newest last. */
  stderrTail(): string;
  /** How often its process was renewed so far, and why; absent for what is no process. */
  renewals?(): readonly Renewal[];
}
