// `golden record` and `golden accept`: answers written down. Neither writes where it was interrupted, and accept writes what was
// named and nothing else.

import { NO_OP } from '../../check/support.ts';
import { changeWords } from '../../golden/accepted.ts';
import { GOLDEN_SET } from '../../golden/case.ts';
import { NOT_IN_THE_SET } from '../../golden/cases/index.ts';
import type { Entry } from '../../golden/entry.ts';
import type { GoldenFile } from '../../golden/file.ts';
import { readGolden, writeGolden } from '../../golden/folder.ts';
import { type Asking, filesWith, type Recording, recording } from '../../golden/record.ts';
import { entriesOf } from '../../golden/run.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import { makePlan } from '../check/plan.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED } from '../exit.ts';
import { widthOfScreen } from '../screen.ts';
import { type Session, sayBundled, withSession } from '../trainer/session.ts';
import { askingOf, type GoldenOptions, goldenLine, namedIds, openFolder, type Recorded } from './open.ts';

export interface RecordGoldenOptions extends GoldenOptions {
  readonly force?: boolean;
}

export interface AcceptGoldenOptions extends GoldenOptions {
  readonly all?: boolean;
}

/** The exit code. */
export async function recordGolden(
  options: RecordGoldenOptions,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  const recorded = openFolder(options, context);
  if (isProblem(recorded)) return refuse(context, recorded);
  if (recorded.files.length > 0 && options.force !== true)
    return refuse(context, {
      problem: `${options.dir} holds golden files already: \`golden check\` compares with them, \`golden accept ID...\` takes a change, \`golden record --force\` records all of them anew`,
    });
  say(context, `lossproof ${VERSION} · recording golden set ${GOLDEN_SET}`);
  sayBundled(plan, context);
  return withSession(plan, context, async (session) => {
    const asking = askingOf(session);
    const made = await recording(asking);
    if (session.interrupts.signal.aborted) return interrupted(context);
    if (made.entries.length === 0) return refuse(context, { problem: 'the trainer answered no golden case' });
    // What the trainer crashed on has not gone: its answer stays the recorded one.
    const kept = new Set([...made.entries, ...made.troubles.map(([id]) => ({ id }))].map(({ id }) => id));
    const gone = [...entriesOf(recorded.files).keys()].filter((id) => !kept.has(id));
    const files = filesWith(asking, recorded.files, made.entries, gone);
    const problem = writeGolden(recorded.folder, files);
    if (problem !== undefined) return refuse(context, { problem });
    if (recorded.files.length > 0) sayChanges(recorded.files, made.entries, gone, asking, context);
    sayStages(made, context);
    sayTroubles(made, context);
    const place = `${plural(made.entries.length, 'entry', 'entries')} in ${options.dir}`;
    say(
      context,
      recorded.files.length > 0 && files.length === 0
        ? `${place}: nothing changed`
        : `written: ${place}. Look at them, then commit them.`,
      `${goldenLine(['check'], options, plan)}   compares with them`,
    );
    return made.troubles.length > 0 ? FAILED : HOLDS;
  });
}

/** The exit code. */
export async function acceptGolden(
  names: readonly string[],
  options: AcceptGoldenOptions,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  if (names.length === 0 && options.all !== true)
    return refuse(context, {
      problem:
        "say which entries: `golden accept ID...`, with globs as in 'mask/*'; `--all` takes every change",
    });
  if (names.length > 0 && options.all === true)
    return refuse(context, { problem: '--all takes every change; name entries or say --all, not both' });
  if (names.some((name) => /^\*+(\/\**)?$/.test(name)))
    return refuse(context, {
      problem: `"${names.find((name) => name.startsWith('*'))}" means everything; say --all`,
    });
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  const recorded = openFolder(options, context);
  if (isProblem(recorded)) return refuse(context, recorded);
  if (recorded.files.length === 0)
    return refuse(context, {
      problem: `${options.dir} holds no golden files; \`${goldenLine(['record'], options, plan)}\` writes them`,
    });
  sayBundled(plan, context);
  return withSession(plan, context, (session) =>
    acceptWith(session, options.all === true ? ['*'] : names, recorded, context),
  );
}

async function acceptWith(
  session: Session,
  names: readonly string[],
  { folder, files }: Recorded,
  context: Context,
): Promise<number> {
  const all = askingOf(session);
  const ids = namedIds(names, all, files);
  if (isProblem(ids)) return refuse(context, ids);
  const asking: Asking = { ...all, wanted: (id) => ids.has(id) };
  const made = await recording(asking);
  if (session.interrupts.signal.aborted) return interrupted(context);
  const troubled = new Set(made.troubles.map(([id]) => id));
  const answered = new Set(made.entries.map(({ id }) => id));
  // The trainer took its time: another `accept`, or an editor, may have written meanwhile.
  const latest = readGolden(folder);
  if (isProblem(latest)) return refuse(context, latest);
  const before = entriesOf(latest.files);
  const gone = [...ids].filter((id) => before.has(id) && !answered.has(id) && !troubled.has(id));
  const problem = writeGolden(folder, filesWith(asking, latest.files, made.entries, gone));
  if (problem !== undefined) return refuse(context, { problem });
  const changes = sayChanges(latest.files, made.entries, gone, asking, context);
  sayTroubles(made, context);
  const same = made.entries.length - changes + gone.length;
  if (changes === 0 && made.troubles.length === 0)
    say(context, `nothing to accept: ${plural(same, 'entry is', 'entries are')} as recorded`);
  return made.troubles.length > 0 ? FAILED : HOLDS;
}

// --- helpers ---

function interrupted(context: Context): number {
  say(context, 'interrupted: nothing was written');
  return INTERRUPTED;
}

/** A line for each entry that is another one now; how many there are. */
function sayChanges(
  files: readonly GoldenFile[],
  entries: readonly Entry[],
  gone: readonly string[],
  asking: Asking,
  context: Context,
): number {
  const changes = changeWords(files, entries, gone, asking);
  for (const [id, words] of changes)
    say(context, ...wrap(harmless(`accepted ${id}: ${words}`), widthOfScreen(context)));
  return changes.length;
}

function sayStages({ entries, unasked }: Recording, context: Context): void {
  const counts = new Map<string, number>();
  for (const { id } of entries) {
    const stage = id.split('/')[0] ?? id;
    counts.set(stage, (counts.get(stage) ?? 0) + 1);
  }
  const words = [...counts].map(([stage, count]) => `${stage} ${count}`).join(', ');
  say(context, '', ...wrap(`recorded: ${words}`, widthOfScreen(context)));
  const reasons = new Map<string, number>();
  for (const [, why] of unasked) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const told = [...reasons]
    .filter(([why]) => !why.startsWith(NO_OP))
    .map(([why, count]) => `${why} (${plural(count, 'case')})`);
  const lacking = [...reasons.keys()].filter((why) => why.startsWith(NO_OP));
  if (lacking.length > 0) told.unshift(`${plural(lacking.length, 'op')} that the adapter does not offer`);
  if (told.length > 0)
    say(context, ...wrap(harmless(`cannot be asked: ${told.join('; ')}`), widthOfScreen(context)));
  say(context, `never in the set: ${NOT_IN_THE_SET.join(', ')}`);
}

function sayTroubles({ troubles }: Recording, context: Context): void {
  for (const [id, why] of troubles)
    say(context, ...wrap(harmless(`! not recorded: ${id}: ${why}`), widthOfScreen(context)));
}
