// What there is to say of a property or a bug beyond one failure: the page that a failure leads to, as data and as
// lines. The site makes its pages of the same data.
import { type Bug, bugs, bugsOf, threadUrl } from '../bugs/index.ts';
import type { Property, World } from '../check/property.ts';
import { type Op, PROTOCOL } from '../protocol/message.ts';
import type { Paint } from '../report/paint.ts';
import { pad, wrap } from '../report/visible.ts';
import type { Level, Stage } from '../vocabulary.ts';

export interface Thread {
  /** `owner/repo#123` or `owner/repo@abc1234`. */
  readonly thread: string;
  readonly url: string;
}

export interface BugExplanation {
  readonly id: string;
  readonly what: string;
  readonly todo: string;
  readonly seen: readonly Thread[];
  readonly unshown?: string;
  /** Ids of the properties that catch it. */
  readonly caughtBy: readonly string[];
}

export interface PropertyExplanation {
  readonly id: string;
  readonly title: string;
  readonly level: Level;
  readonly stage: Stage;
  readonly why: string;
  readonly ops: readonly Op[];
  /** Sentences, each a reason for which it does not judge a trainer that has the ops. */
  readonly exceptions: readonly string[];
  readonly bugs: readonly BugExplanation[];
  /** Runs this property alone. */
  readonly command: string;
}

export function explainProperty(property: Property, properties: readonly Property[]): PropertyExplanation {
  const { id, title, level, stage, why, ops, catches } = property;
  return {
    id,
    title,
    level,
    stage,
    why,
    ops,
    exceptions: exceptionsOf(property),
    bugs: bugsOf(catches).map((bug) => explainBug(bug, properties)),
    command: `npx trainproof check --only ${id}`,
  };
}

export function explainBug(
  { id, what, todo, seen, unshown }: Bug,
  properties: readonly Property[],
): BugExplanation {
  return {
    id,
    what,
    todo,
    seen: seen.map((thread) => ({ thread, url: threadUrl(thread) })),
    ...(unshown === undefined ? {} : { unshown }),
    caughtBy: properties.filter(({ catches }) => catches.includes(id)).map((property) => property.id),
  };
}

export const BUG_IDS: readonly string[] = bugs.map(({ id }) => id);

/**
 * What the needs of a property say to a trainer that has its ops and declares nothing, and to one whose special ids
 * are fixed: between them they say every condition that a property has.
 */
function exceptionsOf({ needs = [], ops }: Property): string[] {
  const bare: World = {
    hello: {
      protocol: PROTOCOL,
      name: 'any',
      ops: Object.fromEntries(ops.map((op) => [op, {}])),
    },
    semantics: {},
    tokenizer: undefined,
  };
  const fixed: World = {
    ...bare,
    hello: { ...bare.hello, tokens: { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] } },
  };
  return [...new Set(needs.flatMap((need) => [bare, fixed].map(need)).filter((said) => said !== undefined))];
}

export interface Print {
  readonly width: number;
  readonly paint: Paint;
}

/** Lines of a property's page, none wider than `width` except where one word is. */
export function propertyLines(explanation: PropertyExplanation, print: Print): string[] {
  const { id, title, level, stage, why, ops, exceptions, bugs: caught, command } = explanation;
  const { paint } = print;
  const asks = `${ops.map((op) => `\`${op}\``).join(', ')}, of PROTOCOL.md`;
  return [
    `${paint.bold(id)}  ${paint.dim(`${level} · stage ${stage}`)}`,
    ...indented(title.replace(/\.?$/, '.'), print),
    ...section('Why it matters', indented(why, print), print),
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
    ...(more > 0 ? [left + paint.dim(`and ${more} more: npx trainproof explain ${bug.id}`)] : []),
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
