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
import { meaningOf } from '../json/objects.ts';
import { parsePythonDict } from './python-dict.ts';

/** More is no line of metrics; those of verl have some ten thousand characters. */
const LONGEST = 65_536;

/** Lines without one of these words are not looked at any further. */
const HINT = /step|iter|epoch|update/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are written by them
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;

const NUMBER = String.raw`[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?\b|nan\b)`;
/** No part of a date, a time of day, a version or a quotient. */
const ENDS = String.raw`(?!\d|\.\d|[:/-]\d|\s*/\s*\d)`;

/** How far the training is; `total steps: 1000` is not. Its count may stand in brackets, and before that of all. */
const STEP = new RegExp(
  String.raw`(?<![\w/.-])(?<!\b(?:max|maximum|total|warm-?up|num|number of|of|per|every|each|eval|save|saving|logging|decay|accumulation|remaining|last|best|from|next)[ _])` +
    String.raw`((?:global[ _-]?)?step|steps|iter|iteration|epoch|update)\s*[:=#]?\s*[[(]?\s*(\d+(?:\.\d+)?)(?![\w.])(?:\s*(?:/|of)\s*\d+)?\s*[\])]?:?`,
  'gi',
);
const WORD = String.raw`[A-Za-z_][\w./@%+()-]*`;
const NAME = String.raw`${WORD}(?: [A-Za-z_(][\w./@%+()-]*){0,6}`;
const PAIR = new RegExp(
  String.raw`(?<![^\s([{,|])(${NAME})[:=](?:np\.\w+\(|tensor\(|\[)?(${NUMBER})${ENDS}`,
  'gi',
);
/** A name and its number with a space between them are all that stands between two separators, but for a unit and a mean. */
const SPACED = new RegExp(
  String.raw`^([A-Za-z][A-Za-z_./%()-]*(?: [A-Za-z_./%()-]+){0,6}) +(${NUMBER})${ENDS}(?: ?[A-Za-z%/]+)?(?: *\([^)]*\))?$`,
  'i',
);
const SEPARATORS = / *\| *| +[-–·•] +|[,;] +| {2}/;
/** What loggers and Ray put in front: `train.py:57`, `(TaskRunner pid=1234)`. */
const PLACE = /(?<!\S)\S{1,200}?\.(?:py|pyx|cpp|cc|cu|h)\b\S*|\([^()]{0,80}\bpid=\d+[^()]{0,80}\)/g;
/** `val: n/a` */
const NOTHING = /(?<![\w./])[\w./]+[:=] ?n\/a\b/gi;
/** A word by itself, not one of the name of a module or of a run. */
const EVALUATES =
  /(?<![\w./:-])(?:eval|evaluat(?:ion|e|ing)|val|valid|validat(?:ion|e|ing))(?![\w./-])|^\W*test\b/i;

/** Undefined for what tells no step, or no number that is one of a training. */
export function parsePairs(text: string): JsonObject | undefined {
  if (text.length > LONGEST || !HINT.test(text)) return undefined;
  const steps: Record<string, number> = {};
  const line = text
    .replace(COLOURS, '  ')
    .replace(/\s{2,}|\t/g, '  ')
    .replace(PLACE, ' ')
    .replace(NOTHING, ' ')
    .trim();
  const dict = line.endsWith('}') ? line.indexOf("{'") : -1;
  const head = (dict < 0 ? line : line.slice(0, dict)).replace(STEP, (_, word: string, count: string) => {
    steps[word.toLowerCase().replace(/[ -]/g, '_')] ??= Number(count);
    return ' | ';
  });
  if (dict >= 0) {
    const object = parsePythonDict(line.slice(dict), Object.keys(steps).length > 0);
    return object === undefined ? undefined : { ...steps, ...object };
  }
  const { pairs, rest } = pairsOf(head);
  const evaluates = EVALUATES.test(rest);
  const metrics = pairs
    .map(([name, number]) => [nameOf(name, evaluates), number] as const)
    .filter(([name, number]) => !isRoundedAway(name, number))
    .map(([name, number]): [string, number] => [name, numberIn(number)]);
  const told = metrics.filter(([name]) => typeof meaningOf(name) === 'object');
  if (Object.keys(steps).length === 0 && told.length === 0) return undefined;
  if (metrics.length - told.length < 2 && !metrics.some(isLogged)) return undefined;
  return { ...steps, ...Object.fromEntries(metrics) };
}

/** A name that a logger has, where prose has another. */
const isLogged = ([name]: readonly [string, number]): boolean =>
  name.includes('/') || roleOf(name).role !== undefined;

/**
 * `0.000000` may be any number below the last digit: a learning rate is that small, and a gradient norm below hundredths. Of
 * others that is not so, and Python by itself writes `0.0`, and small numbers with an exponent.
 */
function isRoundedAway(name: string, number: string): boolean {
  const decimals = /^[-+]?0\.(0{2,})$/.exec(number)?.[1]?.length ?? 0;
  const { role } = roleOf(name);
  return decimals > 0 && (role === 'learning_rate' || (role === 'grad_norm' && decimals === 2));
}

/** Names and numbers, and what is left beside them. */
function pairsOf(head: string): { readonly pairs: [string, string][]; readonly rest: string } {
  const pairs: [string, string][] = [];
  const rest: string[] = [];
  // Numbers are padded so that columns stand below each other.
  const closed = head.replace(/ *= */g, '=').replace(/ *: +/g, ':');
  for (const segment of closed.split(SEPARATORS)) {
    const [, name, number] = SPACED.exec(segment) ?? [];
    if (name !== undefined && number !== undefined) {
      pairs.push([name, number]);
      continue;
    }
    rest.push(
      segment.replace(PAIR, (_, own: string, value: string) => {
        pairs.push([own, value]);
        return ' ';
      }),
    );
  }
  return { pairs, rest: rest.join(' ') };
}

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
    .replace(/^(train|training|val|valid|validation|eval|test) (?=\S)/i, '$1/')
    .replace(/^loss (train|training|val|valid|validation|eval|test)$/i, '$1/loss');
  return evaluates && !roleOf(name).evaluation ? `eval/${name}` : name;
}
