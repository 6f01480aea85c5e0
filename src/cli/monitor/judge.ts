// What was read, judged: told on the terminal, written, and turned into an exit code. Nothing that was not seen counts as
// a pass.
import type { PropertyResult, Replay, RunEvent } from '../../check/events.ts';
import { strangers } from '../../check/run.ts';
import { rankedBy, rankingOf } from '../../monitor/beside/ranking.ts';
import type { History } from '../../monitor/history/history.ts';
import type { LogSource } from '../../monitor/read/files/log.ts';
import type { MonitorRule, SampleTokens } from '../../monitor/rule.ts';
import { judgeHistory, type ReadingFacts, resultOf } from '../../monitor/run.ts';
import type { SeriesRole } from '../../monitor/series.ts';
import { viewOf, viewsOf } from '../../monitor/view.ts';
import type { MonitorPage } from '../../report/html/monitor/logs.ts';
import { type MonitorPrint, monitorLines, readWords } from '../../report/monitor/monitor.ts';
import { rankLines } from '../../report/monitor/ranking.ts';
import { judgedWords, unjudgedLines, unjudgedOf } from '../../report/monitor/unjudged.ts';
import { terminalReport } from '../../report/terminal.ts';
import { plural } from '../../report/text/plural.ts';
import { apart, harmless, wrap } from '../../report/text/visible.ts';
import type { RunRecord } from '../check/record.ts';
import { type Context, say, sayDocument } from '../context.ts';
import { exitCodeOf, HOLDS, NO_VERDICT } from '../exit.ts';
import { asKnown } from '../trace/known.ts';
import type { Baselines } from './baselines.ts';
import { gapNote } from './gap-note.ts';
import type { Held } from './rules.ts';
import { type News, type Telling, verdictLine } from './telling.ts';

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
  readonly telling: Telling;
  /** Standard output has lines of JSON and nothing else. */
  readonly json: boolean;
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

export function pageOf({ history, source, held, tokens, baselines }: Reading): MonitorPage {
  const results = held.rules.map((rule) => asKnown(resultOf(history, rule, tokens), held.known));
  return {
    files: source.files.length,
    points: history.points(),
    samples: history.samples(),
    runs: viewsOf(history),
    baselines: (baselines?.runs ?? []).map(viewOf),
    ranking: rankingOf(history.runs(), baselines?.runs),
    unread: [...history.complaints(), ...source.passedOver.map(({ why }) => why)],
    remarks: history.remarks(),
    unjudged: { words: judgedWords(results), reasons: unjudgedOf(results, held.rules) },
  };
}

/** What is still to be told. */
export interface Untold {
  /** Sentences about what was typed and did not fit what was read. */
  readonly notes: readonly string[];
  /** Violations since the last look. */
  readonly news: () => readonly News[];
}

/** The exit code. */
export async function judgeReading(
  reading: Reading,
  interrupted: boolean,
  { notes, news }: Untold,
  record: RunRecord,
  context: Context,
): Promise<number> {
  const { held, history, source, print, quiet, json, telling } = reading;
  const { width, paint } = print;
  const page = pageOf(reading);
  if (!quiet) say(context, ...monitorLines(page, print), '', ...tableOf(page, print));
  const warnings = [...notes, ...shortened(history.complaints()), ...shortened(history.remarks())];
  if (!json) say(context, ...warnings.flatMap((each) => bulleted(each, width).map(paint.orange)));
  const passed = passedOverLine(source);
  const told = [passed, gapNote(source.files, context)].filter((each) => each !== undefined);
  if (!quiet) say(context, ...told.flatMap((each) => bulleted(each, width).map(paint.dim)));
  if (!quiet && warnings.length > 0) say(context, '');
  const replay = replayOf(reading);
  const report = terminalReport({
    write: context.out.write,
    width,
    paint,
    replay,
    letters: print.letters,
    live: false,
    quiet,
    judgedOnly: true,
    before: () => (quiet ? [] : apart(unjudgedLines(results, held.rules, print))),
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
  for (const event of events) {
    record.emit(event);
    if (!json) report(event);
  }
  const written = await record.finish();
  const found = exitCodeOf([...results, ...left], interrupted);
  const tells = held.chosen || isTelling(history, held.rules, results);
  const verdict = found === HOLDS && !tells ? NO_VERDICT : found;
  const code = verdict === HOLDS && !written ? NO_VERDICT : verdict;
  if (json) {
    const several = history.runs().length > 1;
    sayDocument(
      context,
      ...[...notes, ...history.remarks()].flatMap(telling.complaint),
      ...news().flatMap((each) => telling.news(each, several)),
      verdictLine([...results, ...left], code),
    );
  } else if (verdict === NO_VERDICT)
    say(context, paint.bold(wrap(noVerdict(page, results), width).join('\n')));
  return code;
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
const MOST_NAMES = 6;

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
  const series = page.runs.flatMap((run) => run.series);
  const others = page.runs.flatMap((run) => run.others);
  const add = `--series NAME=loss (or =reward) names one${others.length > 0 ? `, of ${namesOf(others)}` : ''} (docs/monitor.md).`;
  if (results.some(({ verdict }) => verdict === 'pass'))
    return `No verdict: neither a loss nor a reward was judged, so that nothing tells whether the run learns. ${add}`;
  const hint = series.length > 0 ? '' : ` No series has a name that says what it is: ${add}`;
  return `No verdict: none of ${plural(results.length, 'rule')} could judge what was read.${hint}`;
}

/** Names that may be what is asked for, of series without a role. */
function namesOf(views: MonitorPage['runs'][number]['others']): string {
  const names = [...new Set(views.map(({ series }) => harmless(series.name)))];
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Series without which nothing says whether a run learns; evaluations are judged by fewer rules, and tell as well. */
const TELLING: readonly SeriesRole[] = ['loss', 'sft_loss', 'policy_loss', 'value_loss', 'reward'];

/** Whether a rule about one of these series judged, or one about rollouts. A learning rate that holds is no run that does. */
function isTelling(
  history: History,
  rules: readonly MonitorRule[],
  results: readonly PropertyResult[],
): boolean {
  const logged = new Set(
    history.runs().flatMap(({ series }) => series.flatMap(({ role }) => (role === undefined ? [] : [role]))),
  );
  const telling = TELLING.filter((role) => logged.has(role));
  const held = new Set(
    results.flatMap(({ id, verdict }) => (verdict === 'pass' || verdict === 'known' ? [id] : [])),
  );
  return rules.some(
    ({ id, roles, samples }) =>
      held.has(id) &&
      (telling.some((role) => roles.includes(role)) || (samples === true && history.samples() > 0)),
  );
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
