// What was read, judged: told on the terminal, written, and turned into an exit code. Nothing that was not seen counts as
// a pass.
import type { PropertyResult, Replay, RunEvent } from '../../check/events.ts';
import { strangers } from '../../check/run.ts';
import type { History } from '../../monitor/history.ts';
import { rankedBy, rankingOf } from '../../monitor/ranking.ts';
import type { LogSource } from '../../monitor/read/files/log.ts';
import type { MonitorRule, SampleTokens } from '../../monitor/rule.ts';
import { judgeHistory, type ReadingFacts } from '../../monitor/run.ts';
import { viewOf, viewsOf } from '../../monitor/view.ts';
import type { MonitorPage } from '../../report/html/monitor/logs.ts';
import { type MonitorPrint, monitorLines, readWords } from '../../report/monitor/monitor.ts';
import { rankLines } from '../../report/monitor/ranking.ts';
import { terminalReport } from '../../report/terminal.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import type { RunRecord } from '../check/record.ts';
import { type Context, say } from '../context.ts';
import { exitCodeOf, HOLDS, NO_VERDICT } from '../exit.ts';
import { asKnown } from '../trace/known.ts';
import type { Baselines } from './baselines.ts';
import type { Held } from './rules.ts';

export interface Reading {
  readonly held: Held;
  readonly history: History;
  readonly source: LogSource;
  readonly tokens: SampleTokens | undefined;
  readonly baselines: Baselines | undefined;
  /** As typed. */
  readonly paths: readonly string[];
  /** All of them, for a report. */
  readonly name: string;
  /** What is typed to judge the same logs again, without --follow. */
  readonly again: string;
  readonly started: Date;
  readonly print: MonitorPrint;
  readonly quiet: boolean;
}

/** What has been found so far, for the reports of a job that goes on: it has no end yet. */
export function eventsSoFar(reading: Reading): readonly RunEvent[] {
  const events: RunEvent[] = [];
  judgeHistory(
    reading.history,
    reading.held.rules,
    factsOf(reading, false),
    (event) => {
      if (event.type !== 'run-end') events.push(event);
    },
    (result) => asKnown(result, reading.held.known),
  );
  return events;
}

export function pageOf({ history, source, baselines }: Reading): MonitorPage {
  return {
    files: source.files.length,
    points: history.points(),
    samples: history.samples(),
    runs: viewsOf(history),
    baselines: (baselines?.runs ?? []).map(viewOf),
    ranking: rankingOf(history.runs(), baselines?.runs),
    unread: [...history.complaints(), ...source.passedOver.map(({ why }) => why)],
  };
}

/** The exit code. `notes` are sentences about what was typed and did not fit what was read. */
export async function judgeReading(
  reading: Reading,
  interrupted: boolean,
  notes: readonly string[],
  record: RunRecord,
  context: Context,
): Promise<number> {
  const { held, history, source, print, quiet } = reading;
  const { width, paint } = print;
  const page = pageOf(reading);
  if (!quiet) say(context, ...monitorLines(page, print), '', ...tableOf(page, print));
  const warnings = [...notes, ...shortened(history.complaints())];
  say(context, ...warnings.flatMap((each) => bulleted(each, width).map(paint.orange)));
  const passed = passedOverLine(source);
  if (!quiet && passed !== undefined) say(context, ...bulleted(passed, width).map(paint.dim));
  if (!quiet && warnings.length > 0) say(context, '');
  const replay = replayOf(reading);
  const report = terminalReport({
    write: context.out.write,
    width,
    paint,
    replay,
    letters: print.letters,
    live: false,
    onScreen: context.out.isTty,
    quiet,
    note: readWords(page),
    now: () => performance.now(),
  });
  const left = strangers({ known: held.known, catalogue: held.catalogue });
  const events: RunEvent[] = [];
  const results = judgeHistory(
    history,
    held.rules,
    factsOf(reading, interrupted),
    (event) => {
      if (event.type === 'run-end') for (const result of left) events.push({ type: 'property-end', result });
      events.push(event);
    },
    (result) => asKnown(result, held.known),
  );
  const short = inShort(held.rules, results);
  for (const event of events) {
    record.emit(event);
    report(event.type === 'property-end' ? { ...event, result: short(event.result) } : event);
  }
  const written = await record.finish();
  const code = exitCodeOf([...results, ...left], interrupted);
  if (code === NO_VERDICT) say(context, paint.bold(wrap(noVerdict(page, results), width).join('\n')));
  return code === HOLDS && !written ? NO_VERDICT : code;
}

