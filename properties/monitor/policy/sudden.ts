// A series above 0 that changes its level within a few points, by a factor, and stays. A departure (departures.ts) is one from
// a point to the next; what a broken policy does to its lengths and its entropy takes some updates, and is told from what a
// learning policy does by its pace: no stretch of as many points before it has moved by a third of as much. So an entropy that
// falls fast in the beginning and ever slower is left alone, however far it falls, and so is a length that grows for long.
import { type Course, median } from '../../../src/index.ts';

export interface SuddenOptions {
  /** Between the levels, at least. */
  readonly factor: number;
  readonly direction: 'falls' | 'rises' | 'both';
}

export interface Sudden {
  /** Its first step, and the value there. */
  readonly step: number;
  readonly value: number;
  readonly before: number;
  readonly now: number;
  readonly rises: boolean;
}

/** Values that make a level: medians of five are within a deviation of their middle in 96 of 100. */
const LEVEL = 5;
/** Values before the change, and from its last on. */
const LEAST = 8;
/** Points that a change may take. */
const WIDTHS = [1, 4, 8, 12];
/** Times the largest change within as many points before it. */
const FASTER = 3;
/** Share of the change, in logarithms, that its last value and those behind keep; one of five may have come back. */
const LEFT = 0.5;
const BACK = 0.2;
/** Share of the change, in logarithms, that its first value has gone, and the one behind that. */
const BEGUN = 0.2;

export function suddenChange(
  { means, steps, extremes }: Course,
  { factor, direction }: SuddenOptions,
): Sudden | undefined {
  const logs = means.map((value) => Math.log(Math.max(value, Number.MIN_VALUE)));
  const levels = logs.slice(0, logs.length - LEVEL + 1).map((_, at) => median(logs.slice(at, at + LEVEL)));
  for (const width of WIDTHS) {
    const found = changeOver(width);
    if (found !== undefined) return found;
  }
  return undefined;

  function changeOver(width: number): Sudden | undefined {
    let usual = 0;
    const apart = LEVEL + width - 1;
    for (let from = 0; from + apart < levels.length; from++) {
      const [before, now] = [levels[from] as number, levels[from + apart] as number];
      const change = now - before;
      const first = from + LEVEL;
      const last = first + width - 1;
      // What ends where this begins has been seen: it is what a change has been so far.
      const past = from - apart;
      if (past >= 0) usual = Math.max(usual, Math.abs((levels[from] as number) - (levels[past] as number)));
      if (first < LEAST || logs.length - last < LEAST || past < 0) continue;
      const asked = direction === 'both' || change > 0 === (direction === 'rises');
      if (!asked || Math.abs(change) < Math.log(factor) || Math.abs(change) < FASTER * usual) continue;
      const moved = (at: number): number => ((logs[at] as number) - before) / change;
      const back = logs.slice(last).filter((_, at) => moved(last + at) < LEFT);
      if (back.length > BACK * (logs.length - last)) continue;
      // The median of the new level turns before most of its values have: the change may begin among them.
      let at = from + 1;
      while (at < last + LEVEL && !(moved(at) > BEGUN && moved(at + 1) > BEGUN)) at++;
      const goes = (value: number): boolean =>
        (Math.log(Math.max(value, Number.MIN_VALUE)) - before) / change > BEGUN;
      // A stretch of several points may begin before the change does.
      const point = extremes().find(({ step, value }) => step >= (steps[at] as number) && goes(value));
      return {
        step: point?.step ?? (steps[at] as number),
        value: point?.value ?? (means[at] as number),
        before: Math.exp(before),
        now: Math.exp(logs.at(-1) as number),
        rises: change > 0,
      };
    }
    return undefined;
  }
}
