// Tokens of a row as they flow on a terminal: lines of whole tokens, trained ones between ⟦ and ⟧, a mark under what is
// wrong; a long turn by its beginning and its end.
import type { StripToken } from '../../check/property.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { shorten, widthOf } from '../text/visible.ts';

export interface Flow {
  readonly tokens: readonly StripToken[];
  readonly trained: readonly boolean[];
  readonly marks: readonly number[];
  /** The columns shown, [from, to). */
  readonly from: number;
  readonly to: number;
}

export interface FlowLine {
  readonly text: string;
  /** ▲ below a line of tokens. */
  readonly mark: boolean;
  /** Stands for lines that are left out. */
  readonly left?: true;
  readonly from: number;
  readonly to: number;
}

/** Lines of whole tokens. Runs of trained ones are closed and opened again at a line's end, so that each line says it. */
export function flowLines(
  { tokens, trained, marks, from, to }: Flow,
  width: number,
  paint: Paint,
): FlowLine[] {
  const lines: FlowLine[] = [];
  const marked = new Map(marks.map((column, order) => [column, order === 0 ? '▲' : '△']));
  const plain = (shown: string): string => shown;
  const trainedInk = (shown: string): string => paint.bold(paint.blue(shown));
  const wrong = (shown: string): string => paint.bold(paint.orange(shown));
  let at = from;
  while (at < to) {
    const start = at;
    let text = '';
    let below = '';
    let used = 0;
    let open = false;
    // Of tokens that look alike, one pair of escapes around all.
    let run = { text: '', ink: plain };
    const flush = (): void => {
      text += run.text === '' ? '' : run.ink(run.text);
      run = { text: '', ink: plain };
    };
    while (at < to) {
      const on = trained[at] === true;
      const shown = shorten(tokens[at]?.text ?? '', width - BRACKETS);
      const more = widthOf(shown);
      const brackets = (on && !open ? 1 : 0) + (on ? 1 : open ? 1 : 0);
      if (at > start && used + more + brackets > width) break;
      if (on !== open) {
        flush();
        text += paint.blue(on ? '⟦' : '⟧');
        below += ' ';
        used++;
        open = on;
      }
      const mark = marked.get(at);
      const ink = mark !== undefined ? wrong : on ? trainedInk : plain;
      if (ink !== run.ink) {
        flush();
        run.ink = ink;
      }
      run.text += shown;
      below += mark === undefined ? ' '.repeat(more) : mark.repeat(more);
      used += more;
      at++;
    }
    flush();
    if (open) text += paint.blue('⟧');
    lines.push({ text, mark: false, from: start, to: at });
    if (below.trim() !== '')
      lines.push({ text: paint.orange(below.trimEnd()), mark: true, from: start, to: at });
  }
  return lines;
}

/** A turn of more lines is shown by its beginning and its end. */
const TURN_LINES = 9;
const HEAD_LINES = 4;
const TAIL_LINES = 3;
/** Room for ⟦ and ⟧ around a token that fills the line. */
const BRACKETS = 2;

/** All of a short turn; of a long one the ends, and what is marked. */
export function shortened(lines: readonly FlowLine[], full: boolean): readonly FlowLine[] {
  if (full || lines.length <= TURN_LINES) return lines;
  const kept = lines.map(
    (line, at) =>
      at < HEAD_LINES || at >= lines.length - TAIL_LINES || line.mark || lines[at + 1]?.mark === true,
  );
  const shown: FlowLine[] = [];
  let marks = 0;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    if (line === undefined) continue;
    if (line.mark) marks++;
    if (
      kept[at] &&
      (!line.mark || marks <= MARKS_SHOWN) &&
      (marks <= MARKS_SHOWN || at >= lines.length - TAIL_LINES)
    ) {
      shown.push(line);
      continue;
    }
    const before = shown.at(-1);
    const skipped = (before?.to ?? line.to) < line.to;
    if (before?.left === true) shown[shown.length - 1] = ellipsis(before.from, line.to);
    else if (skipped) shown.push(ellipsis(line.from, line.to));
  }
  return shown;
}

// --- helpers ---

/** A wrong turn has a mark on each of its lines; a few of them say it. */
const MARKS_SHOWN = 3;
const ellipsis = (from: number, to: number): FlowLine => ({
  text: `… ${plural(to - from, 'token')} more (--full shows them)`,
  mark: false,
  left: true,
  from,
  to,
});
