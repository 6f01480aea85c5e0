// A batch stacked on itself, until it is larger than what is handled in one go (chunks of 4, 8, 16, 32 or 64 rows):
// every row and its mean stay what they were, and a sum is as many times what it was. What counts rows or tokens in any
// other way, one too many or the square of them, or loses what does not fill a chunk, gives another number.
import { MANY_ROWS, MOST_ROWS } from '../../generators/rarely.ts';
import { OPS, type Op, type OpSpec } from '../../protocol/message.ts';
import { FORMULAS, type Formula, type Matrix, type Semantics } from '../../vocabulary.ts';
import { unknownOf } from '../needs.ts';
import { bandOf, isHalf, show } from '../numbers.ts';
import type { Finding, World } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement, notANumber } from './compare.ts';
import { signatureOf, wholeOf } from './fit.ts';
import { type Asked, FEW_CASES, type Rule } from './rule.ts';
import { fieldAlong, pickRows, rowCount, wholePartition } from './transform.ts';

/** In one case of so many, told by its size, it has the most rows. */
const MOST_ONE_IN = 3;
/** Characters of a row that is too large for that. */
const LARGE_ROW = 4_096;
/** Numbers in an answer for the largest of them: a trainer that can only train has a forward pass for each. */
const MOST_NUMBERS = 1_024;

const rowsFor = (world: World, args: unknown, rows: number, answer: unknown): number => {
  const { length } = JSON.stringify(args);
  const isLarge = length > LARGE_ROW * rows || (numbersIn(answer) * MOST_ROWS) / rows > MOST_NUMBERS;
  // A sum over so many in half precision is none.
  return !isHalf(world) && length % MOST_ONE_IN === 0 && !isLarge ? MOST_ROWS : MANY_ROWS;
};

function numbersIn(value: unknown): number {
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + numbersIn(each), 0);
}

export const stacked: Rule = {
  id: 'a-batch-twice-is-the-batch',
  title: (noun) =>
    `${noun} of a batch stacked on itself, up to ${MANY_ROWS} rows, or ${MOST_ROWS}, is that of the batch, or as many times that where it is a sum`,
  why: 'Code that works in pieces may lose the last one if it is not full. A denominator that counts one token too many makes the step depend on the size of the batch. The small batches of a test show neither.',
  level: 'must',
  catches: ['PAD-08'],
  // Batches of so many rows are slow.
  mostCases: FEW_CASES,
  async check(asked) {
    const { subject, op, ask, terms } = asked;
    const args = wholePartition(op, asked.args);
    const rows = rowCount(op, args);
    const all = Array.from({ length: rows }, (_, row) => row);
    const before = await ask(args);
    const broken = notANumber(op, args, before);
    if (broken !== undefined) return discard(`${broken.where} is ${broken.value} already`, 'trainer');
    const times =
      before.estimated === true
        ? 2
        : Math.max(2, Math.ceil(rowsFor(subject, args, rows, before.fields) / rows));
    const copies = Array.from({ length: times }, () => all);
    const after = await ask(wholePartition(op, pickRows(op, args, copies.flat())));
    const others = withoutShares(op, before.fields);
    const when = `when the batch is stacked on itself ${times} times`;
    // The last copy is where a chunk that is not full would be lost.
    for (const copy of [0, times - 1]) {
      const row = agreement({
        world: subject,
        op,
        args,
        before: { ...before, fields: others },
        after,
        place: new Map(all.map((at) => [at, copy * rows + at])),
        when,
        batch: false,
        ...(terms === undefined ? {} : { terms }),
      });
      if (row !== undefined) return row;
    }
    return wrongWhole(asked, before.fields, after.fields, {
      slack: Math.max(before.slack?.loss_weights ?? 0, after.slack?.loss_weights ?? 0),
      times,
      when,
      factors: factorsOf(op, subject.semantics, times),
    });
  },
};

