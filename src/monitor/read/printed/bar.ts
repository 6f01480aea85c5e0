// Bars of progress, as tqdm writes them over each other, with what a training says of itself in their title or behind them:
//   Epoch 0:  10%|█         | 10/100 [00:05<00:45,  2.00it/s, v_num=0, train_loss=2.310]     Lightning
//   Train step of epoch 0:  10%|█         | 10/100 [00:05<00:45, 2.00it/s, gpt_loss=2.31]    OpenRLHF
//   1|25|Loss: 1.5912:   1%|          | 25/1000 [00:10<06:30,  2.50it/s]                    torchtune
//   Steps:   1%|          | 20/2000 [00:10<16:30, 1.00s/it, lr=1e-5, step_loss=0.123]        diffusers
import { roleOf } from '../../roles.ts';
import { meaningOf } from '../json/objects.ts';
import { COLOURS, isLogged, type Numbers, parseNumbers } from './pairs.ts';

/** How far it is, of how many, and its time: `|█   | 10/100 [00:05<00:45`; or, where nobody knows how many, `10it [00:05` before a rate. */
const HEAD =
  /(?:\d{1,3}%)?\|[^|]{0,400}\| {0,10}(\d{1,15})\/(\d{1,15}|\?)(?:\.\d{1,15})? \[[\d:?]{1,20}<[\d:?]{1,20}|(?<![\w.])(\d{1,15}) ?[a-z]{1,20} \[[\d:?]{1,20}(?=, {0,10}[\d.?]{1,12} ?[a-z]{0,20}\/)/i;
/** A bar is as wide as a terminal, or little more. */
const LONGEST = 8_192;
const LONGEST_TITLE = 80;
/** In a title, a metric and its number, or a best one. */
const METRIC =
  /[\p{L}_][\p{L}\p{N}_/ -]{0,40}(?:[:= ] ?[-+]?\d{0,15}\.\d{1,15}|[:=] ?[\w.+-]{1,20})|\b(?:best|last|previous) \w{1,20}/giu;
const PASS = /(?:epochs?|\bep|\bpass|轮次?|エポック|에포크)[^\p{L}\d]{0,3}(\d{1,9})(?![\d.])|第 ?(\d{1,9})/iu;
const WORDS = /\p{Lu}?\p{Ll}+|\p{L}+/gu;
const TRAINS = /^(?:train\w*|fit(?:ting)?|训练|訓練|学習|학습.*)$/i;
/** What is counted is no training. */
const ASIDE =
  /^(?:e?val|valid(?:s|set)?|validat\w*|validier\w*|validaci\p{L}*|evaluat\w*|évaluat\w*|evals|test(?:s|ing|set)?|dev|held|sanity|infer(?:ence|ring)|predict\w*|generat\w*|sampling|scoring|roll|rollouts?|collect\w*|find(?:ing|er)?|load(?:ing)?|sav(?:e|ing)|валид\p{L}*|тест\p{L}*)$|验证|驗證|测试|測試|评估|評価|検証|검증|평가/iu;
/** In a title, whatever differs from draw to draw. */
const VALUES =
  /[-+]?\d(?:[\d.,:hms]*[\dhms])?(?:e[-+]?\d+)?|\b(?:nan|-?inf|none|n\/a|(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?= \w))\b/gi;

export interface Bar {
  /** Its title without numbers. */
  readonly title: string;
  /** The number of the pass over the data in its title. */
  readonly pass: number | undefined;
  readonly count: number;
  /** NaN where nobody knows it. */
  readonly total: number;
  /** Of a training; empty where it tells of anything else. */
  readonly metrics: Numbers;
  /** It has metrics, and by its title they are of no training. */
  readonly aside: boolean;
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
  const behind = parseNumbers(text.slice(from, to).replace(/^[, ]+/, ''));
  const metrics = [
    // Of words before a number, only those that are known name one.
    ...Object.entries(parseNumbers(title).metrics).filter(([name]) => roleOf(name).role !== undefined),
    ...Object.entries(behind.metrics),
  ].filter(([name]) => meaningOf(name) === 'series');
  const tells = metrics.some(([name]) => isOfTraining(name));
  const aside = tells && isAside(title);
  return {
    title: title.replace(VALUES, '#').slice(0, LONGEST_TITLE),
    pass: passOf(title),
    count: Number(count ?? counted),
    total: Number(total),
    metrics: tells && !aside ? Object.fromEntries(metrics) : {},
    aside,
    steps: Object.fromEntries(Object.entries(behind.steps).filter(([name]) => name !== 'epoch')),
    rest: end === undefined ? '' : text.slice(end + 1),
  };
}

function passOf(title: string): number | undefined {
  const [, named, counted] = PASS.exec(title) ?? [];
  const number = named ?? counted;
  return number === undefined ? undefined : Number(number);
}

function isAside(title: string): boolean {
  const words = title.replace(METRIC, ' ').match(WORDS) ?? [];
  return words.some((word) => ASIDE.test(word)) && !words.some((word) => TRAINS.test(word));
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

export const isOfTraining = (name: string): boolean => isLogged(name) && !roleOf(name).evaluation;
