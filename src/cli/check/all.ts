// Several trainers of one configuration, one after the other: each with a process of its own, all with one seed, in one
// record. Every one that was asked for is in every report, also where it never began: what is missing would be taken for
// what nobody asked for.
import type { RunEvent } from '../../check/events.ts';
import { inOrder } from '../../check/questions/questions.ts';
import { factsOf } from '../../check/run.ts';
import { isCutOff, type Run, runsOf } from '../../report/runs.ts';
import { runLine } from '../../report/summary.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { LOOKS } from '../../report/verdict.ts';
import { VERSION } from '../../version.ts';
import { FAILING } from '../../vocabulary.ts';
import { DEFAULT_CASES } from '../config/trainer-keys.ts';
import { type Context, say } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { widthOfScreen } from '../screen.ts';
import { commandOf } from '../trainer/trainer.ts';
import type { Asked } from './asked.ts';
import type { CheckOptions } from './options.ts';
import type { RunRecord } from './record.ts';

/** Checks one of them, and answers with its exit code. */
export type CheckOne = (
  asked: Asked,
  options: CheckOptions,
  context: Context,
  record: RunRecord,
) => Promise<number>;

export async function checkAll(
  all: readonly Asked[],
  seed: number,
  options: CheckOptions,
  context: Context,
  record: RunRecord,
  checkOne: CheckOne,
): Promise<number> {
  const paint = choosePaint(context.out.isTty, context.env);
  const told: RunEvent[] = [];
  const codes: number[] = [];
  const emit = (event: RunEvent): void => {
    if (event.type !== 'progress' && event.type !== 'shrinking') told.push(event);
    record.emit(event);
  };
  let ended: Promise<number> | undefined;
  /** Names those that have not begun, writes the reports and the summary. Once: a signal may be first. */
  const end = (why: string): Promise<number> => {
    ended ??= (async () => {
      const starts = told.filter(({ type }) => type === 'run-start').length;
      for (const asked of all.slice(starts))
        for (const event of neverBegun(asked, seed, options, why)) emit(event);
      const written = await record.finish();
      say(context, '', ...summary(runsOf(told), seed, context).map(paint.bold));
      const code = worst(starts < all.length ? [...codes, NO_VERDICT] : codes);
      if (code === FAILED && record.isKept() && context.out.isTty && options.quiet !== true)
        say(context, paint.dim('npx lossproof report   shows this as a page'));
      return code === HOLDS && !written ? NO_VERDICT : code;
    })();
    return ended;
  };
  for (const [at, asked] of all.entries()) {
    // Nobody is started who could not be asked anything.
    if (options.until !== undefined && performance.now() >= options.until)
      return await end('The time of --max-time was over before it.');
    if (options.quiet !== true) say(context, '', paint.bold(asked.plan.name ?? ''));
    const before = told.length;
    const heard = listening(context, () => {
      codes.push(INTERRUPTED);
      void end(STOPPED).then(() => context.exitNow(INTERRUPTED));
    });
    const share = shareOf(options, all.length - at, failingIn(told));
    const code = await checkOne(asked, share, heard.context, {
      ...record,
      emit,
      // The record is of all of them.
      finish: async () => true,
      isKept: () => false,
    });
    if (ended !== undefined) return await ended;
    codes.push(code);
    const own = told.slice(before);
    if (!own.some(({ type }) => type === 'run-start'))
      for (const event of neverBegun(asked, seed, options, heard.said())) emit(event);
    if (code === INTERRUPTED) return await end(STOPPED);
    if (options.bail !== undefined && failingIn(told) >= options.bail)
      return await end('--bail ended the check before it.');
  }
  return await end('');
}

const STOPPED = 'The check was interrupted before it.';

function failingIn(events: readonly RunEvent[]): number {
  return events.filter((event) => event.type === 'property-end' && FAILING.includes(event.result.verdict))
    .length;
}

/** What of the time, its start included, and of the failures that are waited for, is left for one of `many`. */
function shareOf(options: CheckOptions, many: number, failed: number): CheckOptions {
  const { until, bail } = options;
  const now = performance.now();
  return {
    ...options,
    ...(until === undefined ? {} : { until: now + (until - now) / many }),
    ...(bail === undefined ? {} : { bail: Math.max(1, bail - failed) }),
  };
}

/** The same world, that remembers what was said on standard error, and does not leave before the reports are written. */
function listening(
  context: Context,
  leave: () => void,
): { readonly context: Context; readonly said: () => string } {
  let said = '';
  const write = (text: string): void => {
    said += text;
    context.err.write(text);
  };
  return {
    context: { ...context, err: { ...context.err, write }, exitNow: leave },
    said() {
      const [first = '', ...more] = said
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean);
      const why = /^.*?[.!?](?=\s|$)/.exec(more.join(' '))?.[0];
      return `${first.replace(/^lossproof: /, '')}${why === undefined ? '.' : `: ${why}`}`;
    },
  };
}

/** The run of a trainer that did not start, or whose turn did not come. */
function neverBegun(
  { plan, properties }: Asked,
  seed: number,
  options: CheckOptions,
  why: string,
): readonly RunEvent[] {
  const { name = '', loaded, choice } = plan;
  return [
    {
      type: 'run-start',
      seed,
      cases: options.cases ?? loaded?.config.cases ?? DEFAULT_CASES,
      name,
      hello: { protocol: 1, name, ops: {} },
      command: commandOf(choice),
      properties: inOrder(properties).map(factsOf),
      version: VERSION,
    },
    { type: 'run-end', interrupted: true, milliseconds: 0, noVerdict: why },
  ];
}

/** A line each, behind all that was printed of them; broken on a screen only, for logs are searched. */
function summary(runs: readonly Run[], seed: number, context: Context): readonly string[] {
  const lines = runs.flatMap((run) => {
    const line = harmless(`${glyphOf(run)} ${run.start.name}: ${runLine(run)}`);
    const [first = '', ...more] = context.out.isTty ? wrap(line, widthOfScreen(context)) : [line];
    return [first, ...more.map((line) => `  ${line}`)];
  });
  return [`${runs.length} runs · seed ${seed}`, ...lines];
}

function glyphOf(run: Run): string {
  if (run.results.some(({ verdict }) => FAILING.includes(verdict))) return LOOKS.fail.glyph;
  if (isCutOff(run)) return LOOKS.interrupted.glyph;
  const holds = run.results.some(({ verdict }) => verdict === 'pass' || verdict === 'known');
  return holds ? LOOKS.pass.glyph : LOOKS.unsupported.glyph;
}

/** One that fails, fails all; else one without a verdict leaves all without. */
function worst(codes: readonly number[]): number {
  return [INTERRUPTED, FAILED, NO_VERDICT].find((code) => codes.includes(code)) ?? HOLDS;
}
