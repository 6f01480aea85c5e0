// A fresh process that has said hello, or why there is none.
import { decodeHello } from '../protocol/decode.ts';
import type { Hello } from '../protocol/message.ts';
import { helloBody } from '../protocol/request.ts';
import { isJsonObject, type JsonObject, shown } from '../protocol/result.ts';
import type { ChildOptions } from './child-options.ts';
import { type Connection, connect } from './connection.ts';
import { endedFailure } from './ended.ts';
import { helloFailure, raisedFailure, refusedHelloFailure } from './explain.ts';
import type { TrainerFailure } from './failure.ts';

export interface OpenOptions extends ChildOptions {
  readonly helloMilliseconds: number;
  readonly window: number;
}

export interface Opened {
  readonly connection: Connection;
  readonly hello: Hello;
}

/** `onStart` hears of the process before it says hello, so that it can be stopped meanwhile. */
export async function open(
  options: OpenOptions,
  onStart: (connection: Connection) => void = () => {},
): Promise<Opened | { readonly failure: TrainerFailure }> {
  const connection = connect(options, options.window);
  onStart(connection);
  const said = new Promise<{ answer: JsonObject }>((resolve) => {
    connection.send({
      op: 'hello',
      body: helloBody,
      milliseconds: options.helloMilliseconds,
      answered: (answer) => resolve({ answer }),
      failed: () => {},
    });
  });
  const first = await Promise.race([said, connection.ended]);
  if ('ending' in first) return { failure: endedFailure(first, 'hello', options.command) };
  const hello = helloOf(first.answer);
  if (!('failure' in hello)) return { connection, hello };
  await connection.close();
  const stderrTail = connection.stderrTail();
  return { failure: stderrTail === '' ? hello.failure : { ...hello.failure, stderrTail } };
}

function helloOf(answer: JsonObject): Hello | { readonly failure: TrainerFailure } {
  const { error, reject, skip } = answer;
  if (isJsonObject(error)) {
    const { message, traceback } = error;
    const said = typeof message === 'string' ? message : shown(error);
    return {
      failure: raisedFailure(
        'hello',
        typeof traceback === 'string' ? { message: said, traceback } : { message: said },
      ),
    };
  }
  if (reject !== undefined) return { failure: refusedHelloFailure('reject', shown(reject)) };
  if (skip !== undefined) return { failure: refusedHelloFailure('skip', shown(skip)) };
  const decoded = decodeHello(answer.ok);
  return 'complaint' in decoded ? { failure: helloFailure(decoded.complaint) } : decoded.ok;
}