/** How many times a number of the whole batch may be what it was, stacked so many times. */
function factorsOf(
  op: Op,
  {
    loss_aggregation: aggregation,
    sft_aggregation: ofSft,
    own_formulas: own,
    value_aggregation: ofCritic,
    ...others
  }: Semantics,
  times: number,
): readonly number[] {
  if (op === 'preference_loss') return [1, times];
  // One that is a mean in neither known way may be a sum (open-instruct's reduce_loss).
  if (op === 'sft_loss') return ofSft === undefined || own?.includes('sft_loss') ? [1, times] : [1];
  if (op === 'value_loss') return ofCritic === undefined ? [1, times] : [1];
  // Each other known formula is a mean; what a loss may be is not known where one of its choices is not.
  if (op !== 'loss') return isLoss(op) && unknownOf(op, others).length > 0 ? [1, times] : [1];
  // The constant of a sum may be of the batch, or of each row.
  return aggregation === undefined || aggregation === 'token-sum-norm' ? [1, times] : [1];
}

const isLoss = (op: Op): op is Op & Formula =>
  wholeOf(signatureOf(op)) === 'loss' && FORMULAS.some((name) => name === op);

/** What its gradient is taken by, where that is no log-probability. */
const BY: { readonly [O in Op]?: string } = { value_loss: 'value', balance_loss: 'router logit' };

type Fields = Readonly<Record<string, unknown>>;

const numbersOf = (value: unknown): readonly number[] =>
  Array.isArray(value) ? value.flatMap(numbersOf) : [value as number];

/** Derivatives of the loss of a whole batch, by the numbers of its rows: the share that each has in it. */
const sharesOf = (op: Op): readonly string[] => (OPS[op] as OpSpec).gradient ?? [];

export function withoutShares(op: Op, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !sharesOf(op).includes(name)));
}

/** How often what was asked stands in the second request, and what a number of the whole may be there. */
interface Copies {
  readonly times: number;
  /** Rows stand there so often; default: `times`. */
  readonly copies?: number;
  /** Ends the sentence: "when the batch is stacked on itself 6 times". */
  readonly when: string;
  /** How many times what it was a number of the whole may be. */
  readonly factors: readonly number[];
  /** Of the weights of tokens. */
  readonly slack: number;
}

/** A number of the whole, or a weight of its tokens, that is not what as many copies make of it. */
export function wrongWhole<O extends Op>(
  { subject, op, args, terms }: Asked<O>,
  before: Fields,
  after: Fields,
  { times, copies = times, when, factors, slack }: Copies,
): Finding | undefined {
  const name = wholeOf(signatureOf(op)) ?? '';
  const [once, often] = [before[name], after[name]];
  if (typeof once !== 'number' || typeof often !== 'number') return undefined;
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  const band = bandOf(subject, terms ?? times * Math.max(1, mask?.flat().length ?? rowCount(op, args)));
  const rows = rowCount(op, args);
  // Of the last copy, which is where a chunk that is not full would be lost.
  const weights = (fields: Fields, from: number): number[] =>
    sharesOf(op)
      .flatMap((share) =>
        [...((fields[share] as readonly unknown[] | undefined) ?? [])].slice(from, from + rows),
      )
      .flatMap(numbersOf);
  const [single, stackedOnes] = [weights(before, 0), weights(after, copies * rows - rows)];
  const holds = factors.some(
    (factor) =>
      band.close(often, factor * once) &&
      single.every((weight, at) => {
        const want = (factor * weight) / times;
        return Math.abs((stackedOnes[at] ?? 0) - want) <= Math.max(slack, band.allowed(want));
      }),
  );
  if (holds) return undefined;
  const sum = factors.length > 1 ? `, or ${show(times * once)} if it is a sum` : '';
  const sentence = `${name} changes from ${show(once)} to ${show(often)} ${when}; it should be ${show(once)}${sum}.`;
  const sameNumber = factors.some((factor) => band.close(often, factor * once));
  return {
    kind: sameNumber ? 'weights' : name,
    sentence: sameNumber
      ? `${name} is ${show(once)}, and ${show(often)} ${when}, but dL/d ${BY[op] ?? 'logprob'} of its tokens is not what goes with that: the two count the batch differently.`
      : sentence,
    note: band.reason,
  };
}
