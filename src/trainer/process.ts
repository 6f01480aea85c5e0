// A trainer that is a process: pipelined while all goes well; after a crash, a hang or garbage a fresh process,
// the unanswered requests one at a time until the culprit is known, and then pipelined again. Where it is asked for, a
// process that has grown old answers what is in flight, and a fresh one goes on with the rest (renewal.ts).
import { bound } from '../bounds.ts';
import { decodeAnswer } from '../protocol/decode.ts';
import { wireArgs, wireOf } from '../protocol/json.ts';
import type { Args, Ok, Op } from '../protocol/message.ts';
import { HELLO_ID, helloLine, requestBody, requestLine } from '../protocol/request.ts';
import type { JsonObject } from '../protocol/result.ts';
import { askOneByOne } from './careful.ts';
import type { ChildOptions, Renew } from './child-options.ts';
import { type Connection, type Ended, type Ticket, WINDOW } from './connection.ts';
import { endedFailure } from './ended.ts';
import { budgetFailure, changedHelloFailure, stoppedFailure, withReproduced } from './explain.ts';
import type { TrainerFailure } from './failure.ts';
import { open } from './open.ts';
import { outcomeOf } from './outcome.ts';
import { watchAges } from './renewal.ts';
import type { Outcome, Trainer } from './trainer.ts';

export interface TrainerOptions extends ChildOptions {
  /** Deadline for hello. Default 120 s: importing torch and loading a model from a cold disk takes most of it. */
  readonly helloMilliseconds?: number;
  /**
   * Deadline for an op, from the later of its sending and the answer before it. Default: 10 s, or three times what the start
   * took where that is more.
   */
  readonly opMilliseconds?: number;
  /** Restarts after failures, over the trainer's whole life. Default 20. */
  readonly maxRestarts?: number;
  /** Requests ahead of their answers. */
  readonly window?: number;
  /** A fresh process instead of one that has answered so many requests, or holds so many bytes. Costs none of `maxRestarts`. */
  readonly renew?: Renew;
}

export const HELLO_MILLISECONDS: number = bound({
  of: 'waiting for hello',
  wall: 120_000,
  over: 'exit code 2: the trainer was not started',
  option: '--hello-timeout',
});
/** A tiny batch takes milliseconds; ten seconds is a compilation on first use, more is a hang. */
export const OP_MILLISECONDS: number = bound({
  of: 'waiting for an answer; three times the start-up time where that is more',
  wall: 10_000,
  over: 'the process is killed, and the request is asked again in a fresh one; `error`, which says whether it answered then',
  option: '--op-timeout',
});
const OP_PER_START = 3;
/** A failing request costs two restarts (once to fail, once to be sure), so ten of them are seen before giving up. */
const MAX_RESTARTS = bound({
  of: 'restarts of a trainer that failed',
  steps: 20,
  over: 'nothing more is asked: `error`',
});

/** No op takes as long as the start: where that is slow, because the machine is busy, so is the rest. In whole seconds, as it is said. */
export function patienceAfter(startMilliseconds: number): number {
  const scaled = Math.min(OP_PER_START * startMilliseconds, HELLO_MILLISECONDS);
  return Math.max(OP_MILLISECONDS, 1_000 * Math.ceil(scaled / 1_000));
}

