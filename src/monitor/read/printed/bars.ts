// Bars of progress, as tqdm writes them over each other, with what a training says of itself in their title or behind them:
//   Epoch 0:  10%|█         | 10/100 [00:05<00:45,  2.00it/s, v_num=0, train_loss=2.310]     Lightning
//   Train step of epoch 0:  10%|█         | 10/100 [00:05<00:45, 2.00it/s, gpt_loss=2.31]    OpenRLHF
//   1|25|Loss: 1.5912:   1%|          | 25/1000 [00:10<06:30,  2.50it/s]                    torchtune
//   Steps:   1%|          | 20/2000 [00:10<16:30, 1.00s/it, lr=1e-5, step_loss=0.123]        diffusers
import { roleOf } from '../../roles.ts';
import { meaningOf } from '../json/objects.ts';
import { COLOURS, EVALUATES, isLogged, type Numbers, parseNumbers } from './pairs.ts';

/** How far it is, of how many, and its time: `|█   | 10/100 [00:05<00:45`, or `10it [00:05` where nobody knows how many. */
const HEAD =
  /(?:\d{1,3}%)?\|[^|]{0,400}\| {0,10}(\d{1,15})\/(\d{1,15}|\?)(?:\.\d{1,15})? \[[\d:?]{1,20}<[\d:?]{1,20}|(?<![\w.])(\d{1,15})it \[[\d:?]{1,20}/;
/** A bar is as wide as a terminal, or little more. */
const LONGEST = 8_192;
const LONGEST_TITLE = 80;
/** In a title: what it counts is no training. */
const ASIDE =
  /(?<![\w./-])(?:dev|sanity|inference|inferring|predict(?:ions?|ing)?|generat(?:ion|ing|e)|sampl(?:ing|es?)|scor(?:ing|es?)|roll-?outs?|collect(?:ing)?|find(?:ing|er)|load(?:ing)?|sav(?:ing|e))(?![\w.-])/i;
/** Of a title, whatever differs from draw to draw. */
const VALUES = /[-+]?\d[\d.,]*(?:e[-+]?\d+)?|\b(?:nan|-?inf|none|n\/a)\b/gi;

export interface Bar {
  /** Its title without numbers. */
  readonly title: string;
  readonly count: number;
  /** NaN where nobody knows it. */
  readonly total: number;
  /** Of a training; empty where it tells of anything else. */
  readonly metrics: Numbers;
  /** What it names besides its own count. */
  readonly steps: Numbers;
  /** What was printed behind it on the same line. */
  readonly rest: string;
}

/** Undefined for what is no bar of progress. */
export function parseBar(written: string): Bar | undefined {
  if (written.length > LONGEST) return undefined;
  const text = written.replace(COLOURS, '');
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const [matched, count, total, counted] = head;
  const from = head.index + matched.length;
  const end = closing(text, from);
  const to = end ?? Math.max(from, text.lastIndexOf(','));
  const title = text.slice(0, head.index).trim().replace(/:$/, '');
  const titled = parseNumbers(title);
  const behind = parseNumbers(text.slice(from, to).replace(/^[, ]+/, ''));
  const aside = [ASIDE, EVALUATES].some((words) => words.test(titled.before));
  const metrics = [
    // Of words before a number, only those that are known name one.
    ...Object.entries(titled.metrics).filter(([name]) => roleOf(name).role !== undefined),
    ...Object.entries(behind.metrics),
  ].filter(([name]) => meaningOf(name) === 'series');
  return {
    title: title.slice(0, LONGEST_TITLE).replace(VALUES, '#'),
    count: Number(count ?? counted),
    total: Number(total),
    metrics: !aside && metrics.some(([name]) => isOfTraining(name)) ? Object.fromEntries(metrics) : {},
    steps: Object.fromEntries(Object.entries(behind.steps).filter(([name]) => name !== 'epoch')),
    rest: end === undefined ? '' : text.slice(end + 1),
  };
}

/** Where the bracket ends that is open at `from`; undefined in a bar that was cut to the width of a terminal. */
function closing(text: string, from: number): number | undefined {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '[') open += 1;
    else if (text[at] === ']') open -= 1;
    if (open === 0) return at;
  }
  return undefined;
}

