// The end of every failure: how to see it again, by value first, without the harness second, by seed last.
import type { Failure, Replay } from '../check/events.ts';

/** Lines of the block, the first labelled. */
export function reproduceLines(failure: Failure, replay: Replay): string[] {
  const lines = [...commandsOf(failure, replay).map(({ command }) => command), seedOf(failure)];
  return lines.map((line, at) => (at === 0 ? LABEL : ' '.repeat(LABEL.length)) + line);
}

/** What to type: the harness again, the adapter alone, or whatever does it where nothing was saved. */
export function commandsOf(
  failure: Failure,
  { command, adapter, folder, again }: Replay,
): readonly { readonly way: 'harness' | 'adapter' | 'again'; readonly command: string }[] {
  const saved = folder === undefined ? undefined : quoted(`${folder}/${failure.caseId}.ndjson`);
  return [
    ...(saved === undefined ? [] : [{ way: 'harness' as const, command: `${command} ${failure.caseId}` }]),
    ...(saved === undefined || adapter === undefined || failure.lines.length === 0
      ? []
      : [{ way: 'adapter' as const, command: `${adapter} < ${saved}` }]),
    ...(again === undefined ? [] : [{ way: 'again' as const, command: again }]),
  ];
}

/** By seed, last: it holds for one version of the generators. */
export function seedOf({ seed, path }: Failure): string {
  return `seed ${seed}${path === undefined ? '' : `, path ${path}`} (same version only)`;
}

const LABEL = 'Reproduce   ';

/** For a POSIX shell. */
export function quoted(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
