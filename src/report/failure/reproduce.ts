// The end of every failure: how to see it again, by value first, without the harness second, by seed last; and, for
// those who read of it on another machine, as a draw that needs nothing of the run.
import type { Failure, PropertyResult, Replay } from '../../check/events.ts';
import { LEVELS } from '../../vocabulary.ts';
import type { Run } from '../runs.ts';
import { harmless } from '../text/visible.ts';

/** What a run is seen again with where its events do not say. */
export const REPLAY: Replay = { command: 'npx lossproof replay' };

/** The shortest way, labelled. `[]` for a traced script that names none. */
export function reproduceLine(failure: Failure, replay: Replay): string[] {
  return reproduceLines(failure, replay).slice(0, 1);
}

/** Every way, the first labelled: what `replay` prints, and what is read on another machine. */
export function reproduceLines(failure: Failure, replay: Replay): string[] {
  const seed = replay.traced === true ? [] : [seedOf(failure)];
  const lines = [...commandsOf(failure, replay).map(({ command }) => command), ...seed];
  return lines.map((line, at) => (at === 0 ? LABEL : ' '.repeat(LABEL.length)) + line);
}

/** What to type: the harness again, the adapter alone, or whatever does it where nothing was saved. */
export function commandsOf(
  failure: Failure,
  { command, adapter, folder, again }: Replay,
): readonly { readonly way: 'harness' | 'adapter' | 'again'; readonly command: string }[] {
  const saved =
    folder === undefined || failure.unsaved ? undefined : quoted(`${folder}/${failure.caseId}.ndjson`);
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

export function replayFor({ start }: Run): Replay {
  return start.replay ?? REPLAY;
}

/** The case by its id; undefined where it was not saved. */
export function replayLine(run: Run, { caseId, unsaved }: Failure): string | undefined {
  const { command, folder } = replayFor(run);
  return folder === undefined || unsaved ? undefined : `${command} ${caseId}`;
}

/** `againLine` of a property; undefined where drawing again shows nothing, because only the list of known failures is wrong. */
export function againFor(run: Run, { id, verdict }: PropertyResult): string | undefined {
  return verdict === 'stale' || verdict === 'unseen' ? undefined : againLine(run, id);
}

/** The same draw again, on a machine that has nothing of this run: one property, or all of the run's. */
export function againLine({ start }: Run, id?: string): string {
  if (start.replay?.again !== undefined) return start.replay.again;
  const level = LEVELS.findLast((each) => start.properties.some((property) => property.level === each));
  const all = level === undefined || level === 'must' ? '' : ` --level ${level}`;
  const which = id === undefined ? all : ` --only ${quoted(id)}`;
  const command = start.command === '' ? '' : ` -- ${start.command}`;
  // Of a configuration, which says more of it than its command.
  const trainer = start.name === undefined ? undefined : ` --trainer ${quoted(start.name)}`;
  return harmless(
    `npx lossproof check${trainer ?? ''} --seed ${start.seed} --cases ${start.cases}${which}${trainer === undefined ? command : ''}`,
  );
}

const LABEL = 'Reproduce   ';

/** For a POSIX shell. */
export function quoted(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