/** What a bar tells that it did not tell before. */
export interface News {
  /** Empty for the first bar that tells of a training; any other is told apart, by its title. */
  readonly run: string;
  /** Counted on through all passes. */
  readonly step: number;
  readonly metrics: Numbers;
}

export interface Bars {
  /** Undefined where it has not moved on, or never told of a training. */
  draw(bar: Bar): News | undefined;
}

interface Drawn {
  readonly run: string;
  readonly total: number;
  /** Of the passes before. */
  base: number;
  count: number;
  /** How often it was drawn with another count. */
  draws: number;
  readonly values: Map<string, Value>;
}

interface Value {
  number: number;
  /** What was told last, and when. */
  told: (Moment & { readonly number: number }) | undefined;
  /** When it became what it is. */
  since: Moment;
  /** The fewest draws from one change to the next; undefined where it has never changed. */
  every: number | undefined;
}

interface Moment {
  readonly step: number;
  readonly draw: number;
}

/** Bars whose titles are no names but texts are not followed without end. */
export const MOST_BARS = 8;
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
  let known = 0;

  function draw({ title, count, total, metrics, steps }: Bar): News | undefined {
    const bar = find(title, total) ?? begin(title, total, metrics);
    if (bar === undefined) return undefined;
    if (isNextPass(bar.count, count)) {
      bar.base += bar.count;
      bar.count = count;
      bar.draws += 1;
    } else if (count > bar.count) {
      bar.count = count;
      bar.draws += 1;
    } else if (count < bar.count) return undefined;
    const now = { step: bar.base + count, draw: bar.draws };
    const fresh = newsOf(bar, metrics, now);
    return { run: bar.run, step: steps.global_step ?? steps.step ?? now.step, metrics: fresh };
  }

  function find(title: string, total: number): Drawn | undefined {
    return drawn.get(title)?.find((each) => isAbout(each.total, total));
  }

  function begin(title: string, total: number, metrics: Numbers): Drawn | undefined {
    if (Object.keys(metrics).length === 0 || known === MOST_BARS) return undefined;
    const same = drawn.get(title) ?? [];
    const name = same.length === 0 && title !== '' ? title : `${title} of ${total}`.trim();
    const bar: Drawn = {
      run: known === 0 ? '' : name,
      total,
      base: 0,
      count: -1,
      draws: 0,
      values: new Map(),
    };
    known += 1;
    drawn.set(title, [...same, bar]);
    return bar;
  }

  return { draw };
}

/** Several processes may draw the same bar, some of them a little behind. */
const isNextPass = (before: number, count: number): boolean => count < before / 2;

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
    if (value.told?.step === now.step) continue;
    if (!news.has(name) && !(together && isOfEachStep(name, value))) continue;
    value.told = { ...now, number: value.number };
    fresh.push([name, value.number]);
  }
  return Object.fromEntries(fresh);
}

function note(values: Map<string, Value>, name: string, number: number, now: Moment): void {
  const value = values.get(name);
  if (value === undefined) {
    values.set(name, { number, told: undefined, since: now, every: undefined });
    return;
  }
  if (Object.is(value.number, number)) return;
  // What was no number and never told stood for none.
  if (value.told !== undefined)
    value.every = Math.min(value.every ?? Number.POSITIVE_INFINITY, Math.max(1, now.draw - value.since.draw));
  value.number = number;
  value.since = now;
}

/** Whether it stands still for so long that this is news. */
function isDue({ told, since, every }: Value, total: number, now: Moment): boolean {
  const last = told ?? since;
  if (every !== undefined) return now.draw - since.draw >= LONGER * every && now.draw - last.draw >= every;
  const stands = now.step - since.step;
  const silent = now.step - last.step;
  if (Number.isNaN(total)) return silent >= Math.max(SOON, stands / LONGER);
  return stands >= total * QUARTER && silent >= total * SIXTIETH;
}

const isOfTraining = (name: string): boolean => isLogged(name) && !roleOf(name).evaluation;

/** A learning rate is a setting; of the rest, what changes each time that the bar is drawn, or every second time. */
function isOfEachStep(name: string, { every }: Value): boolean {
  if (!isOfTraining(name)) return false;
  return roleOf(name).role === 'learning_rate' || (every !== undefined && every <= 2);
}
