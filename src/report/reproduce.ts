// The end of every failure: how to see it again, by value first, without the harness second, by seed last.
import type { Failure, Replay } from '../check/events.ts';

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
