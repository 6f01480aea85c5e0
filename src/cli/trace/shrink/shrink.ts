// --shrink: the smallest data set with which a script still breaks the same property, found by running it again with
// fewer and shorter rows. The user's own file is never touched: the script is given the path of another one.
import { rmSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { PropertyResult } from '../../../check/events.ts';
import { MOST_GIVEN_BYTES, readBytes } from '../../../outside/file.ts';
import { makeFolders } from '../../../outside/folder.ts';
import { parseStrict } from '../../../outside/json.ts';
import { quoted } from '../../../report/failure/reproduce.ts';
import { choosePaint } from '../../../report/text/paint.ts';
import { plural } from '../../../report/text/plural.ts';
import { harmless, wrap } from '../../../report/text/visible.ts';
import { traceRowLines } from '../../../report/trace/trace.ts';
import type { Ledger } from '../../../trace/ledger.ts';
import { ledgerOf } from '../../../trace/ledger-of.ts';
import { judgeLedger } from '../../../trace/run.ts';
import { type Entry, entriesOf } from '../../../view/read.ts';
import { LEVELS } from '../../../vocabulary.ts';
import { type Context, isProblem, say } from '../../context.ts';
import { writeWhole } from '../../outputs/written.ts';
import { widthOfScreen } from '../../screen.ts';
import { joinCommand } from '../../trainer/words.ts';
import { readTraceFolder, type TraceFiles } from '../folder.ts';
import { historyOptions, type TraceRun } from '../judge.ts';
import { runScript } from '../script.ts';
import { shorterRows } from './row.ts';
import { smallest } from './search.ts';
import { pointedAt } from './words.ts';

export interface ShrinkAsk {
  readonly command: readonly string[];
  /** Of the trace that failed. */
  readonly folder: string;
  /** How long that run took. */
  readonly seconds: number;
  readonly run: TraceRun;
  readonly results: readonly PropertyResult[];
  readonly ledger: Ledger;
}

/** Looks for it, and says what was found. Nothing where no property fails that a run with fewer rows could break. */
export async function shrinkTrace(ask: ShrinkAsk, context: Context): Promise<void> {
  const { run, folder } = ask;
  const { options, screen } = run;
  const wrong = worstOf(ask.results);
  const { dataset: file, shrink: most } = options;
  const rows = run.told.dataset ?? [];
  if (wrong === undefined || file === undefined || most === undefined || rows.length === 0) return;
  const width = widthOfScreen(screen);
  const paint = choosePaint(screen.out.isTty, screen.env);
  const tell = (text: string): void => say(screen, ...wrap(harmless(text), width));
  const read = readBytes(resolve(context.cwd, file), MOST_GIVEN_BYTES);
  if ('complaint' in read) return tell(`${file} cannot be shrunk: ${read.complaint}`);
  const bytes = read.ok;
  const name = `${SMALLEST}${extname(file)}`;

  tell('');
  say(
    screen,
    paint.bold(
      `shrinking ${file} (${plural(rows.length, 'row')}) while ${wrong.id} fails: at most ${plural(most, 'run')} of about ${Math.ceil(ask.seconds)} s each`,
    ),
  );
  tell("The script's own output is not shown. Ctrl-C ends the search and keeps the best so far.");

  const state = { stopped: false, unread: false, count: 0 };
  let best: Seen | undefined;

  const fails = async (candidate: readonly unknown[]): Promise<boolean> => {
    state.count++;
    const own = join(folder, FOLDER, String(state.count));
    // The name stays the same: some scripts go by it.
    const given = join(own, basename(file));
    const seen = await traceWith(candidate, { ...ask, file, given, own, bytes }, context);
    const judged = seen === undefined ? undefined : judge(seen, wrong.id, candidate, ask, bytes);
    state.stopped ||= seen?.interrupted === true;
    if (judged?.unread === true) state.unread = true;
    const failing = judged?.result?.verdict === 'fail' && !state.unread;
    if (!state.stopped && !state.unread)
      say(
        screen,
        `  run ${state.count}: ${plural(candidate.length, 'row')}, ${sizeOf(candidate)} characters: ${failing ? 'fails' : 'does not fail so'}`,
      );
    if (failing && judged !== undefined) best = judged;
    return failing;
  };

  const found = await smallest({
    rows: rows.map(({ value }) => value),
    fails,
    runs: most,
    suspects: suspectsOf(wrong, ask, rows),
    shorter: shorterRows,
    stopped: () => state.stopped || state.unread,
  });
  rmSync(resolve(context.cwd, folder, FOLDER), { recursive: true, force: true });
  if (state.unread) {
    tell(
      `The script does not read the smaller file, so nothing can be shrunk. No word of its command is ${file}, and it does not read the environment variable ${VARIABLE}, which holds the path of the file to train on. Give the path in the command, or read os.environ.get("${VARIABLE}", ${JSON.stringify(file)}).`,
    );
    return;
  }
  if (best === undefined) {
    tell(`Nothing smaller fails so, of what was tried in ${plural(found.runs, 'run')}.`);
    return;
  }
  const written = join(folder, name);
  const why = writeWhole(resolve(context.cwd, written), contentOf(found.rows, bytes));
  if (why !== undefined) tell(`${written} ${why}`);
  const left = found.done ? 'nothing smaller fails so' : 'smaller ones were not tried any more';
  say(
    screen,
    '',
    paint.bold(
      `${found.rows.length} of ${plural(rows.length, 'row')} ${found.rows.length === 1 ? 'fails' : 'fail'} so, after ${plural(found.runs, 'run')}; ${left}: ${written}`,
    ),
    ...found.rows.flatMap((row) => wrap(harmless(`  ${JSON.stringify(row)}`), width)),
    ...traceRowLines(best.ledger, best.result === undefined ? [] : [best.result], {
      most: undefined,
      full: options.full === true,
      width,
      paint,
    }),
    '',
    paint.dim(againLine(ask, file, written, context)),
  );
}

/** Where a failure is worth it, that there is such a search. */
export function shrinkHint(
  { dataset, shrink }: TraceRun['options'],
  results: readonly PropertyResult[],
): string[] {
  if (dataset === undefined || shrink !== undefined || worstOf(results) === undefined) return [];
  return ['--shrink 20 looks for the smallest data set that fails so, in 20 runs at most'];
}

// --- helpers ---

/** Its value is the path of the data set to train on, for scripts that have it in no argument. */
const VARIABLE = 'LOSSPROOF_DATASET';
const SMALLEST = 'smallest';
/** Below the trace, for as long as the search lasts. */
const FOLDER = 'shrink';
/** Rows that are judged alone, to find one that fails. */
const MOST_ALONE = 1_000;

interface Seen {
  readonly ledger: Ledger;
  readonly result: PropertyResult | undefined;
  /** It trained rows of the user's file that the smaller one does not have, or none of its rows. */
  readonly unread: boolean;
}

/** What must hold before what should, in the order of the run. */
function worstOf(results: readonly PropertyResult[]): PropertyResult | undefined {
  const failed = results.filter(({ verdict, failure }) => verdict === 'fail' && failure !== undefined);
  return LEVELS.map((level) => failed.find((each) => each.level === level)).find(
    (each) => each !== undefined,
  );
}

interface Candidate extends ShrinkAsk {
  readonly file: string;
  /** The path that the script is given. */
  readonly given: string;
  readonly own: string;
  readonly bytes: Uint8Array;
}

async function traceWith(
  rows: readonly unknown[],
  { command, run, file, given, own, bytes }: Candidate,
  context: Context,
): Promise<
  { readonly files: TraceFiles; readonly interrupted: boolean; readonly named: boolean } | undefined
> {
  const { options } = run;
  const folder = join(own, 'trace');
  const path = resolve(context.cwd, given);
  makeFolders(resolve(context.cwd, folder));
  if (writeWhole(path, contentOf(rows, bytes)) !== undefined) return undefined;
  const { words, named } = pointedAt(command, file, path, context.cwd);
  const end = await runScript(
    {
      command: words,
      folder,
      steps: options.keepGoing === true ? 0 : options.steps,
      mode: options.mode,
      compiled: options.keepCompiled,
      silent: true,
      env: { [VARIABLE]: path },
    },
    context,
  );
  const files = readTraceFolder(folder, context);
  const read = isProblem(files) ? { folder, processes: [], complaints: [] } : files;
  return { files: read, interrupted: end.interrupted, named };
}

function judge(
  { files, named }: { readonly files: TraceFiles; readonly named: boolean },
  id: string,
  candidate: readonly unknown[],
  { run, ledger: first }: ShrinkAsk,
  bytes: Uint8Array,
): Seen {
  // The tokenizer is the first run's: the trace of this one is not kept.
  const options = {
    ...historyOptions(run),
    ...(first.tokenizer === undefined ? {} : { tokenizer: first.tokenizer }),
  };
  const dataset: readonly Entry[] = [...entriesOf(Buffer.from(contentOf(candidate, bytes)))];
  const ledger = ledgerOf(files.processes, { ...options, dataset });
  const whole = ledgerOf(files.processes, options);
  const known = ledger.rows.map(({ spans }) => spans.origin.kind === 'dataset');
  const foreign = whole.rows.some(({ spans }, at) => spans.origin.kind === 'dataset' && known[at] === false);
  const unread = foreign || (!named && known.length > 0 && !known.includes(true));
  return { ledger, result: resultOf(id, ledger, run), unread };
}

function resultOf(id: string, ledger: Ledger, { chosen }: TraceRun): PropertyResult | undefined {
  const properties = chosen.properties.filter((each) => each.id === id);
  return judgeLedger(ledger, properties, { command: '', replay: { command: '', traced: true } }, () => {})[0];
}

/**
 * The row that the failure was found in; where nobody knows which of the data set's that is, another one that fails by itself;
 * then all of the batch.
 */
function suspectsOf(
  { id, failure }: PropertyResult,
  { ledger, run }: ShrinkAsk,
  dataset: readonly Entry[],
): readonly (readonly number[])[] {
  const { rows } = ledger;
  const given = (failure?.given ?? {}) as {
    step?: unknown;
    rank?: unknown;
    forward?: unknown;
    row?: unknown;
  };
  const batch = rows.filter(
    (row) => row.step === given.step && row.rank === given.rank && row.forward === given.forward,
  );
  const step = rows.filter((row) => row.step === given.step);
  const indexOf = (some: Ledger['rows']): readonly number[] => [
    ...new Set(
      some.flatMap(({ spans: { origin } }) => {
        const at =
          origin.kind === 'dataset' ? dataset.findIndex(({ number }) => number === origin.example) : -1;
        return at < 0 ? [] : [at];
      }),
    ),
  ];
  const found = batch.filter((row) => row.row === given.row);
  const isKnown = indexOf(found).length > 0;
  const known = rows.filter(({ spans }) => spans.origin.kind === 'dataset').slice(0, MOST_ALONE);
  const failsAlone = (row: Ledger['rows'][number]): boolean =>
    resultOf(id, { ...ledger, rows: [row] }, run)?.verdict === 'fail';
  const alone = isKnown ? undefined : known.find(failsAlone);
  return [found, alone === undefined ? [] : [alone], batch, step]
    .map(indexOf)
    .filter(({ length }) => length > 0);
}

/** In the form of the user's own: JSON lines, or one array. */
function contentOf(rows: readonly unknown[], own: Uint8Array): string {
  if (isArray(own)) return `${JSON.stringify(rows, undefined, 1)}\n`;
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function isArray(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes).trim();
  // Of JSON lines that are lists of messages, each line begins so, and all of them together are no JSON.
  if (!text.startsWith('[')) return false;
  const parsed = parseStrict(text);
  return 'ok' in parsed && Array.isArray(parsed.ok);
}

const sizeOf = (rows: readonly unknown[]): number =>
  rows.reduce((sum: number, row) => sum + JSON.stringify(row).length, 0);

function againLine({ command, run }: ShrinkAsk, file: string, written: string, { cwd }: Context): string {
  const { words, named } = pointedAt(command, file, written, cwd);
  const { trainOn, frozen, tokenizer, semantics, keepGoing, steps } = run.options;
  const typed = Object.entries({
    '--train-on': trainOn,
    '--frozen': frozen?.join(','),
    '--tokenizer': tokenizer,
    '--semantics': semantics,
  });
  return [
    ...(named ? [] : [`${VARIABLE}=${quoted(written)}`]),
    `npx lossproof trace ${keepGoing === true ? '--keep-going' : `--steps ${steps}`} --dataset`,
    quoted(written),
    ...typed.flatMap(([name, value]) => (value === undefined ? [] : [name, quoted(value)])),
    '--',
    joinCommand(words),
  ].join(' ');
}
