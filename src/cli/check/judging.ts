// One run of `check` with a trainer that has said hello: what was measured of it, the run, and what is left behind.
import { resolve } from 'node:path';
import type { PropertyResult } from '../../check/events.ts';
import { backendSentence, closeKernel } from '../../check/kernel.ts';
import type { RunOptions } from '../../check/options.ts';
import { bearingOn } from '../../check/profile/bearing.ts';
import { type Measured, NOT_MEASURED } from '../../check/profile/measured.ts';
import type { Property } from '../../check/property.ts';
import { run, startOf, worldOf } from '../../check/run.ts';
import { openCorpus } from '../../check/saved/corpus.ts';
import { stopOf } from '../../check/stop.ts';
import { supportOf } from '../../check/support.ts';
import { semanticsWords } from '../../report/profile.ts';
import { isJudged } from '../../report/runs.ts';
import { terminalReport } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { wrap } from '../../report/text/visible.ts';
import { LEVELS, type Semantics } from '../../vocabulary.ts';
import { DEFAULT_CASES } from '../config/trainer-keys.ts';
import { rememberCommand } from '../consent/consent.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { exitCodeOf, FAILED, HOLDS, NO_VERDICT, whyNoVerdict } from '../exit.ts';
import { knownScore } from '../mutate/known-score.ts';
import { widthOfScreen } from '../screen.ts';
import { casesFolder } from '../trainer/cases-folder.ts';
import type { WorkersAsked } from '../trainer/memory.ts';
import { measuredOf } from '../trainer/open.ts';
import { replayOf, type Session } from '../trainer/session.ts';
import { commandOf } from '../trainer/trainer.ts';
import type { StartedAhead } from './ahead.ts';
import { openHistory } from './history.ts';
import type { CheckOptions } from './options.ts';
import type { Plan } from './plan.ts';
import type { RunRecord } from './record.ts';
import { keptOf, type Resumed } from './resume.ts';
import { type ChosenRun, leftOutOf, rewriteKnown } from './update-known.ts';

interface ChosenForRun extends ChosenRun {
  readonly resumed: Resumed | undefined;
  /** The workers beside the first. */
  readonly others: StartedAhead;
  readonly workers?: WorkersAsked;
}

/** Judges the chosen properties, prints and writes what came of it, and says with which code to end. */
export async function checkWith(
  session: Session,
  options: CheckOptions,
  context: Context,
  record: RunRecord,
  { resumed, others, workers, ...chosen }: ChosenForRun,
): Promise<number> {
  const { trainer, tokenizer, interrupts } = session;
  interrupts.onPatienceOver(others.giveUp);
  const measured = options.profile ? await measuredInTime(session, options) : NOT_MEASURED;
  const supported = supportedOf(session, chosen.properties, measured.semantics);
  const words = semanticsWords(bearingOn(measured.semantics, supported));
  const width = widthOfScreen(context);
  if (words !== undefined && options.quiet !== true)
    say(context, ...wrap(`measured, not declared: ${words}`, width));
  const leftOut = leftOutOf(chosen);
  if (leftOut.length > 0 && options.quiet !== true)
    say(
      context,
      ...wrap(`known failures that this run leaves out (--only, --level): ${leftOut.join(', ')}`, width),
    );
  const { choice, loaded, name } = session.plan;
  const kept = keepsCases(options, session.plan);
  if (kept) rememberCommand(commandOf(choice), context);
  const replay = replayOf(session.plan, context, kept);
  const paint = choosePaint(context.out.isTty, context.env);
  const report = terminalReport({
    write: context.out.write,
    width,
    paint,
    replay,
    live: context.out.isTty && options.quiet !== true && !context.env.CI && context.env.TERM !== 'dumb',
    quiet: options.quiet === true,
    labels: options.labels === true,
    rows: options.rows === true,
    supported: new Set(supported.map(({ id }) => id)),
    now: () => performance.now(),
  });
  const history = openHistory(context);
  const asked: RunOptions = {
    trainer,
    tokenizer,
    ...chosen,
    known: chosen.known.of(trainer.hello),
    cases: options.cases ?? loaded?.config.cases ?? DEFAULT_CASES,
    measured,
    strict: options.strict === true,
    ...notRunOf(supportedOf(session, chosen.leftOut, measured.semantics)),
    replay,
    started: new Date().toISOString(),
    ...(session.semantics === undefined ? {} : { semantics: session.semantics }),
    ...(kept ? { corpus: openCorpus(resolve(context.cwd, casesFolder(name))) } : {}),
    ...(options.shrinkTime === undefined ? {} : { shrinkMilliseconds: options.shrinkTime * 1_000 }),
    ...(options.shard === undefined ? {} : { shard: options.shard }),
    ...timeLeft(options),
    ...(options.bail === undefined ? {} : { bail: options.bail }),
    ...(workers === undefined ? {} : { workers: { ...workers, start: others.take } }),
    costs: history,
    signal: interrupts.signal,
    ...(name === undefined ? {} : { name }),
    command: commandOf(choice),
    bundled: choice.from === 'bundled',
  };
  const before = resumed === undefined ? undefined : keptOf(resumed, startOf(asked));
  if (before !== undefined && isProblem(before)) return refuse(context, before);
  if (before !== undefined && resumed !== undefined) say(context, keptLine(before, resumed));
  const results = await run(before === undefined ? asked : { ...asked, kept: before }, (event) => {
    record.emit(event);
    report(event);
  });
  if (kept && options.shard === undefined && choice.from !== 'bundled')
    history.remember(results.filter(({ id }) => before?.every((kept) => kept.id !== id) ?? true));
  const backend = await backendSentence();
  if (backend !== undefined && options.quiet !== true) say(context, ...wrap(backend, width));
  await closeKernel();
  const worth = options.quiet === true ? undefined : knownScore(session.plan, context);
  if (worth !== undefined) say(context, ...wrap(worth, width).map(paint.dim));
  const written = await record.finish();
  const counted = options.updateKnown
    ? rewriteKnown(results, chosen, trainer.hello, !results.every(isJudged), context)
    : results;
  const code = codeOf(counted, interrupts.signal.aborted, chosen.properties, options);
  if (code === NO_VERDICT && results.every(isJudged)) {
    context.err.write(`lossproof: ${whyNoVerdict(counted, chosen.properties)}\n`);
  }
  if (code === FAILED && record.isKept() && context.out.isTty && options.quiet !== true)
    say(context, paint.dim('npx lossproof report   shows this as a page'));
  return code === HOLDS && !written ? NO_VERDICT : code;
}

