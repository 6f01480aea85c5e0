// The way out: all that a command prints goes through the two screens made here. A reader that has gone (`check | head -1`) or a
// full disk ends no judgement: later text is lost, and the exit code stays true.
import type { Screen } from './context.ts';
import { HOLDS, NO_VERDICT } from './exit.ts';
import { inert } from './inert.ts';
import { asTyped } from './typed.ts';

export interface WayOut {
  readonly screen: Screen;
  /** Why the text since then was not delivered; undefined while all of it was. */
  lost(): Loss | undefined;
  /** Calls back once text is lost, until the returned function is called. */
  onLost(callback: () => void): () => void;
}

export interface Loss {
  /** Whoever read it has had enough: an ordinary end of `lossproof list | head`. */
  readonly isReaderGone: boolean;
  readonly why: string;
}

/** For a pipe or a CI log, unless COLUMNS says how wide its reader is. */
const COLUMNS_WITHOUT_TERMINAL = 80;

function columnsAsTold(): number {
  const told = Number(process.env.COLUMNS);
  return Number.isSafeInteger(told) && told > 0 ? told : COLUMNS_WITHOUT_TERMINAL;
}

export function openWayOut(stream: NodeJS.WriteStream): WayOut {
  let lost: Loss | undefined;
  const callbacks = new Set<() => void>();
  const fail = (error: NodeJS.ErrnoException): void => {
    if (lost !== undefined) return;
    lost = { isReaderGone: error.code === 'EPIPE', why: error.message };
    for (const callback of callbacks) callback();
  };
  stream.on('error', fail);
  return {
    screen: {
      write(text, as) {
        if (lost !== undefined) return;
        const isTty = stream.isTTY === true;
        const typed = asTyped(text);
        try {
          stream.write(as === 'document' && !isTty ? typed : inert(typed, { isTty }));
        } catch (error) {
          // Node writes files at once, and throws from here in some versions.
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      },
      isTty: stream.isTTY === true,
      get columns() {
        return stream.columns ?? columnsAsTold();
      },
      get rows() {
        return stream.rows;
      },
    },
    lost: () => lost,
    onLost(callback) {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
  };
}

/** Success promises that its output is whole, unless its reader chose to stop. A failure stands in any case. */
export function codeDelivered(code: number, lost: Loss | undefined): number {
  return code === HOLDS && lost !== undefined && !lost.isReaderGone ? NO_VERDICT : code;
}
