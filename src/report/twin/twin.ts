// What a twin found, on a terminal: a line for each change that makes no difference, and for each other one the first place
// where the runs part.
import { CHANGES } from '../../twin/changes.ts';
import type { TwinRow } from '../../twin/run.ts';
import { REPEAT, type TwinResult, verdictOf } from '../../twin/twin.ts';
import type { Apart, Difference, Outcome, TokensApart } from '../../twin/verdict.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { harmless, pad, shorten, wrap } from '../text/visible.ts';

/** A token as people read it. */
export type TextOf = (id: number) => string;

export interface TwinPrint {
  readonly width: number;
  readonly paint: Paint;
  readonly textOf: TextOf;
}

/** One change; the sentences below its line say where the runs part, or why nothing was compared. */
export function resultLines(result: TwinResult, print: TwinPrint): string[] {
  const { name, outcome } = result;
  const { width, paint } = print;
  const line = `${SIGNS[outcome.kind]} ${pad(name, NAME_WIDTH)} ${headOf(outcome)}`;
  const paints = { agree: paint.blue, sized: paint.blue, parts: paint.orange, untold: paint.dim };
  return [
    ...wrap(harmless(line), width).map(paints[outcome.kind]),
    ...outcomeSentences(result, print.textOf).flatMap((sentence) =>
      wrap(harmless(sentence), width - INDENT.length).map((text) => INDENT + text),
    ),
    ...(outcome.kind === 'untold' ? errorLines(outcome.lines ?? [], print) : []),
  ];
}

/** The last lines of a script that failed, as they are but for their length. */
export function errorLines(lines: readonly string[], { width, paint }: TwinPrint): string[] {
  const indent = `${INDENT}| `;
  // One line alone is the reason, which stands in the sentence.
  return (lines.length > 1 ? lines : []).map((line) =>
    paint.dim(indent + shorten(harmless(line), Math.max(1, width - indent.length))),
  );
}

/** Which files of others the runs wrote; none where all is as it was. */
export function writtenSentences({ before, again }: Written): string[] {
  const advice =
    'To give each run a folder of its own, write {run} in the arguments of the script in place of a folder.';
  const sentences = [
    before.length === 0 ? [] : `The runs changed files that were there before: ${fileWords(before)}.`,
    again.length === 0 ? [] : `Each run wrote over files of the run before: ${fileWords(again)}.`,
  ].flat();
  return sentences.length === 0 ? [] : [...sentences, advice];
}

export interface Written {
  /** Files that were there before the first run, and are others now. */
  readonly before: readonly string[];
  /** Files that are none of the user's, written by one run and again by another. */
  readonly again: readonly string[];
}

export function verdictLine(results: readonly TwinResult[]): string {
  const verdict = verdictOf(results);
  const of = (kind: Outcome['kind']): readonly TwinResult[] =>
    results.filter(({ outcome }) => outcome.kind === kind);
  const names = (list: readonly TwinResult[]): string => list.map(({ name }) => name).join(', ');
  const without = of('untold').length === 0 ? '' : `; not compared: ${names(of('untold'))}`;
  const measured = of('sized').length === 0 ? '' : `; measured: ${names(of('sized'))}`;
  const others = `${measured}${without}`;
  const compared = `${plural(of('agree').length, 'change agrees', 'changes agree')}${others}`;
  if (verdict === 'parts')
    return `${names(of('parts'))} changed what is trained${of('agree').length === 0 ? others : `; ${compared}`}.`;
  return verdict === 'agree' ? `${compared}.` : 'No verdict: nothing could be compared.';
}