/** Of the time in which a run must have ended: none is left where starting and measuring have taken it all. */
function timeLeft({ until }: CheckOptions): Pick<RunOptions, 'mostMilliseconds'> {
  return until === undefined ? {} : { mostMilliseconds: until - performance.now() };
}

/** What was measured, or nothing where it was cut off: half of it is no ground to ask for anything. */
async function measuredInTime(session: Session, options: CheckOptions): Promise<Measured> {
  const { signal } = stopOf({ signal: session.interrupts.signal, ...timeLeft(options) });
  const measured = await measuredOf(session, signal);
  return signal.aborted ? NOT_MEASURED : measured;
}

/** A part of a run has no verdict of its own: where nothing fails in it, that of the whole is open. */
function codeOf(
  results: readonly PropertyResult[],
  interrupted: boolean,
  properties: readonly Property[],
  { shard }: Pick<CheckOptions, 'shard'>,
): number {
  const code = exitCodeOf(results, interrupted, properties);
  const isOpen = shard !== undefined && code === NO_VERDICT && results.every(isJudged);
  return isOpen ? HOLDS : code;
}

function keptLine(kept: readonly PropertyResult[], { run, file }: Resumed): string {
  const begun = run.start.started === undefined ? '' : ` begun ${run.start.started}`;
  return `going on with the run in ${file}${begun}: ${plural(kept.length, 'verdict')} of ${run.start.properties.length} ${kept.length === 1 ? 'stands' : 'stand'}`;
}

/** Of these properties, those that can run on this trainer: the others take no time. */
function supportedOf(
  { trainer, tokenizer, semantics }: Session,
  properties: readonly Property[],
  measured: Semantics,
): readonly Property[] {
  const world = worldOf(trainer, tokenizer, semantics, measured);
  return properties.filter((property) => supportOf(property, world) === undefined);
}

/** How many a lower level left out, by their own. */
function notRunOf(leftOut: readonly Property[]): Pick<RunOptions, 'notRun'> {
  if (leftOut.length === 0) return {};
  const counts = LEVELS.map((each) => [each, leftOut.filter(({ level }) => level === each).length] as const);
  return { notRun: Object.fromEntries(counts.filter(([, count]) => count > 0)) };
}

/** Failing cases are saved and run first; the run itself is remembered in any case. */
function keepsCases({ corpus }: CheckOptions, { loaded }: Plan): boolean {
  return corpus && loaded?.config.corpus !== false;
}
