// Bars of progress that are drawn over each other: what each draw tells that those before it did not, and at which step.
import { roleOf } from '../../roles.ts';
import { type Bar, isOfTraining } from './bar.ts';
import type { Numbers } from './pairs.ts';

/** What a bar tells that it did not tell before. */
export interface News {
  /** Empty for the first bar that tells of a training; any other is told apart, by its title. */
  readonly run: string;
  /** Goes back where a pass, or another run, may have begun. */
  readonly step: number;
  readonly metrics: Numbers;
}

export interface Bars {
  /** Undefined where it has not moved on, or never told of a training. */
  draw(bar: Bar): News | undefined;
}

/** How far a bar is, whatever it tells. */
interface Progress {
  count: number;
  /** How many draws of all bars there had been when it began, in this pass. */
  began: number;
}

interface Drawn extends Progress {
  readonly run: string;
  readonly total: number;
  pass: number | undefined;
  /** Of the passes before. */
  base: number;
  /** Counts so far, in all passes. */
  position: number;
  /** How often it was drawn with another count. */
  draws: number;
  /** How far the others were when it began. */
  others: ReadonlyMap<string, number>;
  /** The step that it named last, and whether such steps are those of the training; of episodes they begin again. */
  named: number;
  counts: boolean;
  readonly values: Map<string, Value>;
}

interface Value {
  number: number;
  /** What was told last, and when. */
  told: (Moment & { readonly number: number }) | undefined;
  /** When it became what it is. */
  since: Moment;
  /** Draws from one change to the next, the last two times; none where it has never changed. */
  gaps: readonly number[];
}

interface Moment {
  readonly position: number;
  readonly draws: number;
}

/** Bars whose titles are no names but texts are not followed without end. */
export const MOST_BARS = 8;
/** No training is that short, of what is done again and again. */
const SHORT = 32;
const MOST_SEEN = 32;
/** A bar of more totals, under one title, is one that has another in each pass. */
const MOST_TOTALS = 3;
/** A metric that stands still so many times longer than it ever did has stopped. */
const LONGER = 3;
/** Of a bar, until a metric that never changed is told again; of what changes at all, the first change is before that. */
const QUARTER = 1 / 4;
/** Of a bar, from then on: rules need some twenty values to say that they are all the same. */
const SIXTIETH = 1 / 60;
/** Where nobody knows how long it is. */
const SOON = 20;

/**
 * A bar is drawn again until the training has new numbers, and often before its count is raised: of what has not changed nobody
 * knows whether it was measured again, or when. So it is told where it is another number; and where it stands still for
 * longer than it ever did.
 */
export function bars(): Bars {
  const drawn = new Map<string, Drawn[]>();
  const seen = new Map<string, Progress>();
  let known = 0;
  let draws = 0;

  function draw({ title, pass, count, total, metrics, steps }: Bar): News | undefined {
    draws += 1;
    see(`${title} ${total}`, count);
    const bar = find(title, total, count) ?? begin(title, total, metrics);
    if (bar === undefined) return undefined;
    const [later, earlier] =
      pass === undefined || bar.pass === undefined ? [] : [pass > bar.pass, pass < bar.pass];
    const next = later || isBegunAgain(bar.count, count);
    if (!next && (earlier || count < bar.count)) return undefined;
    // Else another run may have begun: that is judged by its values, where the steps go back.
    if (next) bar.base = later || bar.count < SHORT || isWithin(bar) ? bar.base + bar.count : 0;
    if (next) Object.assign(bar, { began: draws, others: progress() });
    if (count !== bar.count) bar.draws += 1;
    bar.position += next ? count : count - bar.count;
    bar.count = count;
    bar.pass = pass;
    const named = steps.global_step ?? steps.step ?? bar.named;
    bar.counts &&= named >= bar.named || next;
    bar.named = named;
    const step = bar.counts && named >= 0 ? named : bar.base + count;
    const now = { position: bar.position, draws: bar.draws };
    return { run: bar.run, step, metrics: newsOf(bar, metrics, now) };
  }

  function see(key: string, count: number): void {
    const bar = seen.get(key);
    if (bar !== undefined && isBegunAgain(bar.count, count)) bar.began = draws;
    if (bar !== undefined) bar.count = count;
    else if (seen.size < MOST_SEEN) seen.set(key, { count, began: draws });
  }

  const progress = (): ReadonlyMap<string, number> =>
    new Map([...seen].map(([key, { count }]) => [key, count]));

  /** Whether another bar goes on from pass to pass of this one. */
  function isWithin({ began, others }: Drawn): boolean {
    return [...seen].some(
      ([key, other]) => other.began < began && other.count > (others.get(key) ?? Number.NaN),
    );
  }

  function find(title: string, total: number, count: number): Drawn | undefined {
    const same = drawn.get(title);
    // Batches are not always as many as was thought, and then nobody knows how many.
    const over = Number.isNaN(total) ? same?.find((each) => each.total <= count) : undefined;
    return same?.find((each) => isAbout(each.total, total)) ?? over ?? same?.[MOST_TOTALS - 1];
  }

  function begin(title: string, total: number, metrics: Numbers): Drawn | undefined {
    if (Object.keys(metrics).length === 0 || known === MOST_BARS) return undefined;
    const same = drawn.get(title) ?? [];
    const name = [
      title,
      ...(same.length > 0 || title === '' ? [`of ${Number.isNaN(total) ? '?' : total}`] : []),
    ];
    const bar: Drawn = {
      run: known === 0 ? '' : name.join(' ').trim(),
      total,
      pass: undefined,
      count: 0,
      began: draws,
      others: progress(),
      base: 0,
      position: 0,
      draws: 0,
      named: -1,
      counts: true,
      values: new Map(),
    };
    known += 1;
    drawn.set(title, [...same, bar]);
    return bar;
  }

  return { draw };
}

