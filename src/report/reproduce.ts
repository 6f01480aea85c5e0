// The end of every failure: how to see it again, by value first, without the harness second, by seed last.
import type { Failure } from '../check/events.ts';

/** What only the command line knows: how things are called here. */
export interface Replay {
  /** Usually `npx trainproof replay`. */
  readonly command: string;
  /** The adapter as typed in a shell, ready for `< file`; absent for a trainer in this process. */
  readonly adapter?: string;
  /** Folder of saved cases as seen from the shell; absent: nothing was saved. */
  readonly folder?: string;
  /** What to type where nothing was saved, if one line does it. */
  readonly again?: string;
}

/** Lines of the block, the first labelled. */
export function reproduceLines(failure: Failure, replay: Replay): string[] {
  const lines: string[] = [];
  if (replay.folder !== undefined) {
    lines.push(`${replay.command} ${failure.caseId}`);
    if (replay.adapter !== undefined && failure.lines.length > 0) {
      lines.push(`${replay.adapter} < ${quoted(`${replay.folder}/${failure.caseId}.ndjson`)}`);
    }
  }
  if (replay.again !== undefined) lines.push(replay.again);
  const path = failure.path === undefined ? '' : `, path ${failure.path}`;
  lines.push(`seed ${failure.seed}${path} (same version only)`);
  return lines.map((line, at) => (at === 0 ? LABEL : ' '.repeat(LABEL.length)) + line);
}

const LABEL = 'Reproduce   ';

/** For a POSIX shell. */
export function quoted(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