/** Where two runs part, in sentences: the place, the two values, and what that says. */
export function differenceSentences(difference: Difference, textOf: TextOf, isRepeat = false): string[] {
  const { step } = difference;
  const [without, withIt] = isRepeat
    ? (['in the first run', 'in the second'] as const)
    : (['without the change', 'with it'] as const);
  switch (difference.what) {
    case 'start':
      return [
        `The weights differ before the first step: ${tensorsWords(difference.tensors, difference.of)}.`,
        'Seed what initialises them, or look at what loads them.',
      ];
    case 'rows': {
      const [first, second] = difference.alone;
      if (difference.targets)
        return [
          `Step ${step} trains the same rows toward other targets: ${targetWords(first, second, textOf)}.`,
        ];
      return [
        `Step ${step} trains other rows: ${first.length} only ${without}, ${second.length} only ${withIt}.`,
        ...first.slice(0, 1).map((row) => rowWords(`Only ${without}`, row, textOf)),
        ...second.slice(0, 1).map((row) => rowWords(`Only ${withIt}`, row, textOf)),
      ];
    }
    case 'logprobs':
      return [
        `In step ${step} the model gives other probabilities to the same tokens: ${tokenWords(difference, 'logprob', textOf)}.`,
        ...(difference.module === undefined
          ? []
          : [
              difference.module === ''
                ? 'The outputs of its modules agree; its return value does not.'
                : `The first module with another output: ${difference.module}.`,
            ]),
      ];
    case 'weights':
      return [
        `In step ${step} the probabilities agree, and the weights of the tokens in the loss do not: ${tokenWords(difference, 'weight', textOf)}.`,
        'Look at what the loss is divided by: rows, columns or tokens of a micro-batch in place of those of the step.',
      ];
    case 'gradients':
      return [
        `In step ${step} all tokens have the same weights, and the gradient that the optimiser gets is another: ${tensorsWords(difference.tensors, difference.of)}; rounding explains ${percent(difference.explained)}.`,
        gradientHint(difference),
      ];
    case 'rates':
      return [
        `In step ${step} the gradients agree, and the learning rate is ${difference.rates[1].map(short).join(', ')} instead of ${difference.rates[0].map(short).join(', ')}.`,
      ];
    case 'count':
      return [
        `The run makes ${plural(difference.counts[1], 'step')} with the change, and ${difference.counts[0]} without it.`,
      ];
    case 'finite':
      return [
        `In step ${step}, ${plural(difference.names.length, 'gradient')} of NaN or infinity ${difference.names.length === 1 ? 'is' : 'are'} only in the run ${difference.with ? 'with' : 'without'} the change, first of all ${plainName(difference.names[0] ?? '')}.`,
        'Look for a number that overflows or is divided by 0 in this precision.',
      ];
    case 'updates':
      return [
        `In step ${step} gradients and learning rates agree, and the weights after it do not: ${tensorsWords(difference.tensors, difference.of)}; rounding explains ${percent(difference.explained)}.`,
        'Look at the state of the optimiser: moments that were lost, or steps that are counted anew.',
      ];
    default:
      return [];
  }
}

// --- helpers ---

type Sized = Extract<Outcome, { kind: 'sized' }>;

const INDENT = '    ';
const NAME_WIDTH = Math.max(...CHANGES.map(({ name }) => name.length));
export const SIGNS = { agree: '✓', sized: '·', parts: '✗', untold: '·' } as const;
/** Tokens of a row that are shown before the one in question. */
const MOST_TOKENS = 8;

export function headOf(outcome: Outcome): string {
  if (outcome.kind === 'untold') return 'not compared';
  if (outcome.kind === 'parts') return 'the runs part';
  if (outcome.kind === 'sized')
    return `${outcome.precisions[1]} moves the gradients of step ${outcome.step} by about ${percent(outcome.gradients)}`;
  const { units, steps, until } = outcome;
  const size =
    units === 0 ? 'the same to the last bit' : `the largest difference is ${short(units)} times the rounding`;
  const end = until === undefined ? '' : `; from step ${until} on rounding alone is larger than 10 %`;
  return `${size}, ${plural(steps, 'step')}${end}`;
}

export function outcomeSentences({ name, outcome }: TwinResult, textOf: TextOf): string[] {
  if (outcome.kind === 'untold') return [`${outcome.why[0]?.toUpperCase() ?? ''}${outcome.why.slice(1)}.`];
  if (outcome.kind === 'sized') return sizeSentences(outcome);
  return outcome.kind === 'parts' ? differenceSentences(outcome.difference, textOf, name === REPEAT) : [];
}

/** Files that are named. */
const MOST_FILES = 3;

