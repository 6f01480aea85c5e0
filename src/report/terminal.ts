// The run on a terminal: a fold over events that writes. Rows as they come, failures behind the table, one line
// in words at the end. The live line exists only where someone is looking.
import type { PropertyResult, Replay, RunEvent } from '../check/events.ts';
import type { Hello } from '../protocol/message.ts';
import { FAILING } from '../vocabulary.ts';
import { failureLines, repeatLines, troubleKey } from './failure.ts';
import type { Paint } from './paint.ts';
import { summaryLine } from './summary.ts';
import { goTogether, groupLines, rowLines } from './table.ts';
import { shorten } from './visible.ts';

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
  /** Said at the end of the final line. */
  readonly note?: string;
  /** Milliseconds of a clock that only goes forward; for the live line's rate. */
  readonly now: () => number;
}

/** Returns the event handler; it keeps the results it has seen. */
export function terminalReport(options: TerminalOptions): (event: RunEvent) => void {
  const { write, width, paint, labels = false } = options;
  const results: PropertyResult[] = [];
  let ids: readonly string[] = [];
  let seed = 0;
  let place = '';
  let started = 0;
  let unsupported: PropertyResult[] = [];
  let drawn = Number.NEGATIVE_INFINITY;

  const say = (...lines: readonly string[]): void => {
    if (lines.length > 0) write(`${erase()}${lines.join('\n')}\n`);
  };
  const erase = (): string => {
    if (drawn === Number.NEGATIVE_INFINITY) return '';
    drawn = Number.NEGATIVE_INFINITY;
    return ERASE_LINE;
  };
  // An adapter of three ops leaves fifty properties out; one row a stage says the same.
  const flush = (): void => {
    say(...groupLines(unsupported, { ids, width, paint }));
    unsupported = [];
  };
  const draw = (text: string): void => {
    if (!options.live || options.now() - drawn < REDRAW_MILLISECONDS) return;
    drawn = options.now();
    write(`${ERASE_LINE}${paint.dim(shorten(text, width - 1))}`);
  };

  return (event) => {
    switch (event.type) {
      case 'run-start':
        ids = event.properties.map(({ id }) => id);
        seed = event.seed;
        if (!options.quiet) say(...startLines(event.hello, event.properties.length, event.cases), '');
        break;
      case 'property-start':
        place = `${event.index + 1} of ${event.total}`;
        started = options.now();
        draw(`${place}  ${event.id}`);
        break;
      case 'progress':
        draw(liveLine(place, event.id, event.done, event.total, options.now() - started));
        break;
      case 'property-end':
        results.push(event.result);
        if (options.quiet) {
          // What fails without a block of its own would be a number in the final line only.
          if (FAILING.includes(event.result.verdict) && !isTold(event.result))
            say(...rowLines(event.result, { ids, width, paint }));
          break;
        }
        if (!goTogether([...unsupported, event.result])) flush();
        if (event.result.verdict === 'unsupported') unsupported.push(event.result);
        else say(...rowLines(event.result, { ids, width, paint, labels }));
        break;
      case 'run-end': {
        flush();
        const blocks = blockLines(results.filter(isTold), options);
        const note = options.note === undefined ? {} : { note: options.note };
        const summary = summaryLine(results, { seed, ...event, ...note });
        say(...blocks, ...(options.quiet && blocks.length === 0 ? [] : ['']), paint.bold(summary));
        break;
      }
    }
  };
}

/** `3 of 31  mask/prompt-is-never-trained  41/100 cases, 2,300 a second`. */
export function liveLine(
  place: string,
  id: string,
  done: number,
  total: number,
  milliseconds: number,
): string {
  const rate =
    milliseconds > 0 ? `, ${Math.round((done * 1000) / milliseconds).toLocaleString('en')} a second` : '';
  return `${place}  ${id}  ${done}/${total} cases${rate}`;
}

/** One trainer that raises in every op is one failure: told once, and referred to. */
function blockLines(results: readonly PropertyResult[], options: TerminalOptions): string[] {
  const told = new Map<string, string>();
  return results.flatMap((result) => {
    const key = troubleKey(result);
    const first = key === undefined ? undefined : told.get(key);
    if (first !== undefined) return ['', ...repeatLines(result, first, options)];
    if (key !== undefined) told.set(key, result.id);
    return ['', ...failureLines(result, options)];
  });
}

/** Carriage return, then clear to the end of the line. */
const ERASE_LINE = '\r\u001b[K';
/** Ten times a second is smooth, and cheap over ssh. */
const REDRAW_MILLISECONDS = 100;

function startLines(hello: Hello, properties: number, cases: number): string[] {
  const version = hello.version === undefined ? '' : ` ${hello.version}`;
  const runtime = hello.runtime === undefined ? '' : ` (${hello.runtime})`;
  const counted = `${properties} ${properties === 1 ? 'property' : 'properties'}, ${cases} cases each`;
  return [`checking ${hello.name}${version}${runtime} · ${counted}`];
}

/** A known failure has its reason in its row; its block would be read as news. */
function isTold(result: PropertyResult): boolean {
  return result.failure !== undefined && FAILING.includes(result.verdict);
}
