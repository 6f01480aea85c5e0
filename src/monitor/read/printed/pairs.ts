// Metrics as training programs print them for people, a step and its numbers in one line of text:
//   step:12 - actor/pg_loss:0.01 - actor/grad_norm:0.31                          verl
//   iteration       12/     100 | learning rate: 1.0E-04 | lm loss: 8.1E+00 |    Megatron
//   Step 12 | loss:1.59 lr:2e-05                                                 torchtune
//   step: 12  loss:  8.1200  grad_norm: 1.30  memory: 12.3GiB(15%)  tps: 3,100   torchtitan
//   iter 12: loss 3.2100, time 12.31ms, mfu 3.2%                                 nanoGPT
//   Step 12 | Time: 3.2s | Loss: 0.012 | Grad. Norm: 0.3                         prime-rl
//   ... - rollout step 12: {'train/loss': 0.01}                                  slime
// with whatever a logger, Ray or torchrun writes in front.
import type { JsonObject } from '../../../protocol/result.ts';
import { roleOf } from '../../roles.ts';
import { meaningOf, parseObject } from '../json/objects.ts';
import { numbersOf, parsePythonDict } from './python-dict.ts';

/** More is no line of metrics; those of verl have some ten thousand characters. */
const LONGEST = 65_536;

/** Lines without one of these words are not looked at any further. */
const HINT = /step|ite?r|epoch|update|(?:rollout|perf|eval) \d/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are written by them
export const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;

const NUMBER = String.raw`[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?\b|nan\b)`;
/** No part of a date, a time of day, a version, a list or a quotient. */
const ENDS = String.raw`(?!\d|\.\d|,\d|[:/-]\d|\s*/\s*\d)`;

/** How far the training is; `total steps: 1000` is not. Its count may stand in brackets, and before that of all. */
const STEP = new RegExp(
  String.raw`(?<![\w/.-])(?<!\b(?:max|maximum|total|warm-?up|num|number of|of|per|every|each|eval|save|saving|logging|decay|accumulation|remaining|last|best|from|next|micro)[ _])` +
    String.raw`((?:global|train|training|opt|optimizer)[ _-]?steps?|step(?:\.{3})?|steps(?! ?=)|iter|iters|itr|iteration|epoch|update)(\((?:train|val)\))?` +
    String.raw`\s*[:=#]?\s*[[(]?\s*(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w.]|,\d|\s*%)(?:\s*(?:/|of)\s*[\d,]+)?\s*[\])]?(?:\s*\(\d+(?:\.\d+)?%\))?:?`,
  'gi',
);
const WORD = String.raw`[A-Za-z_][\w./@%+-]*(?:\([^()\s]{0,40}\)[\w./@%+-]*)?`;
const NAME = String.raw`${WORD}(?: (?:${WORD}|\([^()\s]{0,40}\))){0,6}`;
const PAIR = new RegExp(
  String.raw`(?<![^\s([{,|:\]])(${NAME})[:=](?:(?:np\.\w+|tensor|array)\(|\[)?(${NUMBER})([kmbt]\b)?${ENDS}`,
  'gi',
);
/** A number among words, with its unit. */
const SPACED = new RegExp(`^(${NUMBER})(?:([kmbt])|[a-z%/]{1,12})?[.,*]?$`, 'i');
const SEPARATORS = / *[|│] *| +[-–·•] +|, +|; *|(?<=\d)\. +| {2}/;
/** What loggers and Ray put in front: `train.py:57`, `(TaskRunner pid=1234)`. */
const PLACE = /(?<!\S)\S{1,200}?\.(?:py|pyx|cpp|cc|cu|h)\b\S*|\([^()]{0,80}\bpid=\d+[^()]{0,80}\)/g;
/** `val loss: n/a` */
const NOTHING =
  /(?<![\w./])[A-Za-z_][\w./]{0,60}(?: [A-Za-z_][\w./]{0,60}){0,3}[:=] ?(?:n\/a|none|--?)(?=[\s,;|]|$)/gi;
/** A word by itself before the first number, not one of the name of a module or of a run: the line is of held-out data. */
const EVALUATES =
  /(?<![\w./-])(?:eval|evaluat(?:ion|e|ing)|val|valid|validat(?:ion|e|ing))(?![\w./-])|^\W*test(?:ing)?(?![\w.-])/i;
