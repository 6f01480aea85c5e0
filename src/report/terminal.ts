// The run on a terminal: a fold over events that writes. The table as it comes, failures behind it, one line in
// words at the end. The live line exists only where someone is looking; elsewhere a long silence ends with a line.
import { pace } from '../bounds.ts';
import type { PropertyFacts, PropertyResult, Replay, RunEvent } from '../check/events.ts';
import type { Hello } from '../protocol/message.ts';
import { FAILING } from '../vocabulary.ts';
import { blocksOf } from './failure/blocks.ts';
import { foldedTable, type Table, wholeTable } from './fold.ts';
import { knownBugLines } from './known-bugs.ts';
import { type Estimate, estimateOf, type LiveFacts, liveLine } from './live.ts';
import { type Note, noteLines } from './notes.ts';
import { refusalLines } from './refusals.ts';
import { renewedLines } from './renewed.ts';
import { trainerName } from './runs.ts';
import { notesOf, nounOf, summaryLine } from './summary.ts';
import type { Paint } from './text/paint.ts';
import { plural } from './text/plural.ts';
import type { Letters } from './text/sparkline.ts';
import { rowLines } from './text/table.ts';
import { harmless, widthOf, wrap } from './text/visible.ts';
import { unjudgedLines } from './unjudged.ts';

