// A trainer that is a TypeScript object in the same process. It goes through the same layout and the same decoder
// as a process, so what holds here holds there; only the bytes are missing, and with them deadlines and crashes.
import { isDeepStrictEqual } from 'node:util';
import { decodeAnswer, decodeHello } from '../protocol/decode.ts';
import { wireArgs, wireOf } from '../protocol/json.ts';
import type { Args, Hello, Ok, Op } from '../protocol/message.ts';
import { HELLO_ID, helloLine, requestBody, requestLine } from '../protocol/request.ts';
import { raisedFailure } from './explain.ts';
import { outcomeOf } from './outcome.ts';
import type { Outcome, Trainer } from './trainer.ts';

export interface ObjectTrainerSpec {
  readonly hello: Hello;
  /** Arguments and answers are in the layout that hello declares, as they would cross the pipe. */
  readonly ops: { readonly [O in Op]?: (args: Args<O>) => Ok<O> | Promise<Ok<O>> };
}

/** Throw it from an op to refuse an input on purpose. */
export class Reject extends Error {
  override readonly name = 'Reject';
}

/** Refuses the input of the op that is running: `reject('a group of one has no deviation')`. */
export function reject(why: string): never {
  throw new Reject(why);
}

/** @throws TypeError with code ERR_TRAINER_OBJECT where the hello is wrong or names an op that is not there. */
export function objectTrainer(spec: ObjectTrainerSpec): Trainer {
  const decoded = decodeHello(spec.hello);
  if ('complaint' in decoded) throw misuse(`hello is wrong: ${decoded.complaint}`);
  const hello = decoded.ok;
  for (const op of Object.keys(hello.ops) as Op[]) {
    if (spec.ops[op] === undefined) throw misuse(`hello.ops names ${op}, but ops has no function ${op}`);
  }
  const wire = wireOf(hello);

  async function ask<O extends Op>(op: O, args: Args<O>): Promise<Outcome<Ok<O>>> {
    // The cast undoes TypeScript's union over all ops: the key and the argument come from the same O.
    const run = spec.ops[op] as ((args: Args<O>) => Ok<O> | Promise<Ok<O>>) | undefined;
    if (run === undefined || hello.ops[op] === undefined) {
      return { kind: 'skip', why: `the trainer does not have the op ${op}` };
    }
    const given = () => wireArgs(op, args, wire);
    try {
      // A copy, as a pipe would make: an op that writes into its arguments must not change the case.
      const sent = given();
      const received = structuredClone(sent);
      const ok = await run(received);
      const written = changedFields(sent, received);
      const answer = written.length === 0 ? { ok } : { ok, written };
      return outcomeOf(op, decodeAnswer(op, answer, args, wire.layoutOf(op)), given);
    } catch (error) {
      if (error instanceof Reject) return { kind: 'reject', why: error.message };
      return { kind: 'failure', failure: raisedFailure(op, thrown(error), given) };
    }
  }

  return {
    hello,
    ask,
    line: (op, args) => requestLine(HELLO_ID + 1, requestBody(op, args, wire)),
    helloLine: () => helloLine,
    restart: async () => {},
    stop: async () => {},
    stderrTail: () => '',
  };
}

/** The arguments that the op wrote into: they are no longer what they were sent as. */
function changedFields<T extends object>(sent: T, received: T): (keyof T)[] {
  return (Object.keys(sent) as (keyof T)[]).filter((name) => !isDeepStrictEqual(sent[name], received[name]));
}

function misuse(message: string): TypeError {
  return Object.assign(new TypeError(`objectTrainer: ${message}`), { code: 'ERR_TRAINER_OBJECT' });
}

function thrown(error: unknown): { message: string; traceback?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const message = `${error.name}: ${error.message}`;
  return error.stack === undefined ? { message } : { message, traceback: error.stack };
}
