// A trace that is there, judged: made into a ledger, held against the properties of ledgers, told, written, and turned
// into an exit code. Nothing that was not seen counts as a pass.

import { resolve } from 'node:path';
import type { PropertyResult, Replay, RunEvent } from '../../check/events.ts';
import { strangers } from '../../check/run.ts';
import { type KnownFailures, readKnown } from '../../check/saved/known.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import type { LedgerFacts } from '../../report/machine/ledger.ts';
import { terminalReport } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { apart, harmless, wrap } from '../../report/text/visible.ts';
import { trainedCount } from '../../report/trace/rows.ts';
import { seenLines, seenWords, traceRowLines } from '../../report/trace/trace.ts';
import { adviceOf, unjudgedLines } from '../../report/trace/unjudged.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Ledger } from '../../trace/ledger.ts';
import { type LedgerOptions, ledgerOf } from '../../trace/ledger-of.ts';
import type { LedgerProperty } from '../../trace/property.ts';
import { blindness, judgeLedger, mainOf, partlyBlind } from '../../trace/run.ts';
import { withMarks } from '../../trace/spans/declared-marks.ts';
import type { RunRecord } from '../check/record.ts';
import { selectProperties, splitNames } from '../check/select.ts';
import { type Context, isProblem, type Problem, say } from '../context.ts';
import { HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { writeWhole } from '../outputs/written.ts';
import { widthOfScreen } from '../screen.ts';
import { joinCommand } from '../trainer/words.ts';
import { failureOf, verdictOf } from './end.ts';
import { recordedTokenizer, type TraceFiles } from './folder.ts';
import { asKnown } from './known.ts';
import type { Told, TraceOptions } from './options.ts';
import type { ScriptEnd } from './script.ts';

export interface TraceRun {
  readonly options: TraceOptions;
  readonly told: Told;
  readonly chosen: Chosen;
  /** Where what we say is written. */
  readonly screen: Context;
  /** What the page shows beside the run, when it is there. */
  page: { ledger?: Ledger; unseen?: readonly string[]; results?: readonly PropertyResult[] };
}

export interface Chosen {
  readonly properties: readonly LedgerProperty[];
  readonly known: KnownFailures;
  /** Ids of those whose notices are meant. */
  readonly meant: readonly string[];
  /** Ids of those without which nothing is known of what was trained: one must hold, or there is no pass. */
  readonly tellingOf: (ledger: Ledger) => ReadonlySet<string>;
  /** Ids of every property that there is, where `known` names some: those of other commands take time to load. */
  readonly catalogue: readonly string[];
}

export interface Traced {
  readonly files: TraceFiles;
  /** Undefined: it is judged again. */
  readonly command: readonly string[] | undefined;
  readonly end: ScriptEnd | undefined;
}

/** What --only and --known mean. */
export async function chosenForTrace(options: TraceOptions, context: Context): Promise<Chosen | Problem> {
  const { ledgerProperties, tellingOf } = await import('../../../properties/ledger/index.ts');
  const named = splitNames(options.only ?? []);
  // There are few, and each was read off what the script did: no reason to hold the lesser ones back.
  const properties = selectProperties(ledgerProperties, named, options.level, 'should');
  if (isProblem(properties)) return properties;
  const meant = splitNames(options.meant ?? []);
  const unmeant = meant.find((id) => !ledgerProperties.some((each) => each.id === id));
  if (unmeant !== undefined) return { problem: `--meant: no property of trace is called "${unmeant}"` };
  const read = options.known === undefined ? { known: {} } : readKnown(resolve(context.cwd, options.known));
  if ('problem' in read) return read;
  const others = options.known === undefined ? [] : await context.properties();
  return {
    properties,
    known: read.known,
    meant,
    // Who names a few has said what is to be judged.
    tellingOf: named.length > 0 ? () => new Set(properties.map(({ id }) => id)) : tellingOf,
    catalogue: [...ledgerProperties, ...others].map(({ id }) => id),
  };
}

/** The exit code. */
export async function judgeTrace(traced: Traced, run: TraceRun, record: RunRecord): Promise<number> {
  const { files, end } = traced;
  const { options, told, chosen, screen } = run;
  const { tokenizer, notes, unused = [] } = markedFor(files, told, screen);
  const own = ledgerOf(files.processes, {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...historyOptions(run),
  });
  const ledger = told.after === undefined ? own : { ...own, earlier: ledgerOf(told.after.processes) };
  const failure = failureOf(ledger, end);
  // Of a script that never came to its training, that is all there is to say.
  const blind = failure !== undefined && ledger.rows.length === 0 ? [] : [...blindness(ledger), ...unused];
  const unseen = [...blind, ...partlyBlind(ledger)];
  run.page = { ledger, unseen };
  const width = widthOfScreen(screen);
  const paint = choosePaint(screen.out.isTty, screen.env);
  const quiet = options.quiet === true;
  const sawTraining = ledger.rows.some((row) => trainedCount(row) > 0);
  const warnings = [...(failure === undefined ? [] : [failure]), ...unseen, ...files.complaints, ...notes];
  if (!quiet) say(screen, '', ...seenLines(ledger, { width, paint }));
  say(screen, ...warnings.flatMap((sentence) => bulleted(sentence, width).map(paint.orange)));
  if (!quiet) say(screen, '');

  const replay: Replay = { command: '', again: againLine(files.folder, options), traced: true };
  const results: ReturnType<typeof asKnown>[] = [];
  const events: RunEvent[] = [];
  const report = terminalReport({
    write: screen.out.write,
    width,
    paint,
    replay,
    live: false,
    // A table of what could not be judged says nothing.
    quiet: quiet || ledger.rows.length === 0,
    judgedOnly: true,
    note: [seenWords(ledger), ...(unseen.length > 0 ? ['not all of it could be seen'] : [])].join(' · '),
    before: () =>
      quiet
        ? []
        : [
            ...traceRowLines(ledger, results, {
              most: options.rows,
              full: options.full === true,
              width,
              paint,
            }),
            // Where nothing was trained, that has been said.
            ...apart(sawTraining ? unjudgedLines(results, ledger, { width, paint }) : []),
          ],
    now: () => performance.now(),
  });
  const emit = (event: RunEvent): void => {
    record.emit(event);
    events.push(event);
  };
  const interrupted = end?.interrupted === true;
  const seen = { sawTraining, blind: blind.length > 0, failure, telling: chosen.tellingOf(ledger) };
  let verdict: ReturnType<typeof verdictOf> = { code: INTERRUPTED };
  judgeLedger(
    ledger,
    chosen.properties,
    {
      command: commandOf(traced, ledger),
      replay,
      ...(told.semantics === undefined ? {} : { configured: told.semantics }),
      ...(options.strict === undefined ? {} : { strict: options.strict }),
      meant: chosen.meant,
    },
    (event) => {
      if (event.type === 'run-end') {
        const left = strangers({ known: chosen.known, catalogue: chosen.catalogue });
        for (const result of left) emit({ type: 'property-end', result });
        results.push(...left);
        if (!interrupted) verdict = verdictOf(results, { ...seen, advice: adviceOf(results, ledger) });
        const { why } = verdict;
        emit({ ...event, interrupted, ...(why === undefined ? {} : { noVerdict: why }) });
      } else if (event.type === 'property-end') {
        const result = asKnown(event.result, chosen.known);
        results.push(result);
        emit({ ...event, result });
      } else emit(event);
    },
  );
  run.page = { ...run.page, results };
  for (const event of events) report(event);
  const written = [await record.finish(), await writeLedger({ ledger, results, unseen }, run)].every(Boolean);
  if (verdict.why !== undefined) say(screen, paint.bold(wrap(harmless(verdict.why), width).join('\n')));
  if (!quiet) say(screen, paint.dim(`${replay.again ?? ''}   judges this trace again`));
  return verdict.code === HOLDS && !written ? NO_VERDICT : verdict.code;
}

/** False where it was asked for and could not be written; that has been said. */
async function writeLedger(facts: LedgerFacts, { options, screen }: TraceRun): Promise<boolean> {
  if (options.ledger === undefined) return true;
  const { ledgerJson } = await import('../../report/machine/ledger.ts');
  const why = writeWhole(resolve(screen.cwd, options.ledger), ledgerJson(facts));
  if (why !== undefined) screen.err.write(`lossproof: --ledger: ${options.ledger} ${why}\n`);
  return why === undefined;
}

/** What the user has said of the rows; the tokenizer is found apart. */
export function historyOptions({ told, options }: TraceRun): LedgerOptions {
  return {
    ...(told.semantics === undefined ? {} : { semantics: told.semantics }),
    ...(told.dataset === undefined ? {} : { dataset: told.dataset }),
    ...(options.trainOn === undefined ? {} : { trainOn: options.trainOn }),
    ...(options.frozen === undefined ? {} : { frozen: splitNames(options.frozen) }),
  };
}

// --- helpers ---

function bulleted(sentence: string, width: number): string[] {
  return wrap(harmless(sentence), width - '! '.length).map((line, at) => (at === 0 ? '! ' : '  ') + line);
}

/** With the marks that are declared, as its chat template; `unused`: why they are of no use, which is no pass. */
function markedFor(
  files: TraceFiles,
  told: Told,
  context: Context,
): ReturnType<typeof tokenizerFor> & { readonly unused?: readonly string[] } {
  const found = tokenizerFor(files, told, context);
  if (told.marks === undefined) return found;
  const marked = withMarks(found.tokenizer, told.marks);
  return 'problem' in marked
    ? { ...found, unused: [`--marks are not used: ${marked.problem}.`] }
    : { ...found, tokenizer: marked.tokenizer };
}

/** What is typed wins; then what the script itself had; then what the configuration names. */
function tokenizerFor(
  files: TraceFiles,
  told: Told,
  context: Context,
): { readonly tokenizer: Tokenizer | undefined; readonly notes: readonly string[] } {
  if (told.tokenizer !== undefined) return { tokenizer: told.tokenizer, notes: [] };
  const { tokenizer, problem } = recordedTokenizer(files, context);
  const notes = problem === undefined ? [] : [problem];
  if (tokenizer !== undefined || told.fallback === undefined) return { tokenizer, notes };
  const loaded = loadTokenizer(told.fallback);
  return 'problem' in loaded
    ? { tokenizer: undefined, notes: [...notes, loaded.problem] }
    : { tokenizer: loaded.tokenizer, notes };
}

/** The same judgement of the same trace. */
function againLine(
  folder: string,
  { dataset, trainOn, frozen, tokenizer, marks, semantics, after }: TraceOptions,
): string {
  const options = {
    '--dataset': dataset,
    '--train-on': trainOn,
    '--frozen': frozen?.join(','),
    '--tokenizer': tokenizer,
    '--marks': marks,
    '--semantics': semantics,
    '--after': after,
  };
  const typed = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return ['npx lossproof trace --from', ...[folder, ...typed].map(quoted)].join(' ');
}

/** As it was typed; of a recorded trace, as the process that trained saw it. */
function commandOf({ command }: Traced, { processes }: Ledger): string {
  if (command !== undefined) return joinCommand(command);
  const trained = mainOf(processes, ({ end }) => end?.torch === true);
  return trained === undefined ? '' : joinCommand(trained.argv);
}