/** `Namespace(lr=1e-05, steps=100)` */
const CALL = /^(?:def |class )?\w+\(.*\) ?:?$/;
/** Of settings and checkpoints: what is told there is of another step, or of none. */
const NO_METRICS =
  /\b(?:resum|restor|load|sav|stopp)(?:e|ed|es|ing)\b|\b(?:early|since|best|config|args|arguments?|starts|starting|time \(ms\))(?!\w)/i;
/** What slime puts before its dicts. */
const PHASE = /\b(?:rollout|perf|eval|train) (\d+): ?$/;
/** Where it is no step, for what stands beside it, it is nothing; nor is the number that Lightning gives a run. */
const COUNTS = /^(?:steps?|iters?|iterations?|epochs?|updates?|v_num)$/i;
/** `106K`, which is rounded: it stands still where what it counts goes on. */
const isRough = (unit = ''): boolean => unit === 'k' || /^[KMBT]$/.test(unit);

/** Undefined for what tells no step, or no number that is one of a training. */
export function parsePairs(text: string): JsonObject | undefined {
  if (text.length > LONGEST || !HINT.test(text)) return undefined;
  const line = cleaned(text);
  if (CALL.test(line)) return undefined;
  const at = line.endsWith('}') ? line.search(/\{['"]/) : -1;
  const { steps, rest } = stepsOf(at < 0 ? line : line.slice(0, at));
  const metrics = at < 0 ? metricsOf(rest) : dictOf(line.slice(at), rest, steps);
  if (metrics === undefined) return undefined;
  const all = { ...steps, ...metrics };
  // A dict may be counted.
  return at >= 0 || Object.keys(all).some((name) => typeof meaningOf(name) === 'object') ? all : undefined;
}

export interface Told {
  readonly steps: Numbers;
  readonly metrics: Numbers;
}

/** Of a text that is known to be of one step, named or not. */
export function parseNumbers(text: string): Told {
  const { steps, rest } = stepsOf(cleaned(text));
  return { steps, metrics: Object.fromEntries(namedOf(pairsOf(rest).pairs, false)) };
}

/** Without runs of spaces, also where something was between them: they would be tried from each of their places. */
function cleaned(text: string): string {
  return spacedOut(spacedOut(text.replace(COLOURS, '  ').replace(PLACE, ' ')).replace(NOTHING, ' ')).trim();
}

const spacedOut = (text: string): string => text.replace(/\s{2,}|\t/g, '  ');

export type Numbers = Readonly<Record<string, number>>;

/** Each step under its name in logs, and the line without them. */
function stepsOf(line: string): { readonly steps: Numbers; readonly rest: string } {
  const steps: Record<string, number> = {};
  // Steps of an episode are its length.
  const episodes = /\bepisode/i.test(line);
  const rest = line.replace(STEP, (all, word: string, phase: string | undefined, count: string) => {
    const name = stepName(word);
    const step = numberIn(count);
    if ((episodes && /steps/i.test(word)) || (name !== 'epoch' && !Number.isInteger(step))) return all;
    steps[name] ??= step;
    return ` ${phase ?? ''} | `;
  });
  const phase = PHASE.exec(rest)?.[1];
  return { steps: phase === undefined ? steps : { step: Number(phase), ...steps }, rest };
}

/** Of Python or, behind a step, of JSON. */
function dictOf(text: string, before: string, steps: Numbers): JsonObject | undefined {
  if (NO_METRICS.test(before)) return undefined;
  const introduced = Object.keys(steps).length > 0;
  const json = introduced || /"(?:num_updates|step|epoch)"/.test(text) ? parseObject(text) : undefined;
  return json === undefined ? parsePythonDict(text, introduced) : numbersOf(json);
}

/** Undefined where no number is one of a training. */
function metricsOf(rest: string): Numbers | undefined {
  const { pairs, before } = pairsOf(rest);
  if (NO_METRICS.test(before)) return undefined;
  const metrics = namedOf(pairs, EVALUATES.test(before));
  if (!metrics.some(([name]) => isLogged(name))) return undefined;
  const trains = metrics.some(([name]) => isLoss(name) && !roleOf(name).evaluation);
  // Where there was no evaluation yet, some print one that is none.
  return Object.fromEntries(
    metrics.filter(([name, value]) => !(trains && Number.isNaN(value) && roleOf(name).evaluation)),
  );
}

/** As loggers have them; without those that were rounded to nothing. */
function namedOf(pairs: readonly (readonly [string, string])[], evaluates: boolean): [string, number][] {
  const precise = pairs.some(([, number]) => /\.\d{9}/.test(number));
  return pairs
    .filter(([name]) => !COUNTS.test(name))
    .map(([name, number]) => [nameOf(name, evaluates), number] as const)
    .filter(([name, number]) => precise || !isRoundedAway(name, number))
    .map(([name, number]) => [name, numberIn(number)]);
}

/** As logs have it, of the ways in which it is printed. */
function stepName(word: string): string {
  const lower = word.toLowerCase();
  if (lower.startsWith('it')) return 'iteration';
  if (lower.startsWith('global')) return 'global_step';
  return lower === 'epoch' || lower === 'update' ? lower : 'step';
}

/** A name that a logger has, where prose has another. */
export const isLogged = (name: string): boolean =>
  roleOf(name).role !== undefined || (name.includes('/') && meaningOf(name) === 'series');

const isLoss = (name: string): boolean => roleOf(name).role === 'loss' || roleOf(name).role === 'sft_loss';

/**
 * `0.000000` may be any number below the last digit: a learning rate is that small, and a loss or a gradient norm below
 * hundredths. Of others that is not so, and Python by itself writes small numbers with an exponent.
 */
function isRoundedAway(name: string, number: string): boolean {
  const decimals = /^[-+]?0\.(0+)$/.exec(number)?.[1]?.length ?? 0;
  const { role } = roleOf(name);
  if (role === 'learning_rate') return decimals > 1;
  return decimals > 0 && decimals <= 2 && (role === 'grad_norm' || isLoss(name));
}

/** Names and numbers, and what stands before the first of them. */
function pairsOf(head: string): { readonly pairs: [string, string][]; readonly before: string } {
  const pairs: [string, string][] = [];
  let before = '';
  const closed = head
    // Numbers are padded so that columns stand below each other.
    .replace(/ *= */g, '=')
    .replace(/\) ?: ?/g, ') | ')
    .replace(/ *: +/g, ':')
    .replace(/ is (?=[-+\d.]|nan|inf)/gi, ':')
    .replace(/(?<=[A-Za-z_)%]) {2}(?=[-+]?\d|nan|inf)/g, ' ');
  for (const segment of closed.split(SEPARATORS)) {
    const found =
      spaced(segment.trim()) ??
      [...segment.matchAll(PAIR)].map(({ 1: name = '', 2: number = '', 3: unit, index }) => ({
        pair: [name, isRough(unit) ? '' : number] as [string, string],
        index,
      }));
    if (pairs.length === 0) before += ` ${segment.slice(0, found[0]?.index)}`;
    for (const { pair } of found) if (pair[1] !== '') pairs.push(pair);
  }
  return { pairs, before };
}

/** `train_loss 2.3 val_loss 2.4`, or `Loss 2.3 (2.4)`, and nothing else. */
function spaced(segment: string): { pair: [string, string]; index: number }[] | undefined {
  const words = segment.replace(/ ?\([^()]*\)$/, '').split(' ');
  const pairs: [string, string][] = [];
  let name: string[] = [];
  for (const word of words) {
    const [, number, unit] = SPACED.exec(word) ?? [];
    if (number === undefined) {
      if (!/^[A-Za-z_(][\w./%()-]*$/.test(word) || name.length === MOST_WORDS) return undefined;
      name.push(word);
    } else if (name.length > 0) {
      pairs.push([name.join(' '), isRough(unit) ? '' : number]);
      name = [];
    } else return undefined;
  }
  // A unit may stand behind a single one.
  if (pairs.length === 0 || (name.length > 0 && (pairs.length > 1 || name.length > 1))) return undefined;
  return pairs.map((pair) => ({ pair, index: 0 }));
}

const MOST_WORDS = 6;

function numberIn(text: string): number {
  const lower = text.toLowerCase().replaceAll(',', '');
  if (lower.endsWith('nan')) return Number.NaN;
  if (!lower.includes('inf')) return Number(lower);
  return lower.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** As loggers of the same trainers name it: `Grad. Norm` is a grad norm, `val loss` is that of validation. */
function nameOf(printed: string, evaluates: boolean): string {
  const name = printed
    .replace(/\.(?= |$)/g, '')
    .replace(/(?<=loss) value$/i, '')
    .replace(/^(?:evaluation|held[- ]?out) (?=\S)/i, 'eval/')
    .replace(/^(train|training|val|valid|validation|eval|test) (?=\S)/i, '$1/')
    .replace(/^loss (train|training|val|valid|validation|eval|test)$/i, '$1/loss');
  const own = roleOf(name).evaluation || /^train/i.test(name) || meaningOf(name) !== 'series';
  return evaluates && !own ? `eval/${name}` : name;
}
