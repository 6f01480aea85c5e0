// Each number that every legal formula of an op reads changes the answer. Other relations do not find a constant, or an answer that
// reads only the first token: it does not change with anything that must not matter.

import type { Args, Op } from '../../protocol/message.ts';
import type { Matrix } from '../../vocabulary.ts';
import { show } from '../numbers.ts';
import type { Finding } from '../property.ts';
import { meantOr, notMeant } from '../questions/meant.ts';
import { discard } from '../subject.ts';
import { isReal, signatureOf, wholeOf } from './fit.ts';
import { type Asked, FEW_CASES, type Rule, sizeOf } from './rule.ts';
import { predictsNext, rowCount, trainedOf, wholePartition } from './transform.ts';

/**
 * Added to a number, one at a time; exact beside any number that is drawn. Far ones leave the flat part of a hinge or a clip, near
 * ones the flat part of a clamp.
 */
const MOVES: readonly number[] = [-8, 8, -64, 64, -1, 1, -2, 2, -4, 4];
/** And so many times the largest number of its field: the worse of two rewards is as bad as it can be until it is the better. */
const FARTHEST: readonly number[] = [-4, 4];
/** The two that tell whether a number is read at all. */
const FIRST_MOVES = 2;
/** Log-probabilities end here. */
const HIGHEST = -1 / 64;
/**
 * Added to all other numbers that are read, and twice that to those of a second field, where none of the moves matters. A formula may
 * be flat in one number while the others stand where they do: a KL of 0 times a ratio, or an objective of a ratio and its margin
 * where the other half has the reference's numbers. With steps, also by row: what one of two rows gains with a number that they
 * share, an equal one that is judged the other way loses.
 */