/** Several processes may draw the same bar, some of them a little behind. */
const isBegunAgain = (before: number, count: number): boolean => count < before / 2;

/** Batches that are filled with tokens are not as many in each pass. */
const isAbout = (left: number, right: number): boolean =>
  Object.is(left, right) || Math.abs(left - right) <= Math.max(left, right) / 5;

function newsOf(bar: Drawn, metrics: Numbers, now: Moment): Numbers {
  const names = Object.keys(metrics);
  for (const name of names) note(bar.values, name, metrics[name] as number, now);
  const isNews = (name: string): boolean => {
    const value = bar.values.get(name) as Value;
    if (value.told === undefined) return Number.isFinite(value.number) || isDue(value, bar.total, now);
    return !Object.is(value.told.number, value.number) || isDue(value, bar.total, now);
  };
  const news = new Set(names.filter(isNews));
  // What is logged at each step stands beside each other, also where some of it is the same as before.
  const together = names.some((name) => news.has(name) && isOfTraining(name));
  const fresh: [string, number][] = [];
  for (const name of names) {
    const value = bar.values.get(name) as Value;
    // Drawn again at the same count, it has what belongs to the next.
    if (value.told?.position === now.position) continue;
    if (!news.has(name) && !(together && isOfEachStep(name, value))) continue;
    value.told = { ...now, number: value.number };
    fresh.push([name, value.number]);
  }
  return Object.fromEntries(fresh);
}

function note(values: Map<string, Value>, name: string, number: number, now: Moment): void {
  const value = values.get(name);
  if (value === undefined) {
    values.set(name, { number, told: undefined, since: now, gaps: [] });
    return;
  }
  if (Object.is(value.number, number)) return;
  // What was no number and never told stood for none.
  if (value.told !== undefined)
    value.gaps = [...value.gaps, Math.max(1, now.draws - value.since.draws)].slice(-2);
  value.number = number;
  value.since = now;
}

/** Whether it stands still for so long that this is news. */
function isDue({ told, since, gaps }: Value, total: number, now: Moment): boolean {
  const last = told ?? since;
  if (gaps.length > 0) {
    const longest = Math.max(...gaps);
    return now.draws - since.draws >= LONGER * longest && now.draws - last.draws >= longest;
  }
  const stands = now.position - since.position;
  const silent = now.position - last.position;
  if (Number.isNaN(total)) return silent >= Math.max(SOON, stands / LONGER);
  return stands >= total * QUARTER && silent >= total * SIXTIETH;
}

/** A learning rate is a setting; of the rest, what changes each time that the bar is drawn, or every second time. */
function isOfEachStep(name: string, { gaps }: Value): boolean {
  if (!isOfTraining(name)) return false;
  return roleOf(name).role === 'learning_rate' || (gaps.length > 0 && Math.max(...gaps) <= 2);
}
