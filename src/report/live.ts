// The line of what is going on now: which property, how far, how fast, and how long all of it may still take.
import { pace } from '../bounds.ts';
import type { PropertyResult } from '../check/events.ts';
import { shorten, widthOf } from './text/visible.ts';

export interface LiveFacts {
  /** `3 of 31`. */
  readonly place: string;
  readonly id: string;
  readonly done: number;
  readonly total: number;
  /** Milliseconds since the property began. */
  readonly elapsed: number;
  /** Milliseconds to the end of the run, where there is something to go by. */
  readonly left?: number | undefined;
  /** So many more are judged beside it. */
  readonly beside?: number;
  /** It has failed, and so many smaller cases have been found. */
  readonly shrinks?: number | undefined;
}

/** `3 of 31  mask/prompt-is-never-trained  41/100 cases, 2,300 a second, about 12 s left`, or what of it fits. */
export function liveLine(facts: LiveFacts, width: number): string {
  const { place, beside = 0 } = facts;
  const id = beside === 0 ? facts.id : `${facts.id} and ${beside} more`;
  const count = facts.done === 0 ? [] : [`${facts.done}/${facts.total} cases`];
  const left = facts.left === undefined ? [] : [`about ${roughly(facts.left)} left`];
  const state = facts.shrinks === undefined ? count : [`fails; shrinking: ${smaller(facts.shrinks)}`];
  const rate = facts.shrinks === undefined ? rateOf(facts) : [];
  const short = facts.shrinks === undefined ? count.map((text) => text.replace(' cases', '')) : ['shrinking'];
  // The most telling first: what is going on now matters more than how long it will take.
  const wordings = [[...state, ...rate, ...left], [...state, ...left], [...short, ...left], short, []];
  for (const words of wordings) {
    const line = [place, id, words.join(', ')].filter((part) => part !== '').join('  ');
    if (widthOf(line) <= width) return line;
  }
  return shorten(`${place}  ${id}`, width);
}

function smaller(shrinks: number): string {
  return shrinks === 1 ? '1 smaller case' : `${shrinks} smaller cases`;
}

function rateOf({ done, elapsed }: LiveFacts): string[] {
  if (done === 0 || elapsed <= 0) return [];
  const rate = (done * 1000) / elapsed;
  return [`${(rate < FEW ? Number(rate.toFixed(1)) : Math.round(rate)).toLocaleString('en')} a second`];
}

/** Below so many a second the decimal says something. */
const FEW = 10;

/** `8 s`, `25 s`, `4 min`, `2 h 10 min`: no more digits than such an estimate has. */
function roughly(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000));
  if (seconds < 15) return `${seconds} s`;
  if (seconds < 58) return `${Math.ceil(seconds / 5) * 5} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${Math.max(1, minutes)} min`;
  const rest = Math.round((minutes % 60) / 10) * 10;
  return rest === 0 || rest === 60
    ? `${Math.round(minutes / 60)} h`
    : `${Math.floor(minutes / 60)} h ${rest} min`;
}

export interface Estimate {
  add(result: PropertyResult): void;
  /** Milliseconds to the end, `elapsed` into a property that is `share` done; undefined as long as nobody can know. */
  left(share: number, elapsed: number): number | undefined;
}

/** Goes by the properties that ran: `supported` are those that will take any time; absent: all of them. */
export function estimateOf(ids: readonly string[], supported?: ReadonlySet<string>): Estimate {
  const waiting = new Set(ids.filter((id) => supported?.has(id) ?? true));
  let ran = 0;
  let spent = 0;
  return {
    add({ id, verdict, failure, milliseconds }) {
      waiting.delete(id);
      // Shrinking takes as long as it takes and says nothing about the properties to come.
      if (verdict === 'unsupported' || failure !== undefined) return;
      ran++;
      spent += milliseconds;
    },
    left(share, elapsed) {
      if (ran < ENOUGH_PROPERTIES || spent < ENOUGH_MILLISECONDS) return undefined;
      const each = spent / ran;
      const here = share >= ENOUGH_SHARE ? elapsed / share - elapsed : Math.max(0, each - elapsed);
      return here + each * Math.max(0, waiting.size - 1);
    },
  };
}

/** Fewer properties, or less time, and the first estimate would be a guess that jumps. */
const ENOUGH_PROPERTIES = 3;
const ENOUGH_MILLISECONDS = pace(1_000);
const ENOUGH_SHARE = 0.2;