const BY_ROW: Elsewhere = { by: -2, steps: true };
const ELSEWHERE: readonly Elsewhere[] = [{ by: 0 }, { by: -2 }, { by: -32 }, BY_ROW];
interface Elsewhere {
  readonly by: number;
  readonly steps?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export const counts: Rule = {
  id: 'every-number-counts',
  title: (noun) => `${noun} changes with each number that every formula reads`,
  why: 'A constant passes every relation about what must not matter. So does a loss that reads only the first token, the first row or one half of a pair, and its curve looks healthy.',
  level: 'must',
  unfit: ({ reads }) =>
    reads.length > 0 ? undefined : 'no formula of its own may take the place of the known one',
  mostCases: FEW_CASES,
  needs: () => notMeant('loss_is_descended'),
  applies: (op, args) => rowOf(op, args) !== undefined,
  async check(asked) {
    const { op } = asked;
    const args = wholePartition(op, asked.args);
    const row = rowOf(op, args);
    if (row === undefined) return discard('no row has a number that must count');
    const whole = { ...asked, args };
    if (mayLeaveOut(whole)) return constant(whole);
    for (const field of signatureOf(op).reads)
      for (const place of placesIn(op, args, row, field)) {
        const finding = await flatAt(whole, place);
        if (finding !== undefined) return finding;
      }
    // Whether the others are read is the formula's choice. Which of their tokens is not.
    for (const field of othersOf(op)) {
      const places = placesIn(op, args, row, field);
      const ends = places.length < 2 ? [] : [places[0], places.at(-1)];
      if (!(await isRead(whole, ends as readonly Place[]))) continue;
      for (const place of places) {
        const finding = await flatAt(whole, place);
        if (finding !== undefined) return finding;
      }
    }
    return undefined;
  },
};

/** A supervised loss with an unknown formula may give labels the weight 0. */
function mayLeaveOut<O extends Op>({ subject: { semantics }, op }: Asked<O>): boolean {
  const { own_formulas: own, sft_aggregation: aggregation } = semantics;
  return op === 'sft_loss' && (own?.includes(op) === true || aggregation === undefined);
}

/** Finds a loss that is not 0 and that no number of any row changes. */
async function constant<O extends Op>(asked: Asked<O>): Promise<Finding | undefined> {
  const { op, args } = asked;
  let first: Finding | undefined;
  for (let row = 0; row < rowCount(op, args); row++)
    for (const place of signatureOf(op).reads.flatMap((field) => placesIn(op, args, row, field))) {
      const finding = await flatAt(asked, place);
      if (finding === undefined) return undefined;
      first ??= finding;
    }
  const answer = await answerTo(asked, args);
  if (answer !== undefined && judgedOf(asked, answer) === 0)
    return discard('the loss is 0, and its formula may leave out all of these tokens', 'trainer');
  return first;
}

type Question<O extends Op> = Pick<Asked<O>, 'subject' | 'op' | 'args'>;

/** A number of a request, or the logits of one token. */
export interface Place {
  readonly field: string;
  readonly row: number;
  /** Absent where a row has one number. */
  readonly column?: number;
}

/** One row a request, which one varies from request to request. */
function rowOf<O extends Op>(op: O, args: Args<O>): number | undefined {
  const rows = Array.from({ length: rowCount(op, args) }, (_, row) => row).filter(
    (row) =>
      hasCompany(args, row) &&
      signatureOf(op).reads.some((field) => placesIn(op, args, row, field).length > 0),
  );
  return rows[sizeOf(op, args) % rows.length];
}

/** A reward alone in its group is its own baseline. */
function hasCompany(args: Fields, row: number): boolean {
  const groups = args.group_ids as readonly number[] | undefined;
  return groups === undefined || groups.filter((group) => group === groups[row]).length > 1;
}

export function placesIn<O extends Op>(op: O, args: Args<O>, row: number, field: string): readonly Place[] {
  const trained = trainedOf(op, args)[row];
  const attended = ((args as Fields).attention_mask as Matrix | undefined)?.[row];
  const value = ((args as Fields)[field] as readonly unknown[] | undefined)?.[row];
  if (value === undefined) return [];
  if (!Array.isArray(value)) return trained?.includes(true) === false ? [] : [{ field, row }];
  const ahead = predictsNext(field) ? 1 : 0;
  return value.flatMap((_, column) =>
    (trained === undefined || trained[column + ahead] === true) && attended?.[column] !== 0
      ? [{ field, row, column }]
      : [],
  );
}

const isCube = (op: Op, name: string): boolean =>
  signatureOf(op).args.some((field) => field.name === name && field.kind === 'float_cube');

/** Further numbers of its tokens. */
const othersOf = (op: Op): readonly string[] => {
  const { args, reads } = signatureOf(op);
  return args
    .filter(
      (field) =>
        isReal(field) && (field.axis === 'token' || field.axis === 'row') && !reads.includes(field.name),
    )
    .map(({ name }) => name);
};

/** Whether one of these moves the answer, where the other numbers stand or elsewhere. */
export async function isRead<O extends Op>(asked: Question<O>, places: readonly Place[]): Promise<boolean> {
  const { op, args } = asked;
  const [place] = places;
  if (place === undefined) return false;
  for (const base of [args, movedElsewhere(op, args, place, BY_ROW)]) {
    const before = await answerTo(asked, base);
    if (before === undefined) continue;
    for (const changed of places.flatMap((each) => changedAt(base, each).slice(0, FIRST_MOVES))) {
      const after = await answerTo(asked, changed);
      if (after !== undefined && differ(judgedOf(asked, before), judgedOf(asked, after))) return true;
    }
  }
  return false;
}

/** The number that is made of the whole batch, where it is answered; else all of the answer. */
function judgedOf<O extends Op>({ op }: Question<O>, answer: Fields): unknown {
  const whole = wholeOf(signatureOf(op));
  return whole === undefined || answer[whole] === undefined ? answer : answer[whole];
}

/** What is said of a number that can be moved as far as one likes, and moves nothing. */
async function flatAt<O extends Op>(asked: Asked<O>, place: Place): Promise<Finding | undefined> {
  const { op, args, subject } = asked;
  const { field, row, column } = place;
  let first: Fields | undefined;
  let carried = false;
  for (const elsewhere of ELSEWHERE) {
    const base = elsewhere.by === 0 ? args : movedElsewhere(op, args, place, elsewhere);
    const before = await answerTo(asked, base);
    if (before === undefined) continue;
    for (const changed of changedAt(base, place)) {
      const after = await answerTo(asked, changed);
      if (after === undefined) continue;
      if (differ(judgedOf(asked, before), judgedOf(asked, after))) return undefined;
      carried ||= differ(before, after);
      first ??= before;
    }
  }
  if (first === undefined) return discard('changed numbers are refused', 'trainer');
  // A loss that multiplies advantages by log-ratios is 0 on policy, and only its gradient depends on them.
  if (carried && isOnPolicy(op, args, row)) return undefined;
  const judged = judgedOf(asked, first);
  const what = typeof judged === 'number' ? `${wholeOf(signatureOf(op))} (${show(judged)})` : 'the answer';
  const where = `${column === undefined ? '' : `token ${column} of `}row ${row}`;
  return {
    kind: field,
    sentence: isCube(op, field)
      ? `The ${field} ${predictsNext(field) ? 'that predict the token after' : 'of'} ${where} are replaced, and ${what} does not change.`
      : `${field} of ${where} is moved up and down, by 1 to 64 and beyond its batch, and ${what} does not change.`,
    ...(carried ? meantOr(subject, 'loss_is_descended') : {}),
    advice: `Compute the answer from ${field} of the request, for all rows and all tokens.`,
  };
}

function isOnPolicy<O extends Op>(op: O, args: Args<O>, row: number): boolean {
  const { logprobs, old_logprobs: old } = args as Readonly<Record<string, Matrix | undefined>>;
  const trained = trainedOf(op, args)[row] ?? [];
  return old !== undefined && trained.every((on, t) => !on || logprobs?.[row]?.[t] === old[row]?.[t]);
}

/** `undefined`: refused, which says nothing. */
async function answerTo<O extends Op>(
  { subject, op }: Question<O>,
  args: Args<O>,
): Promise<Fields | undefined> {
  const outcome = await subject.attempt(op, args);
  return 'refused' in outcome ? undefined : (outcome.ok as Fields);
}

const differ = (one: unknown, two: unknown): boolean => JSON.stringify(one) !== JSON.stringify(two);

/** The request with this number elsewhere, in each way. */
function changedAt<O extends Op>(args: Args<O>, { field, row, column }: Place): readonly Args<O>[] {
  const rows = (args as Fields)[field] as readonly unknown[];
  const put = (value: unknown): Args<O> => ({
    ...args,
    [field]: rows.with(
      row,
      column === undefined ? value : (rows[row] as readonly unknown[]).with(column, value),
    ),
  });
  const own = column === undefined ? rows[row] : (rows[row] as readonly unknown[])[column];
  // Three rows of logits of which no token has the same probability in all.
  if (Array.isArray(own)) return [own.map((_, id) => id), own.map((_, id) => -id), own.map(() => 0)].map(put);
  const largest = Math.max(...(rows.flat() as number[]).map(Math.abs));
  return [...MOVES, ...FARTHEST.map((times) => times * largest)]
    .map((move) => within(field, (own as number) + move))
    .filter((value) => value !== own)
    .map(put);
}

const within = (field: string, value: number): number =>
  field.endsWith('logprobs') ? Math.min(value, HIGHEST) : value;

const readOf = <O extends Op>(op: O, args: Args<O>): readonly string[] =>
  signatureOf(op).reads.filter((name) => Array.isArray((args as Fields)[name]));

/** All numbers that every formula reads, but this one. */
function movedElsewhere<O extends Op>(
  op: O,
  args: Args<O>,
  place: Place,
  { by, steps = false }: Elsewhere,
): Args<O> {
  const move = (value: unknown, field: string, far: number): unknown =>
    Array.isArray(value)
      ? value.map((each) => move(each, field, far))
      : within(field, (value as number) + far);
  const all = Object.fromEntries(
    readOf(op, args).map((field, at) => {
      const rows = (args as Fields)[field] as readonly unknown[];
      return [field, rows.map((each, b) => move(each, field, (at + 1) * by * (steps ? b + 1 : 1)))];
    }),
  ) as Record<string, readonly unknown[]>;
  const { field, row, column } = place;
  const own = ((args as Fields)[field] as readonly unknown[])[row];
  const rows = all[field];
  if (rows === undefined) return { ...args, ...all };
  const kept =
    column === undefined
      ? own
      : (rows[row] as readonly unknown[]).with(column, (own as readonly unknown[])[column]);
  return { ...args, ...all, [field]: rows.with(row, kept) };
}
