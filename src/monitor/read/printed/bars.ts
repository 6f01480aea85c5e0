// Bars of progress, as tqdm writes them over each other, with what a training says of itself before or behind them:
//   Epoch 0:  10%|█         | 10/100 [00:05<00:45,  2.00it/s, v_num=0, train_loss=2.310]     Lightning
//   Train step of epoch 0:  10%|█         | 10/100 [00:05<00:45, 2.00it/s, gpt_loss=2.31]    OpenRLHF
//   1|25|Loss: 1.5912:   1%|          | 25/1000 [00:10<06:30,  2.50it/s]                    torchtune
//   Steps:   1%|          | 20/2000 [00:10<16:30, 1.00s/it, lr=1e-5, step_loss=0.123]        diffusers
import type { JsonObject } from '../../../protocol/result.ts';
import { roleOf } from '../../roles.ts';
import { meaningOf } from '../json/objects.ts';
import { COLOURS, isLogged, parseMetrics } from './pairs.ts';

/** How far it is, of how many, and its time: `|█   | 10/100 [00:05<00:45`, or `10it [00:05` where nobody knows how many. */
const HEAD =
  /(?:\d{1,3}%)?\|[^|]{0,400}\| {0,10}(\d{1,15})\/(\d{1,15}|\?) \[[\d:?]{1,20}<[\d:?]{1,20}|(?<![\w.])(\d{1,15})it \[[\d:?]{1,20}/;
/** A bar is as wide as a terminal, or little more. */
const LONGEST = 8_192;

/** A training that logs each tenth step, or each twentieth, has new numbers by then. */
const SOON = 20;
/** Those whose titles are no names but texts are not followed without end. */
const MOST = 1_000;

export interface Bar {
  /** The same for all that are written over each other, in each pass over the data. */
  readonly name: string;
  readonly count: number;
  /** NaN where nobody knows it. */
  readonly total: number;
  /** Those of a training, and the step where they tell one; empty where it tells of anything else. */
  readonly metrics: JsonObject;
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
  const to = closing(text, from);
  if (to === undefined) return undefined;
  const title = text.slice(0, head.index).replace(/:? *$/, '');
  const metrics = parseMetrics(`${title} | ${text.slice(from, to).replace(/^[, ]+/, '')}`) ?? {};
  const trains = Object.keys(metrics).some(isOfTraining);
  return {
    name: title.replace(/[-+]?\d[\d.,]*(?:e[-+]?\d+)?|nan|-?inf/gi, '#'),
    count: Number(count ?? counted),
    total: Number(total),
    metrics: trains ? metrics : {},
    rest: text.slice(to + 1),
  };
}

/** Where the bracket ends that is open at `from`. */
function closing(text: string, from: number): number | undefined {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '[') open += 1;
    else if (text[at] === ']') open -= 1;
    if (open === 0) return at;
  }
  return undefined;
}

export interface Bars {
  /** What a bar tells that it did not tell before, with its step; undefined where that is nothing. */
  news(bar: Bar): JsonObject | undefined;
}

/** What is remembered of a bar, in its pass over the data. */
interface Drawn {
  count: number;
  total: number;
  readonly told: Map<string, { readonly value: unknown; readonly count: number }>;
}

/**
 * A bar is drawn again until the training has new numbers, and often before its count is raised: what has not changed is no
 * news. Yet a loss may stand still: it is told again, ever more seldom.
 */
export function bars(): Bars {
  const drawn = new Map<string, Drawn>();
  /** Around a bar there may be another, which sums it up. */
  const owners = new Map<string, string>();

  function news({ name, count, total, metrics }: Bar): JsonObject | undefined {
    const known = drawn.get(name);
    if (known === undefined && (!Object.keys(metrics).some(isOfTraining) || drawn.size === MOST))
      return undefined;
    const bar = known === undefined || isNextPass(known, count) ? { count, total, told: new Map() } : known;
    drawn.set(name, bar);
    bar.count = Math.max(bar.count, count);
    const own = Object.entries(metrics).filter(([metric]) => {
      if (!owners.has(metric)) owners.set(metric, name);
      return owners.get(metric) === name && meaningOf(metric) === 'series';
    });
    // Drawn again at the same count, it has what belongs to the next.
    const later = own.filter(([metric]) => count > (bar.told.get(metric)?.count ?? -1));
    const isNews = ([metric, value]: readonly [string, unknown]): boolean => {
      const before = bar.told.get(metric);
      return (
        before === undefined ||
        value !== before.value ||
        count >= before.count + Math.max(SOON, before.count / 2)
      );
    };
    // What is logged at once stands beside each other, also where some of it is the same as before.
    const together = later.some((each) => isOfTraining(each[0]) && isNews(each));
    const fresh = later.filter((each) => (isOfTraining(each[0]) ? together : isNews(each)));
    if (fresh.length === 0) return undefined;
    for (const [metric, value] of fresh) bar.told.set(metric, { value, count });
    const steps = Object.entries(metrics).filter(([metric]) => typeof meaningOf(metric) === 'object');
    return { step: count, ...Object.fromEntries(steps), ...Object.fromEntries(fresh) };
  }

  return { news };
}

const isOfTraining = (name: string): boolean => isLogged(name) && !roleOf(name).evaluation;

/** Of several processes that draw the same bar some are a little behind. */
function isNextPass({ count, total }: Drawn, next: number): boolean {
  return next < count / 2 && (count >= total || count > 10);
}
