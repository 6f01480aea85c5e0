// One conversation with one process: requests in a window, answers in order, a deadline for the oldest request.
// It ends once, for one reason, and says what was left unanswered; what to do then is process.ts.
import { bound } from '../bounds.ts';
import { isAnswerLine, parseAnswer } from '../protocol/json.ts';
import type { Line } from '../protocol/lines.ts';
import { lineSplitter } from '../protocol/lines.ts';
import type { Op } from '../protocol/message.ts';
import { HELLO_ID, requestLine } from '../protocol/request.ts';
import { isJsonObject, type JsonObject } from '../protocol/result.ts';
import { type ChildExit, startChild } from './child.ts';
import type { ChildOptions } from './child-options.ts';
import type { TrainerFailure } from './failure.ts';
import { withoutTorchrun } from './torchrun.ts';

/** A request on its way. */
export interface Ticket {
  readonly op: Op | 'hello';
  readonly body: string;
  /** Deadline, from the later of its sending and the answer before it. */
  readonly milliseconds: number;
  answered(answer: JsonObject): void;
  /** It gets no answer any more. */
  failed(failure: TrainerFailure): void;
}

/** Why a conversation ended. `rest` is what stood on stdout behind the last newline. */
export type Ending =
  | { readonly kind: 'exit'; readonly exit: ChildExit; readonly rest: string }
  | { readonly kind: 'hang'; readonly milliseconds: number; readonly rest: string }
  /** It said behind its last answer that it cannot go on. */
  | { readonly kind: 'restart'; readonly rest: string }
  /** It closed its standard output and lived on. */
  | { readonly kind: 'closed'; readonly rest: string }
  | {
      readonly kind: 'garbage';
      readonly reason: 'no answer' | 'not UTF-8' | 'too long' | 'wrong id' | 'twice' | 'unasked';
      readonly line: string;
      /** Where the line stops being JSON. */
      readonly complaint?: string;
      /** The id that was due, where one was. */
      readonly due?: number;
    };

export interface Ended {
  readonly ending: Ending;
  /** Sent and not answered, oldest first. */
  readonly unanswered: readonly Ticket[];
  /** Still waiting for a place in the window. */
  readonly unsent: readonly Ticket[];
  readonly stderrTail: string;
}

export interface Connection {
  /** Of the process group; undefined when it never began. */
  readonly pid: number | undefined;
  send(ticket: Ticket): void;
  /** It is sent no more than so many requests, those that it was sent before included, hello aside. */
  retireAfter(requests: number): void;
  /** It has answered all that it may be sent, and more is asked: these wait, oldest first. It must be closed. */
  readonly retired: Promise<readonly Ticket[]>;
  /** The process failed, or was closed. */
  readonly ended: Promise<Ended>;
  /** Closes stdin, waits briefly, kills. */
  close(): Promise<void>;
  stderrTail(): string;
}

/**
 * Requests ahead of their answers. Enough to keep both sides busy across a pipe's wake-up (the rate is flat from
 * about 32 on); few enough that the unanswered ones can be asked again one by one after a crash.
 */
export const WINDOW = 256;
/** A trainer that is told to end by the end of its input gets this long before it is killed. */
const CLOSE_MILLISECONDS = bound({
  of: 'waiting for a trainer to end at the end of its input',
  wall: 500,
  over: 'it is killed; no verdict depends on it',
});