function fileWords(files: readonly string[]): string {
  const more = files.length - MOST_FILES;
  return `${files.slice(0, MOST_FILES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function sizeSentences({ worst, signs, logprob, rounding, precisions }: Sized): string[] {
  return [
    `Most of all ${plainName(worst.name)}, by ${percent(worst.relative)}.`,
    ...(signs === undefined ? [] : [`About ${percent(signs)} of all elements have the other sign.`]),
    `A log-probability moves by ${short(logprob)} at most.`,
    ...(rounding === undefined
      ? []
      : [`Rounding alone moves the gradients by ${percent(rounding)} in ${precisions[0]}.`]),
  ];
}

function tensorsWords(tensors: readonly Apart[], of: number): string {
  const [worst] = tensors.toSorted((a, b) => b.relative - a.relative);
  if (worst === undefined) return 'none';
  const [before, after] = worst.norms;
  const name = plainName(worst.name);
  return `${tensors.length} of ${plural(of, 'tensor')}, most of all ${name} (norm ${insteadOf(before, after)}, ${percent(worst.relative)} apart)`;
}

function tokenWords(
  { token, tokens, of, explained }: TokensApart,
  field: 'logprob' | 'weight',
  textOf: TextOf,
): string {
  const [first, second] = token.tokens;
  const [row] = token.rows;
  const place = `token ${first.at} of row ${row.row}, micro-batch ${row.forward}`;
  const word = first.target === undefined ? '' : ` ${JSON.stringify(textOf(first.target))}`;
  const amount =
    field === 'logprob' ? `rounding explains ${short(explained)}` : `rounding explains ${percent(explained)}`;
  return `${tokens} of ${plural(of, 'token')}, most of all${word} (${place}): ${insteadOf(first[field] ?? Number.NaN, second[field] ?? Number.NaN)}; ${amount}`;
}

function gradientHint({
  lost,
  begins,
  factor,
  backward,
}: Extract<Difference, { what: 'gradients' | 'updates' }>): string {
  if (lost !== undefined)
    return `With the change, the gradients of micro-batch ${lost.join(', ')} of the step (counted from 0) are not in it.`;
  if (factor !== undefined)
    return `All of them are ${short(factor)} times as large: look at clipping, loss scaling, and what gradients are averaged over.`;
  if (backward?.kind === 'module')
    return `The gradient at the output of ${moduleName(backward.module)} agrees, and at its input it does not: look at what that module does in the backward pass.`;
  if (backward?.kind === 'from')
    return `The backward pass differs from the ${backward.side} of ${moduleName(backward.module)} on: look at what the forward pass does with it.`;
  if (backward?.kind === 'nowhere')
    return 'The gradients at the outputs of all modules agree: look at how those of the weights are computed, or at what stands between backward() and step().';
  return begins === undefined
    ? 'Look at what stands between backward() and step(): a micro-batch may be lost or counted twice.'
    : `The tensors after ${plainName(begins)} agree, so the backward pass differs from there on: look at that module.`;
}

/** The root has no name. */
const moduleName = (name: string): string => (name === '' ? 'the model' : name);

const plainName = (name: string): string => name.replace(/^\d+ /, '');

/** The first token of a row that has another target, or that one run alone trains. */
function targetWords(first: readonly TwinRow[], second: readonly TwinRow[], textOf: TextOf): string {
  for (const row of first) {
    const other = second.find(({ ids }) => ids.join() === row.ids.join());
    const targets = (each: TwinRow | undefined): ReadonlyMap<number, number | undefined> =>
      new Map(each?.tokens.map(({ at, target }) => [at, target]));
    const [before, after] = [targets(row), targets(other)];
    const at = [...new Set([...before.keys(), ...after.keys()])].find(
      (each) => before.get(each) !== after.get(each),
    );
    if (at === undefined) continue;
    const word = (id: number | undefined): string => (id === undefined ? 'none' : JSON.stringify(textOf(id)));
    return `at token ${at} of row ${row.row}, micro-batch ${row.forward}, ${word(after.get(at))} instead of ${word(before.get(at))}`;
  }
  return 'of other rows each';
}

function rowWords(what: string, { ids, tokens }: TwinRow, textOf: TextOf): string {
  const shown = ids.slice(0, MOST_TOKENS).map((id) => textOf(id));
  const more = ids.length > MOST_TOKENS ? ' …' : '';
  return `${what}: ${shown.join(' ')}${more} (${plural(ids.length, 'token')}, ${tokens.length} trained)`;
}

/** As many digits as tell them apart. */
function insteadOf(before: number, after: number): string {
  let digits = 3;
  while (digits < 7 && before.toPrecision(digits) === after.toPrecision(digits)) digits += 1;
  const told = (value: number): string => String(Number(value.toPrecision(digits)));
  return `${told(after)} instead of ${told(before)}`;
}

const short = (value: number): string => String(Number(value.toPrecision(3)));
const percent = (share: number): string => `${short(100 * share)} %`;
