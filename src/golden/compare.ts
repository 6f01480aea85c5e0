// A recorded answer against the one of today, as a finding: what kind of thing changed, in words with the token or the
// character, the rows as strips, the numbers with their tolerance.
import type { Band } from '../check/numbers.ts';
import { show } from '../check/numbers.ts';
import type { Finding, NumberDifference, World } from '../check/property.ts';
import type { Op } from '../protocol/message.ts';
import {
  type Answers,
  type Cell,
  type Differences,
  differences,
  type Loose,
  type Row,
} from './differences.ts';
import { type Fields, isFloat, kindOf, quotedValue, type Said, sorted } from './entry.ts';
import { named, stripOfRow, tokenWords } from './strips.ts';
import { around, changeOf, count, firstDifferent, listed } from './words.ts';

/** Where and in which precision two answers are compared. */
export interface Setting {
  readonly world: World;
  readonly op: Op;
  readonly args: Fields;
  readonly band: Band;
}

/** Undefined: the same. */
export function compared(setting: Setting, before: Said, after: Said): Finding | undefined {
  if (before.kind === 'answer' && after.kind === 'answer')
    return changedAnswer(setting, before.fields, after.fields);
  // The words of a refusal are no behaviour.
  if (before.kind === after.kind) return undefined;
  return {
    kind: after.kind === 'answer' ? 'answered' : after.kind,
    sentence: `The trainer ${saidWords(before, 'before')}, and ${saidWords(after, 'now')}.`,
  };
}