// --- helpers ---

/** Of several runs, with an empty line behind it. */
function tableOf({ ranking }: MonitorPage, print: MonitorPrint): readonly string[] {
  const by = rankedBy(ranking);
  const head = `beside each other${by === undefined ? '' : `, by ${by}`}`;
  return ranking.length === 0 ? [] : [print.paint.bold(head), ...rankLines(ranking, print), ''];
}

/** Of what could not be read; the page has them all. */
const MOST_COMPLAINTS = 10;
const MOST_PASSED_OVER = 3;

function factsOf(reading: Reading, interrupted: boolean): ReadingFacts {
  const { name, started, tokens, again } = reading;
  return {
    name,
    command: again.replace(/^npx /, ''),
    replay: replayOf(reading),
    started: started.toISOString(),
    milliseconds: Date.now() - started.getTime(),
    interrupted,
    ...(tokens === undefined ? {} : { tokens }),
  };
}

function replayOf({ again }: Reading): Replay {
  return { command: '', again, traced: true, logged: true };
}

function noVerdict(page: MonitorPage, results: readonly PropertyResult[]): string {
  if (page.points + page.samples === 0)
    return 'No verdict: no point and no rollout was read, so that nothing here is a pass.';
  const roles = page.runs.some(({ series }) => series.length > 0);
  const hint = roles
    ? ''
    : ' No series has a name that says what it is: --series NAME=ROLE does (docs/monitor.md).';
  return `No verdict: none of ${plural(results.length, 'rule')} could judge what was read.${hint}`;
}

/**
 * On a screen, rules whose series are not logged are one line, with what they ask for: one for each would be most of the
 * screen, in every run. Reports have them all.
 */
function inShort(
  rules: readonly MonitorRule[],
  results: readonly PropertyResult[],
): (result: PropertyResult) => PropertyResult {
  const missing = new Set(results.filter(({ verdict }) => verdict === 'unsupported').map(({ id }) => id));
  const asking = rules.filter(({ id }) => missing.has(id));
  const roles = new Set(asking.flatMap((rule) => rule.roles));
  const wanted = [...roles, ...(asking.some(({ samples }) => samples === true) ? ['rollouts'] : [])];
  const reason = `what ${asking.length === 1 ? 'it asks' : 'they ask'} for is not logged: ${wanted.join(', ')}`;
  return (result) => (result.verdict === 'unsupported' ? { ...result, reason } : result);
}

function bulleted(sentence: string, width: number): string[] {
  return wrap(harmless(sentence), width - '! '.length).map((line, at) => (at === 0 ? '! ' : '  ') + line);
}

function shortened(sentences: readonly string[]): readonly string[] {
  const more = sentences.length - MOST_COMPLAINTS;
  return more <= 0
    ? sentences
    : [...sentences.slice(0, MOST_COMPLAINTS), `And ${plural(more, 'more place')} that could not be read.`];
}

function passedOverLine({ passedOver }: LogSource): string | undefined {
  if (passedOver.length === 0) return undefined;
  const more = passedOver.length - MOST_PASSED_OVER;
  const said = passedOver.slice(0, MOST_PASSED_OVER).map(({ why }) => why);
  return [...said, ...(more > 0 ? [`And ${plural(more, 'more file')}.`] : [])].join(' ');
}
