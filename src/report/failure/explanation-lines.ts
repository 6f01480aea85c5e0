// The page of a property or a bug on a terminal.

import type { Paint } from '../text/paint.ts';
import { pad, wrap } from '../text/visible.ts';
import {
  BUG_IDS,
  type BugExplanation,
  type ChoiceExplanation,
  type PropertyExplanation,
} from './explanation.ts';

export interface Print {
  readonly width: number;
  readonly paint: Paint;
}

/** Lines of a property's page, none wider than `width` except where one word is. */
export function propertyLines(explanation: PropertyExplanation, print: Print): string[] {
  const { id, title, level, stage, why, ops, exceptions, bugs: caught, command } = explanation;
  const { advice = '', asks: settings = [] } = explanation;
  const { paint } = print;
  const asks = ops.length === 0 ? '' : `${ops.map((op) => `\`${op}\``).join(', ')}, of PROTOCOL.md`;
  return [
    `${paint.bold(id)}  ${paint.dim(`${level} · stage ${stage}`)}`,
    ...indented(title.replace(/\.?$/, '.'), print),
    ...section('Why it matters', indented(why, print), print),
    ...section('What to do', indented(advice, print), print),
    ...section(
      'Required ops',
      settings.flatMap((line) => indented(line, print)),
      print,
    ),
    ...section(
      ops.length === 1 ? 'The op that it asks' : 'The ops that it asks',
      indented(asks, print),
      print,
    ),
    ...section(
      'Not judged where',
      exceptions.flatMap((each) => hanging('–', each, print)),
      print,
    ),
    ...section(
      caught.length === 1 ? 'The bug that it is made for' : 'The bugs that it is made for',
      caught.flatMap((bug, at) => [...(at === 0 ? [] : ['']), ...bugBody(bug, MOST_THREADS, print)]),
      print,
    ),
    ...section('This alone', [INDENT + paint.blue(command)], print),
  ];
}

/** Lines of a bug's page. */
export function bugLines(bug: BugExplanation, print: Print): string[] {
  const { paint } = print;
  return [
    `${paint.bold(bug.id)}  ${paint.dim('a bug of real trainers')}`,
    ...indented(bug.what, print),
    ...section('What to do', indented(bug.todo, print), print),
    ...section(
      'Seen in',
      bug.seen.map(({ url }) => INDENT + paint.blue(url)),
      print,
    ),
    ...section('No mutant shows it', indented(bug.unshown ?? '', print), print),
    ...section(
      'Caught by',
      bug.caughtBy.map((id) => INDENT + id),
      print,
    ),
  ];
}

/** Lines of the page of a choice. */
export function choiceLines(
  { id, says, values, ops, usual, questioned }: ChoiceExplanation,
  print: Print,
): string[] {
  const { paint } = print;
  const all = typeof values === 'string' ? values : values.map((each) => JSON.stringify(each)).join(', ');
  const first = usual ?? (typeof values === 'string' ? undefined : values[0]);
  const declared = first === undefined ? '' : `"semantics": { "${id}": ${JSON.stringify(first)} }`;
  return [
    `${paint.bold(id)}  ${paint.dim('correct trainers differ in it')}`,
    ...indented(`${says}.`, print),
    ...section('Values', indented(all, print), print),
    ...section('Ops whose answers show it', indented(ops.join(', '), print), print),
    ...section('Declared so', declared === '' ? [] : [INDENT + paint.blue(declared)], print),
    ...section(
      'Asked about where it is measured and not declared',
      questioned.flatMap(({ value, why, source }) => [
        ...hanging('–', `${value}: ${why}`, print),
        `${INDENT}  ${paint.dim(source)}`,
      ]),
      print,
    ),
  ];
}

const INDENT = '  ';
/** Of one bug below a property: enough to believe it; `explain BUG` has them all. */
const MOST_THREADS = 3;
const BUG_WIDTH = Math.max(...BUG_IDS.map((id) => id.length));

function bugBody(bug: BugExplanation, most: number, print: Print): string[] {
  const { paint } = print;
  const left = ' '.repeat(INDENT.length + BUG_WIDTH + 2);
  const more = bug.seen.length - most;
  return [
    ...hanging(paint.orange(pad(bug.id, BUG_WIDTH)), bug.what, print, left),
    ...wrap(bug.todo, print.width - left.length).map((line) => left + line),
    ...bug.seen.slice(0, most).map(({ url }) => left + paint.dim(url)),
    ...(more > 0 ? [left + paint.dim(`and ${more} more: npx lossproof explain ${bug.id}`)] : []),
  ];
}

/** Nothing at all where there is nothing to say. */
function section(heading: string, lines: readonly string[], { paint }: Print): string[] {
  return lines.every((line) => line.trim() === '') ? [] : ['', paint.bold(heading), ...lines];
}

function indented(text: string, { width }: Print): string[] {
  return wrap(text, width - INDENT.length).map((line) => INDENT + line);
}

/** A mark, and the text beside it. */
function hanging(
  mark: string,
  text: string,
  { width }: Print,
  left = ' '.repeat(INDENT.length + 2),
): string[] {
  return wrap(text, width - left.length).map(
    (line, at) => (at === 0 ? `${INDENT}${mark}${left.length > 4 ? '  ' : ' '}` : left) + line,
  );
}
