// Finds the request that a process failed on. After a crash the oldest unanswered request is only a suspect: an
// SDK may have held back good answers. So the unanswered ones go to a fresh process strictly one at a time.
import { bound } from '../bounds.ts';
import type { JsonObject } from '../protocol/result.ts';
import { asksForRestart, type Connection, type Ended, type Ticket } from './connection.ts';

export interface Trial {
  /** Good answers, oldest first; all of them where nothing failed again. */
  readonly answers: readonly JsonObject[];
  /** How the process failed on the request after the last good answer. */
  readonly ended?: Ended;
}

export async function askOneByOne(connection: Connection, suspects: readonly Ticket[]): Promise<Trial> {
  const answers: JsonObject[] = [];
  for (const suspect of suspects) {
    const said = new Promise<{ answer: JsonObject }>((resolve) => {
      connection.send({ ...suspect, answered: (answer) => resolve({ answer }) });
    });
    const first = await Promise.race([said, connection.ended]);
    if ('ending' in first) return { answers, ended: first };
    // It answered; a second answer, a print or an exit right behind it is still its own.
    const after = asksForRestart(first.answer)
      ? await connection.ended
      : await Promise.race([settled(), connection.ended]);
    if (after?.ending.kind === 'restart') return { answers: [...answers, first.answer], ended: after };
    if (after !== undefined) return { answers, ended: after };
    answers.push(first.answer);
  }
  return { answers };
}

/** Longer than a line stays in a pipe or a small interpreter takes to die; paid only after a failure, once a suspect. */
const SETTLE_MILLISECONDS = bound({
  of: 'after a failure, waiting for more output after an answer',
  wall: 100,
  over: 'the next suspect is asked',
});

function settled(): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), SETTLE_MILLISECONDS));
}