export interface TerminalOptions {
  readonly write: (text: string) => void;
  readonly width: number;
  readonly paint: Paint;
  readonly replay: Replay;
  /** Redraw one line while properties run. */
  readonly live: boolean;
  /** Failures and the final line only. */
  readonly quiet: boolean;
  /** The labels of each property's cases, with their shares and thresholds. */
  readonly labels?: boolean;
  /** What was not judged has been told already. */
  readonly judgedOnly?: boolean;
  /** A row for each property, however many there are. */
  readonly rows?: boolean;
  /** Properties that will run and take time; absent: all. For the time that is left. */
  readonly supported?: ReadonlySet<string>;
  /** What lines of logged numbers are drawn with. */
  readonly letters?: Letters;
  /** Said at the end of the final line. */
  readonly note?: string;
  /** Lines between the failures and the final line. */
  readonly before?: () => readonly string[];
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

/** A property that is being judged. */
type InHand = Pick<LiveFacts, 'place' | 'id' | 'done' | 'total'> & { readonly started: number };

/** Returns the event handler; it keeps the results it has seen. */
export function terminalReport(options: TerminalOptions): (event: RunEvent) => void {
  const { write, width, paint, labels = false, now } = options;
  const results: PropertyResult[] = [];
  let ids: readonly string[] = [];
  let table: Table = wholeTable({ ids, width, paint, labels });
  let estimate: Estimate = estimateOf([]);
  let seed: { readonly seed?: number } = {};
  let doubts: readonly Note[] = [];
  let notes: readonly string[] = [];
  let facts: readonly PropertyFacts[] = [];
  let running = 0;
  const inHand = new Map<string, InHand>();
  let drawn = Number.NEGATIVE_INFINITY;
  let said = now();
  let shrinking = false;

  const say = (...lines: readonly string[]): void => {
    if (lines.length === 0) return;
    write(`${drawn === Number.NEGATIVE_INFINITY ? '' : ERASE_LINE}${lines.join('\n')}\n`);
    drawn = Number.NEGATIVE_INFINITY;
    said = now();
  };
  const draw = (current: InHand, shrinks?: number): void => {
    const at = now();
    // What it does now is another thing, however soon after.
    const turned = shrinks !== undefined && !shrinking;
    shrinking = shrinks !== undefined;
    const due = options.live ? turned || at - drawn >= REDRAW_MILLISECONDS : at - said >= SILENT_MILLISECONDS;
    if (!due || options.quiet) return;
    const elapsed = at - current.started;
    const share = current.total === 0 ? 0 : current.done / current.total;
    const left = shrinks === undefined ? estimate.left(share, elapsed) : undefined;
    const facts = { ...current, elapsed, left, shrinks, beside: inHand.size - 1 };
    if (!options.live) {
      say(paint.dim(STILL + liveLine(facts, width - STILL.length)));
      return;
    }
    drawn = at;
    // One column stays free: some terminals wrap as soon as the last one is taken.
    write(`${ERASE_LINE}${paint.dim(liveLine(facts, width - 1))}`);
  };

  /** Among those that run, where that is known: an adapter of one op leaves two hundred out. */
  const placeOf = ({ index, total }: { index: number; total: number }): string => {
    running++;
    const { supported } = options;
    return supported === undefined ? `${index + 1} of ${total}` : `${running} of ${supported.size}`;
  };

  const begun = (event: {
    readonly id: string;
    readonly index?: number;
    readonly total?: number;
  }): InHand => {
    const { index, total } = event;
    const place = index === undefined || total === undefined ? '' : placeOf({ index, total });
    const own = { place, id: event.id, done: 0, total: 0, started: now() };
    inHand.set(event.id, own);
    return own;
  };

  return (event) => {
    switch (event.type) {
      case 'run-start': {
        const { properties } = event;
        doubts = event.notes ?? [];
        ids = properties.map(({ id }) => id);
        const traced = event.replay?.traced === true;
        // A few properties, a part of a run and recorded answers are no judgement of the whole.
        const isWhole = event.shard === undefined && options.replay.golden !== true;
        facts = properties.length > FEW_PROPERTIES && isWhole ? properties : [];
        if (!traced) seed = { seed: event.seed };
        // With --quiet nothing above the final line says whose trainer it was.
        notes = [
          ...(options.quiet && !traced ? [event.name ?? trainerName(event.hello)] : []),
          ...notesOf(event),
        ];
        estimate = estimateOf(ids, options.supported);
        const shown = {
          ids,
          width,
          paint,
          labels,
          many: nounOf(event.replay)[1],
          each: labels || ids.length <= FEW_PROPERTIES,
          ...(options.judgedOnly === undefined ? {} : { judgedOnly: options.judgedOnly }),
        };
        table = options.rows === true ? wholeTable(shown) : foldedTable(properties, shown);
        // What was traced has been told at length by whoever traced it.
        if (!options.quiet && !traced) say(...startLines(event.hello, ids.length, event.cases, width), '');
        break;
      }
      case 'property-start':
        if (options.supported?.has(event.id) === false) break;
        draw(begun(event));
        break;
      case 'progress': {
        const current = { ...(inHand.get(event.id) ?? begun(event)), done: event.done, total: event.total };
        inHand.set(event.id, current);
        draw(current);
        break;
      }
      case 'shrinking':
        draw(inHand.get(event.id) ?? begun(event), event.shrinks);
        break;
      case 'notice':
        say(...wrap(`! ${event.sentence}`, width).map(paint.orange));
        break;
      case 'property-end':
        inHand.delete(event.result.id);
        results.push(event.result);
        estimate.add(event.result);
        if (!options.quiet) say(...table.add(event.result));
        // What fails without a block of its own would be a number in the final line only.
        else if (FAILING.includes(event.result.verdict) && !isTold(event.result))
          say(...rowLines(event.result, { ids, width, paint }));
        break;
      case 'run-end': {
        if (!options.quiet) {
          say(...table.end());
          for (const line of refusalLines(event)) say(...wrap(line, width).map(paint.orange));
          for (const line of renewedLines(event)) say(...wrap(line, width));
        }
        const told = blocksOf(results.filter(isTold), () => options, MOST_WHOLE);
        const blocks = told.flatMap((lines) => ['', ...lines]);
        const all = options.note === undefined ? notes : [...notes, options.note];
        const line = summaryLine(results, { ...seed, ...event, notes: all, noun: nounOf(options.replay) });
        say(
          ...blocks,
          ...noteLines([...doubts, ...(event.notes ?? [])], results, width),
          ...(options.before?.() ?? []),
          ...(options.quiet ? [] : knownBugLines(facts, results, width)),
          ...(options.quiet
            ? []
            : unjudgedLines(event).flatMap((line) => wrap(line, width).map(paint.orange))),
          ...(options.quiet && blocks.length === 0 ? [] : ['']),
          ...parted(line, width).map((each) => paint.bold(each)),
        );
        break;
      }
    }
  };
}

/** Carriage return, then clear to the end of the line. */
export const ERASE_LINE = '\r\u001b[K';
/** Ten times per second is smooth, and cheap over ssh. */
const REDRAW_MILLISECONDS = pace(100);
/** A log that says nothing for longer looks like a run that hangs. */
const SILENT_MILLISECONDS = pace(30_000);
const STILL = '… ';
/** So many rows are read at a glance, and someone who chose a few properties wants to see each. */
const FEW_PROPERTIES = 12;
/** One mistake breaks many properties: so many are shown whole, the others in a sentence each. */
const MOST_WHOLE = 10;

function startLines(hello: Hello, properties: number, cases: number, width: number): string[] {
  const runtime = hello.runtime === undefined ? '' : ` (${hello.runtime})`;
  const counted = `${plural(properties, 'property', 'properties')}, ${cases.toLocaleString('en')} cases each`;
  return wrap(harmless(`checking ${trainerName(hello)}${runtime} · ${counted}`), width);
}

/** Broken between its parts, as far as a screen needs it. */
function parted(summary: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of summary.split(' · ')) {
    const joined = [...lines.slice(-1), part].join(' · ');
    if (lines.length > 0 && widthOf(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(...wrap(part, width));
  }
  return lines;
}

/** A known failure has its reason in its row; its block would be read as news. */
function isTold(result: PropertyResult): boolean {
  return (result.failure !== undefined || result.verdict === 'ask') && FAILING.includes(result.verdict);
}