/** Starts the process and hears its hello. `failure` is why there is no trainer; nothing is left running then. */
export async function startTrainer(
  options: TrainerOptions,
  /** Hears how to end the process before it has said hello; afterwards that does nothing. */
  onStart: (giveUp: () => void) => void = () => {},
): Promise<{ readonly trainer: Trainer } | { readonly failure: TrainerFailure }> {
  const { maxRestarts = MAX_RESTARTS } = options;
  const openOptions = {
    ...options,
    helloMilliseconds: options.helloMilliseconds ?? HELLO_MILLISECONDS,
    window: options.window ?? WINDOW,
  };
  let isStarting = true;
  const begun = performance.now();
  const first = await open(openOptions, (starting) =>
    onStart(() => {
      if (isStarting) void starting.close();
    }),
  );
  isStarting = false;
  if ('failure' in first) return first;
  const { hello } = first;
  const opMilliseconds = options.opMilliseconds ?? patienceAfter(performance.now() - begun);
  const wire = wireOf(hello);
  const ages = watchAges(options.renew ?? {});
  const objection = ages.objection(first.connection);
  if (objection !== undefined) {
    await first.connection.close();
    return { failure: objection };
  }

  const queue: Ticket[] = []; // asked while there is no connection
  const pending = new Set<Ticket>(); // asked and not settled
  const whenIdle: (() => void)[] = [];
  let connection: Connection | undefined;
  let newest = first.connection; // also while it is being tried out
  let dead: TrainerFailure | undefined; // the answer to everything from now on
  let trouble: Ended | undefined; // the process failed with nothing asked: the next request pays for it
  let busy = Promise.resolve(); // restarts and recoveries, one at a time
  let restarts = 0;
  let lastTail = '';

  function ask<O extends Op>(op: O, args: Args<O>): Promise<Outcome<Ok<O>>> {
    if (hello.ops[op] === undefined) {
      return Promise.resolve({ kind: 'skip', why: `the trainer does not have the op ${op}` });
    }
    return new Promise((resolve) => {
      const settle = (outcome: Outcome<Ok<O>>) => {
        resolve(outcome);
        if (pending.delete(ticket) && pending.size === 0) for (const wake of whenIdle.splice(0)) wake();
      };
      const ticket: Ticket = {
        op,
        body: requestBody(op, args, wire),
        milliseconds: opMilliseconds,
        answered: (answer) => {
          settle(
            outcomeOf(op, decodeAnswer(op, answer, args, wire.layoutOf(op)), () => wireArgs(op, args, wire)),
          );
          if (connection !== undefined) ages.answered(connection);
        },
        failed: (failure) => settle({ kind: 'failure', failure }),
      };
      pending.add(ticket);
      submit(ticket);
    });
  }

  function submit(ticket: Ticket): void {
    if (dead !== undefined) ticket.failed(dead);
    else if (connection !== undefined) connection.send(ticket);
    else if (trouble === undefined) queue.push(ticket);
    else {
      const failure = endedFailure(trouble, undefined, options.command);
      trouble = undefined;
      exclusively(() => recover(failure, [ticket]));
    }
  }

  function use(next: Connection): void {
    connection = next;
    ages.begin(next);
    for (const ticket of queue.splice(0)) next.send(ticket);
    void next.ended.then((ended) => {
      if (connection === next) lost(ended);
    });
    void next.retired.then((waiting) => {
      if (connection !== next) return;
      connection = undefined;
      queue.unshift(...waiting);
      exclusively(() => renew(next));
    });
  }

  async function renew(old: Connection): Promise<void> {
    if (dead !== undefined || newest !== old) return; // stopped or restarted meanwhile
    const died = await Promise.race([old.ended, undefined]);
    if (died === undefined) await old.close();
    // It may have failed behind its last answer: who asks next pays for it, as ever.
    const ended = died ?? (await old.ended);
    if (died !== undefined || ended.ending.kind !== 'exit') {
      lost({ ...ended, unsent: [] });
      return;
    }
    lastTail = ended.stderrTail;
    const next = await freshConnection();
    if (next === undefined) return;
    ages.renewed(old);
    use(next);
  }

  function lost(ended: Ended): void {
    connection = undefined;
    lastTail = ended.stderrTail;
    queue.unshift(...ended.unsent);
    if (ended.ending.kind === 'restart') {
      queue.unshift(...ended.unanswered);
      exclusively(() => replace(ended));
      return;
    }
    const waiting = ended.unanswered.length > 0 ? ended.unanswered : queue.splice(0, 1);
    const [oldest] = waiting;
    if (oldest === undefined) {
      trouble = ended;
      return;
    }
    const op = ended.unanswered.length > 0 ? oldest.op : undefined;
    const failure = endedFailure(ended, op, options.command);
    exclusively(() => recover(failure, waiting));
  }

  /** It has answered, and cannot go on: nobody else is blamed for it. */
  async function replace(
    ended: Ended,
    suspects: readonly Ticket[] = [],
    answers: readonly JsonObject[] = [],
  ): Promise<void> {
    lastTail = ended.stderrTail;
    for (const [i, answer] of answers.entries()) suspects[i]?.answered(answer);
    queue.unshift(...suspects.slice(answers.length));
    const next = await reopen(endedFailure(ended, undefined, options.command));
    if (next !== undefined) use(next);
  }

  async function recover(failure: TrainerFailure, suspects: readonly Ticket[]): Promise<void> {
    const fresh = await reopen(failure);
    if (fresh === undefined) return;
    const { answers, ended } = await askOneByOne(fresh, suspects);
    if (ended?.ending.kind === 'restart') return replace(ended, suspects, answers);
    const culprit = suspects[ended === undefined ? 0 : answers.length];
    for (const [i, answer] of answers.entries()) {
      if (suspects[i] !== culprit) suspects[i]?.answered(answer);
    }
    if (culprit === undefined || culprit.op === 'hello') return;
    if (ended === undefined) {
      culprit.failed(withReproduced(failure, culprit.op, 'never'));
      use(fresh);
      return;
    }
    const again = failureOf(ended, culprit);
    queue.unshift(...suspects.slice(answers.length + 1));
    let alone: Ended | undefined = ended;
    // That process had answered others: whether they matter is seen where it is the only one.
    if (answers.length > 0) {
      const only = await reopen(again);
      if (only === undefined) return;
      const trial = await askOneByOne(only, [culprit]);
      alone = trial.ended;
      if (alone?.ending.kind === 'restart') return replace(alone, [culprit], trial.answers);
      if (alone === undefined) {
        culprit.failed(withReproduced(again, culprit.op, 'behind others'));
        use(only);
        return;
      }
    }
    const last = failureOf(alone, culprit);
    culprit.failed(withReproduced(last, culprit.op, 'alone'));
    const next = await reopen(last);
    if (next !== undefined) use(next);
  }

  function failureOf(ended: Ended, { op }: Ticket): TrainerFailure {
    lastTail = ended.stderrTail;
    const owed = ended.unanswered.length > 0 && op !== 'hello' ? op : undefined;
    return endedFailure(ended, owed, options.command);
  }

  /** A process in place of one that failed, within the budget; undefined, and everything failed, where there is none. */
  async function reopen(last: TrainerFailure): Promise<Connection | undefined> {
    if (dead !== undefined) return undefined; // stopped meanwhile
    if (restarts >= maxRestarts) return die(budgetFailure(restarts, last));
    restarts += 1;
    return freshConnection();
  }

  async function freshConnection(): Promise<Connection | undefined> {
    if (dead !== undefined) return undefined;
    const opened = await open(openOptions, (starting) => {
      newest = starting;
    });
    if ('failure' in opened) return die(opened.failure);
    if (JSON.stringify(opened.hello) !== JSON.stringify(hello)) {
      return die(changedHelloFailure(hello, opened.hello));
    }
    return opened.connection;
  }

  async function die(failure: TrainerFailure): Promise<undefined> {
    dead ??= failure;
    connection = undefined;
    queue.length = 0;
    await newest.close();
    for (const ticket of [...pending]) ticket.failed(dead);
    return undefined;
  }

  function exclusively(action: () => Promise<void>): void {
    busy = busy.then(action);
  }

  async function restart(): Promise<void> {
    if (pending.size > 0) await new Promise<void>((resolve) => void whenIdle.push(resolve));
    exclusively(async () => {
      if (dead !== undefined) return;
      trouble = undefined;
      connection = undefined;
      lastTail = newest.stderrTail();
      await newest.close();
      const next = await freshConnection();
      if (next !== undefined) use(next);
    });
    await busy;
  }

  async function stop(): Promise<void> {
    // Nobody waits for answers any more: who asked hears so at once, and not when the process has ended.
    dead ??= stoppedFailure();
    for (const ticket of [...pending]) ticket.failed(dead);
    await die(dead);
    await busy;
    await newest.close();
  }

  use(first.connection);
  const trainer: Trainer = {
    hello,
    ask,
    line: (op, args) => requestLine(HELLO_ID + 1, requestBody(op, args, wire)),
    helloLine: () => helloLine,
    restart,
    stop,
    stderrTail: () => newest.stderrTail() || lastTail,
    renewals: ages.renewals,
  };
  return { trainer };
}
