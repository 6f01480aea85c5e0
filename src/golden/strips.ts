// A changed row as a token strip: the tokens, and for each field that changed a track of what was recorded and one of what is
// answered now.
import type { Strip, World } from '../check/property.ts';
import { nameOf, stripOf } from '../check/rows/strips.ts';
import { IGNORE_INDEX, type Role } from '../vocabulary.ts';
import { type Answers, matrixOf, type Row } from './differences.ts';
import { counting, type Fields } from './entry.ts';
import { isIds } from './words.ts';

export function stripOfRow(world: World, answers: Answers, row: Row): Strip {
  const { columns, fields, cells } = row;
  const marks = [...new Set(cells.map(({ column }) => column))].sort((a, b) => a - b);
  const tracks = fields.flatMap((field) => {
    const name = fields.length === 1 ? '' : `${field} `;
    return [
      [`${name}before`, trackOf(world, answers, row, field, 'before')],
      [`${name}after`, trackOf(world, answers, row, field, 'after')],
    ] as const;
  });
  return stripOf(world, {
    row: row.row,
    ids: columns.map((_, column) => idAt(row, column) ?? column),
    roles: columns.map((_, column) => roleAt(world, answers, row, column)),
    tracks: Object.fromEntries(tracks),
    marks,
    shown: row.base === undefined ? 'columns' : indexLogits(answers) ? 'ids' : 'tokens',
  });
}

/** The token of a column: the one that is answered now, else the one that was there. */
export function idAt({ columns, idsBefore, idsAfter }: Row, column: number): number | undefined {
  const { before, after } = columns[column] ?? {};
  return after === undefined ? (before === undefined ? undefined : idsBefore[before]) : idsAfter[after];
}

/** `token 5 'the' (id 77)`, where it stands now; of one that is gone, where it stood. */
export function tokenWords(world: World, answers: Answers, row: Row, column: number): string {
  const { before, after } = row.columns[column] ?? {};
  const place = after ?? before ?? column;
  if (row.base === undefined) return `column ${place}`;
  const id = idAt(row, column);
  if (id === undefined) return `token ${place}`;
  return `token ${place} ${named(world, answers, id)}`;
}

/** `'the' (id 77)`, or `(id 77)` where the id has no text. */
export function named(world: World, answers: Answers, id: number): string {
  if (indexLogits(answers)) return `(id ${id})`;
  const name = nameOf(world, id);
  return name === `t${id}` ? `(id ${id})` : `'${name}' (id ${id})`;
}

// --- helpers ---

/** Their ids index the logits that were handed over, and have no text. */
function indexLogits({ args }: Answers): boolean {
  return args.logits !== undefined;
}

/** Cells along the columns; ids by the text of their token. */
function trackOf(
  world: World,
  answers: Answers,
  row: Row,
  field: string,
  side: 'before' | 'after',
): (number | string | undefined)[] {
  const values = matrixOf(answers[side][field])[row.row];
  const counts = counting(answers.op, answers.args, field);
  return row.columns.map((pair) => {
    const at = pair[side];
    const value = at === undefined ? undefined : values?.[at];
    if (typeof value !== 'number' || at === undefined || !counts(row.row, at)) return undefined;
    if (!isIds(answers.op, field) || indexLogits(answers)) return value;
    const name = nameOf(world, value);
    return name === `t${value}` ? value : name;
  });
}

/** What a token is in its row, as far as answer and request tell. */
function roleAt(world: World, { args, after, before }: Answers, row: Row, column: number): Role {
  const pair = row.columns[column] ?? { before: undefined, after: undefined };
  // As it was recorded, when it was right.
  const side = pair.before === undefined ? after : before;
  const place = pair.before ?? pair.after ?? column;
  const cell = (fields: Fields, name: string): unknown =>
    Array.isArray(fields[name]) ? matrixOf(fields[name])[row.row]?.[place] : undefined;
  const prefix = /^(chosen|rejected)_/.exec(row.base ?? '')?.[0] ?? '';
  const told = (name: string): unknown => cell(side, prefix + name) ?? cell(side, name) ?? cell(args, name);
  if (told('attention_mask') === 0) return 'padding';
  const mask = told('completion_mask') ?? told('loss_mask') ?? (prefix === '' ? undefined : told('mask'));
  const labels = told('labels');
  const trained = mask === undefined ? labels !== undefined && labels !== IGNORE_INDEX : mask === 1;
  if (trained) return isStop(world, args, row, column) ? 'stop' : 'completion';
  const width = args.prompt_width;
  if (mask !== undefined && typeof width === 'number' && place >= width) return 'padding';
  const isPrompt = typeof width === 'number' ? place < width : mask !== undefined || labels !== undefined;
  return isPrompt ? 'prompt' : 'completion';
}

function isStop({ hello }: World, args: Fields, row: Row, column: number): boolean {
  const stops = (args.eos_token_ids ?? hello.tokens?.eos_token_ids ?? []) as readonly number[];
  const id = idAt(row, column);
  return row.base !== undefined && args.logits === undefined && id !== undefined && stops.includes(id);
}