/** What the trainer declares: values by name, compared exactly. */
export function comparedDeclaration(id: string, before: Fields, after: Fields): Finding | undefined {
  const what = id.split('/')[1] ?? id;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const text = (value: unknown): string | undefined => JSON.stringify(sorted(value));
  const changed = names.filter((name) => text(before[name]) !== text(after[name]));
  if (changed.length === 0) return undefined;
  const told = changed.slice(0, MOST_TOLD).map((name) => {
    const [was, is] = [before[name], after[name]];
    if (was === undefined) return `\`${name}\` is declared now: ${quotedValue(is)}`;
    if (is === undefined) return `\`${name}\` is no longer declared, and was ${quotedValue(was)}`;
    return `\`${name}\` was ${quotedValue(was)}, and is ${quotedValue(is)}`;
  });
  const more = changed.length - told.length;
  return {
    kind: what,
    sentence: `The declared ${what} changed: ${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
  };
}

// --- helpers ---

const MOST_TOLD = 4;
/** Rows shown; what is wrong in twenty is wrong in all. */
const MOST_STRIPS = 20;
/** Numbers listed, those farthest off. */
const MOST_NUMBERS = 12;

function saidWords(said: Said, when: 'before' | 'now'): string {
  if (said.kind === 'answer') return when === 'now' ? 'answers it now' : 'answered this case';
  const verb =
    said.kind === 'refused' ? ['refused this case', 'refuses it now'] : ['skipped this case', 'skips it now'];
  return `${when === 'now' ? verb[1] : verb[0]} (${said.why})`;
}

function changedAnswer(setting: Setting, before: Fields, after: Fields): Finding | undefined {
  const { world, op, args, band } = setting;
  const answers: Answers = { op, args, before, after, band };
  const found = differences(answers);
  const { rows, loose } = found;
  if (rows.length === 0 && loose.length === 0) return undefined;
  const fields = changedFields(found);
  const numbers = numbersOf(answers, found);
  const strips = rows.slice(0, MOST_STRIPS).map((row) => stripOfRow(world, answers, row));
  return {
    kind: changeOf(op, fields[0] ?? ''),
    sentence: sentenceOf(world, answers, found, fields),
    ...(strips.length === 0 ? {} : { strips }),
    ...(numbers.length === 0 ? {} : { numbers }),
    ...(numbers.length === 0 ? {} : { note: `${capital(band.reason)}.` }),
  };
}

/** In the order in which the op has them. */
function changedFields({ rows, loose }: Differences): string[] {
  return [...new Set([...rows.flatMap(({ fields }) => fields), ...loose.map(({ field }) => field)])];
}

/** "The mask changed (completion_mask), at 3 tokens of 2 rows: token 5 '<|eot_id|>' (id 264) of row 0 was 1, and is 0." */
function sentenceOf(
  world: World,
  answers: Answers,
  { rows, loose }: Differences,
  fields: readonly string[],
): string {
  const [row] = rows;
  const [value] = loose;
  // A field that is new or gone says more than its rows.
  const whole = loose.find(({ before, after }) => before === undefined || after === undefined);
  const first =
    whole !== undefined
      ? looseWords(answers, whole)
      : row !== undefined
        ? rowWords(world, answers, row, fields.length > 1)
        : value !== undefined
          ? looseWords(answers, value)
          : '';
  if (rows.length === 0 && loose.length === 1 && isText(value)) return `The ${first}.`;
  const kinds = [...new Set(fields.map((name) => changeOf(answers.op, name)))];
  const what = `${listed(kinds)} changed (${fields.join(', ')})`;
  // Of the tokens that are told first; the other tracks are in the strips.
  const alike = rows.filter(({ base }) => base === row?.base);
  const columns = alike.reduce((sum, { cells }) => sum + new Set(cells.map(({ column }) => column)).size, 0);
  const places = [
    ...(rows.length === 0
      ? []
      : [`${count(columns, row?.base === undefined ? 'value' : 'token')} of ${count(alike.length, 'row')}`]),
    ...(loose.length === 0 ? [] : [count(loose.length, rows.length === 0 ? 'place' : 'other place')]),
  ];
  const several = columns + loose.length > 1;
  return `The ${what}${several ? `, at ${listed(places)}. First: ` : ': '}${first}.`;
}

function isText(value: Loose | undefined): boolean {
  return typeof value?.before === 'string' && typeof value.after === 'string';
}

function rowWords(world: World, answers: Answers, row: Row, several: boolean): string {
  const [cell] = row.cells.toSorted((a, b) => a.column - b.column);
  if (cell === undefined) return '';
  const token = tokenWords(world, answers, row, cell.column);
  const of = `${token} of row ${row.row}`;
  const also = several ? `${cell.field} of ` : '';
  if (cell.field === row.base) return idsWords(world, answers, row, cell);
  return `${also}${of} was ${valueWords(cell.before)}, and is ${valueWords(cell.after)}`;
}

/** Of ids: which token stands in which one's place. */
function idsWords(world: World, answers: Answers, row: Row, { column }: Cell): string {
  const pair = row.columns[column];
  const token = tokenWords(world, answers, row, column);
  if (pair?.before === undefined) return `${token} of row ${row.row} is new`;
  if (pair.after === undefined) return `${token} of row ${row.row} is gone`;
  const was = row.idsBefore[pair.before];
  return `${token} of row ${row.row} was ${was === undefined ? 'nothing' : named(world, answers, was)}`;
}

function looseWords({ op }: Answers, { field, path, before, after }: Loose): string {
  const name = field + path;
  if (before === undefined) return `${name} is answered now, and was not`;
  if (after === undefined) return `${name} is no longer answered`;
  if (typeof before === 'string' && typeof after === 'string') {
    const at = firstDifferent(before, after);
    return `${name} changed at character ${at}: it was "${around(before, at)}", and is "${around(after, at)}"`;
  }
  const [was, is] = isFloat(kindOf(op, field))
    ? [valueWords(before), valueWords(after)]
    : [quotedValue(before), quotedValue(after)];
  return `${name} was ${was}, and is ${is}`;
}

function valueWords(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'number' ? show(value) : quotedValue(value);
}

/** Numbers that moved, farthest first. */
function numbersOf(answers: Answers, { rows, loose }: Differences): NumberDifference[] {
  const { op, band } = answers;
  const numbers: NumberDifference[] = [];
  const add = (where: string, field: string, before: unknown, after: unknown): void => {
    if (!isFloat(kindOf(op, field)) || typeof before !== 'number' || typeof after !== 'number') return;
    numbers.push({ where, expected: before, observed: after, allowed: band.allowed(before) });
  };
  for (const row of rows)
    for (const { field, column, before, after } of row.cells)
      add(`${field}[${row.row}][${row.columns[column]?.after ?? column}]`, field, before, after);
  for (const { field, path, before, after } of loose) add(field + path, field, before, after);
  const gap = ({ expected, observed }: NumberDifference): number => {
    const distance = Math.abs(observed - expected);
    return Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
  };
  return numbers.toSorted((a, b) => gap(b) - gap(a)).slice(0, MOST_NUMBERS);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