export function connect(options: ChildOptions, window = WINDOW): Connection {
  const child = startChild(options, receive);
  const splitter = lineSplitter();
  const flight: Ticket[] = [];
  const backlog: Ticket[] = [];
  let headId = HELLO_ID; // of flight[0]; ids count up from hello's
  let nextId = HELLO_ID;
  let outbox = '';
  let headSince: number | undefined; // undefined: nothing sent is unanswered
  let timer: NodeJS.Timeout | undefined;
  let timerAt = 0;
  let over = false;
  let lastId = Number.POSITIVE_INFINITY; // of the last request that it may be sent
  let retire: (waiting: readonly Ticket[]) => void = () => {};
  const retired = new Promise<readonly Ticket[]>((resolve) => {
    retire = resolve;
  });
  let settle: (ended: Ended) => void = () => {};
  const ended = new Promise<Ended>((resolve) => {
    settle = resolve;
  });
  void child.exited.then((exit) => end({ kind: 'exit', exit, rest: splitter.rest() }));
  void child.closedOutput.then(() => end({ kind: 'closed', rest: splitter.rest() }));

  function send(ticket: Ticket): void {
    if (over || flight.length >= window || nextId > lastId) backlog.push(ticket);
    else dispatch(ticket);
    retireIfDone();
  }

  function retireAfter(requests: number): void {
    lastId = HELLO_ID + requests;
    retireIfDone();
  }

  function retireIfDone(): void {
    if (nextId > lastId && flight.length === 0 && backlog.length > 0 && !over) retire(backlog);
  }

  function dispatch(ticket: Ticket): void {
    flight.push(ticket);
    // Everything asked in one turn of the event loop goes out in one write.
    if (outbox === '') setImmediate(flush);
    outbox += `${requestLine(nextId, ticket.body)}\n`;
    nextId += 1;
  }

  function flush(): void {
    const text = outbox;
    outbox = '';
    if (over) return;
    child.write(text);
    if (headSince === undefined) watch();
  }

  function receive(chunk: Buffer): void {
    if (over) return;
    for (const line of splitter.push(chunk)) {
      if (line !== '' && !take(line)) return;
    }
    while (flight.length < window && nextId <= lastId) {
      const ticket = backlog.shift();
      if (ticket === undefined) break;
      dispatch(ticket);
    }
    retireIfDone();
  }

  function take(line: Line): boolean {
    if (typeof line !== 'string') return garbage(line.fault, line.start);
    const parsed = parseAnswer(line);
    if ('complaint' in parsed) return garbage('no answer', line, parsed.complaint);
    if (!isAnswerLine(parsed.ok)) return garbage('no answer', line);
    const head = flight[0];
    const { id } = parsed.ok;
    if (id === headId - 1 && id >= HELLO_ID) return garbage('twice', line);
    if (head === undefined) return garbage('unasked', line);
    if (id !== headId) return garbage('wrong id', line);
    flight.shift();
    headId += 1;
    headSince = flight.length > 0 ? performance.now() : undefined;
    if (asksForRestart(parsed.ok)) {
      // What it was sent besides is given back before whoever asked can ask again.
      void end({ kind: 'restart', rest: '' });
      head.answered(parsed.ok);
      return false;
    }
    head.answered(parsed.ok);
    return true;
  }

  function garbage(
    reason: (Ending & { kind: 'garbage' })['reason'],
    line: string,
    complaint?: string,
  ): false {
    child.note(`[stdout] ${line}`);
    const said = complaint === undefined ? {} : { complaint };
    void end({ kind: 'garbage', reason, line, ...said, ...(flight.length > 0 ? { due: headId } : {}) });
    return false;
  }

  // One timer for all requests: it looks at the oldest one and arms itself again for what is left.
  function watch(): void {
    headSince = performance.now();
    const at = headSince + (flight[0]?.milliseconds ?? 0);
    if (timer !== undefined && timerAt <= at) return;
    clearTimeout(timer);
    arm(at);
  }

  function arm(at: number): void {
    timerAt = at;
    timer = setTimeout(look, at - performance.now());
  }

  function look(): void {
    timer = undefined;
    const head = flight[0];
    if (over || head === undefined || headSince === undefined) return;
    const at = headSince + head.milliseconds;
    if (performance.now() < at) {
      arm(at);
      return;
    }
    // The harness itself may have been busy: what already lies in the pipe is read before the verdict.
    const since = headSince;
    setImmediate(() =>
      setImmediate(() => {
        if (headSince === since) {
          const rest = splitter.rest();
          // Whether it lives on is not known yet, but that no answer can come is, and it is the reason.
          if (child.isSilent()) void end({ kind: 'closed', rest });
          else void end({ kind: 'hang', milliseconds: head.milliseconds, rest });
        } else if (timer === undefined) look();
      }),
    );
  }

  /** The process is dead before anybody hears of it, so that a fresh one never runs beside it. */
  async function end(ending: Ending): Promise<void> {
    if (over) return;
    over = true;
    clearTimeout(timer);
    await child.kill();
    report(ending);
  }

  async function close(): Promise<void> {
    over = true;
    clearTimeout(timer);
    child.endInput();
    // Who is at work on a request does not read the end of its input.
    const impatience = setTimeout(() => void child.kill(), flight.length > 0 ? 0 : CLOSE_MILLISECONDS);
    const exit = await child.exited;
    clearTimeout(impatience);
    report({ kind: 'exit', exit, rest: '' });
  }

  function report(ending: Ending): void {
    settle({ ending, unanswered: flight, unsent: backlog, stderrTail: withoutTorchrun(child.stderrTail()) });
  }

  return { pid: child.pid, send, retireAfter, retired, ended, close, stderrTail: child.stderrTail };
}

/** Of an answer that was not decoded yet. */
export const asksForRestart = ({ error }: JsonObject): boolean =>
  isJsonObject(error) && error.restart === true;
