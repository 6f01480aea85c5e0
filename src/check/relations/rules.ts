// The relations themselves: what is changed in a request, and what must stay in the answer. Which op they are asked of,
// and what its fields mean, they learn from its axes.
import type { OkAxis, Relation } from '../../protocol/axes.ts';
import type { Args, Op } from '../../protocol/message.ts';
import type { Matrix } from '../../vocabulary.ts';
import { freeTokens } from '../needs.ts';
import type { Finding } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement, notANumber, type Observed } from './compare.ts';
import { counts } from './counts.ts';
import { hasColumns, isReal, type Signature } from './fit.ts';
import { long } from './long.ts';
import { nanShows } from './nan.ts';
import { MANY_MICRO_BATCHES, MICRO_BATCHES, RANKS } from './partitions.ts';
import { type Asked, type Cause, FEW_CASES, type Rule, sizeOf } from './rule.ts';
import { signedZero } from './signed-zero.ts';
import { stacked } from './stacked.ts';
import {
  axesOf,
  fieldAlong,
  overwriteMasked,
  padColumns,
  pickRows,
  predictsNext,
  renamed,
  renaming,
  rowCount,
  wholePartition,
} from './transform.ts';
import { moved, SAME_TWICE, twice } from './twice.ts';
import { untrained } from './untrained.ts';

/** Columns added on each side: two, so that a shift by one shows as a shift. */
const EXTRA = 2;
/**
 * Far from any log-probability, reward or value. Of its multiples, exp of all differences together, a KL times the
 * ratio, stays a number in float32.
 */
const JUNK = -13;
/** How far apart two ratios may be that are one, in float32; a column more changes one by a tenth of a percent at least. */
const SAME_RATIO = 1e-4;

const reversed = (rows: number): number[] => Array.from({ length: rows }, (_, at) => rows - 1 - at);

const placesOf = (rows: readonly number[]): ReadonlyMap<number, number> =>
  new Map(rows.map((row, at) => [row, at]));

/** What a row may depend on and what it must not, apart: a group each where groups belong together, else a row each. */
function independentParts<O extends Op>(op: O, args: Args<O>): readonly (readonly number[])[] {
  const groups = fieldAlong(op, args, 'group') as readonly number[] | undefined;
  const all = Array.from({ length: rowCount(op, args) }, (_, row) => row);
  return axesOf(op).reach === 'group'
    ? [...new Set(groups)].map((group) => all.filter((row) => groups?.[row] === group))
    : all.map((row) => [row]);
}

/** What to do where a number of the whole batch becomes smaller as the columns, `extra` of them added, become more. */
function dividedByWidth<O extends Op>(op: O, args: Args<O>, extra: number): Cause {
  const width = (fieldAlong(op, args, 'mask') as Matrix | undefined)?.[0]?.length ?? 0;
  const axes = axesOf(op).ok as Readonly<Record<string, OkAxis>>;
  return (before, after) => {
    const isScaled = ([name, value]: [string, unknown]): boolean => {
      const other = after.fields[name];
      if (axes[name] !== 'batch' || typeof value !== 'number' || typeof other !== 'number') return false;
      return value !== 0 && Math.abs((other * (width + extra)) / (value * width) - 1) < SAME_RATIO;
    };
    return Object.entries(before.fields).some(isScaled)
      ? `It divides by the ${width} columns of the request, padding and all: divide by the tokens of the mask. Where the trainer pads every batch to one width, its loss never sees another: let the adapter pad to that width.`
      : undefined;
  };
}

/** Ids and logits under a mask mean something to the columns beside them, and cannot be overwritten. */
const numbersUnderMask = ({ args }: Signature): string | undefined =>
  args.some(({ axis }) => axis === 'mask') &&
  args.some((field) => field.axis === 'token' && isReal(field) && !predictsNext(field.name))
    ? undefined
    : 'no argument holds numbers under a mask';

/** An answer that is kept by the shape of its request is the same each time, and that of another request. */
async function kept<O extends Op>(asked: Asked<O>, before: Observed): Promise<Finding | undefined> {
  const { subject, op, args, askAnew } = asked;
  const order = reversed(rowCount(op, args));
  // What is estimated takes a request a token.
  if (order.length < 2 || before.estimated) return undefined;
  const turned = pickRows(op, wholePartition(op, args), order);
  // Some take no other order, and another relation asks about that.
  if ('refused' in (await subject.anew.attempt(op, turned))) return undefined;
  const after = await askAnew(turned);
  const when = 'with the rows in reverse order';
  const hasMoved = moved(asked, before, after, { place: placesOf(order), when }) === undefined;
  if (hasMoved || moved(asked, before, after, { when }) !== undefined) return undefined;
  return {
    kind: 'kept',
    sentence: `With its ${order.length} rows in reverse order, the batch gets the answer that it had before, row by row: is it kept from an earlier request of this shape?`,
    advice: 'Let the key of a cache hold all numbers of the request, or clear it between requests.',
  };
}

export const RULES: Readonly<Record<Relation, Rule>> = {
  finite: {
    id: 'finite-on-finite-input',
    title: (noun) => `${noun} is finite where everything that it reads is`,
    why: 'One 0/0 of an empty row, or one overflow, turns the weights of the model to NaN.',
    level: 'must',
    catches: ['NUM-01'],
    unfit: ({ ok }) => (ok.some(isReal) ? undefined : 'it answers whole numbers only'),
    async check({ op, args, ask }) {
      const broken = notANumber(op, args, await ask(args));
      return broken === undefined
        ? undefined
        : {
            // What is logged trains nothing: known of it, the loss may still not be NaN.
            kind: broken.name === 'metrics' ? 'metric not finite' : 'not finite',
            sentence: `${broken.where} is ${broken.value}, although every number that it reads is finite.`,
          };
    },
  },
  padding: {
    id: 'independent-of-padding',
    title: (noun) => `${noun} does not change with more columns of padding, left and right`,
    why: 'A number that counts padding depends on the longest row of its batch.',
    level: 'must',
    unfit: (signature) => (hasColumns(signature) ? undefined : 'no argument has columns'),
    change(op, args) {
      const left = fieldAlong(op, args, 'width') === undefined ? 0 : EXTRA;
      return {
        args: padColumns(op, args, left, EXTRA),
        shift: left,
        when: `with ${EXTRA} more columns of padding ${left > 0 ? 'on each side' : 'on the right'}`,
        cause: dividedByWidth(op, args, left + EXTRA),
      };
    },
  },
  'row-order': {
    id: 'independent-of-row-order',
    title: (noun) => `${noun} does not depend on the order of the rows, and moves with them`,
    why: 'Code that depends on the order of rows pairs answers with the numbers of others.',
    level: 'must',
    catches: ['PAD-08'],
    applies: (op, args) => rowCount(op, args) > 1,
    change(op, args) {
      const order = reversed(rowCount(op, args));
      if (order.length < 2) return 'there is one row only';
      return {
        args: pickRows(op, args, order),
        place: placesOf(order),
        when: 'with the rows in reverse order',
      };
    },
  },
  'micro-batches': MICRO_BATCHES,
  'many-micro-batches': MANY_MICRO_BATCHES,
  ranks: RANKS,
  'batch-mates': {
    id: 'independent-of-batch-mates',
    title: (noun) => `${noun} for a row is the same alone and in a batch`,
    why: 'A contribution from neighbours changes from batch to batch, and no run can be repeated.',
    level: 'must',
    catches: ['PAD-08'],
    unfit: ({ reach }) =>
      reach === 'batch' ? 'its answer for a row may depend on all rows of the batch' : undefined,
    applies: (op, args) => independentParts(op, args).length > 1,
    leavesOut: true,
    // Which part goes depends on the request, so that each goes in some case.
    change(op, args) {
      const parts = independentParts(op, args);
      if (parts.length < 2) return 'there is one row only, or one group';
      const out = sizeOf(op, args) % parts.length;
      const kept = parts.flatMap((rows, part) => (part === out ? [] : rows)).toSorted((a, b) => a - b);
      return {
        args: pickRows(op, args, kept),
        place: placesOf(kept),
        batch: false,
        when: 'with some of its batch mates left out',
      };
    },
    async alone(asked) {
      const { op, args } = asked;
      for (const kept of independentParts(op, args)) {
        const finding = await twice(asked, {
          args: pickRows(op, args, kept),
          place: placesOf(kept),
          batch: false,
          when: kept.length === 1 ? 'with its batch mates left out' : 'with the other groups left out',
        });
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  },
  'masked-values': {
    id: 'masked-values-do-not-matter',
    title: (noun) => `${noun} does not change with values at masked positions`,
    why: "Whatever stands at prompt, padding and tool output is not the policy's doing; what reads it is noise.",
    level: 'must',
    unfit: numbersUnderMask,
    change: (op, args) => ({
      args: overwriteMasked(op, args, JUNK),
      when: 'when only values at masked positions change',
    }),
  },
  'nan-under-the-mask': {
    id: 'nan-under-the-mask-stays-there',
    title: (noun) => `${noun} is not touched by NaN and infinity at masked positions`,
    why: 'Multiplying by a mask keeps NaN (0 * NaN is NaN): one bad padding value ends the run.',
    level: 'should',
    catches: ['NUM-02'],
    unfit: numbersUnderMask,
    async check(asked) {
      const args = wholePartition(asked.op, asked.args);
      for (const value of [Number.NaN, Number.NEGATIVE_INFINITY]) {
        const when = `when values at masked positions are ${Number.isNaN(value) ? 'NaN' : 'infinite'}`;
        const finding = await twice(
          { ...asked, args },
          { args: overwriteMasked(asked.op, args, value), when },
        );
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  },
  counts,
  'nan-shows': nanShows,
  'signed-zero': signedZero,
  untrained,
  'same-twice': {
    id: SAME_TWICE,
    title: (noun) => `${noun} is the same when asked twice, with another request in between`,
    why: 'A statistic that is carried along, or an input that is written into, makes a step depend on the steps before it.',
    level: 'must',
    mostCases: FEW_CASES,
    async check(asked) {
      const { subject, op, args, ask, askAnew } = asked;
      const rows = rowCount(op, args);
      const before = await ask(args);
      // Another request, so that what is kept of it shows: one row of this one.
      if (rows > 1) await subject.anew.attempt(op, pickRows(op, wholePartition(op, args), [rows - 1]));
      const again = moved(asked, before, await askAnew(args), { when: 'when it is asked again' });
      return again ?? (await kept(asked, before));
    },
  },
  stacked,
  long,
  inputs: {
    id: 'inputs-are-unchanged',
    title: () => 'The arguments are the same after the call',
    why: 'An input that is masked, scaled or clamped in place is read again by the next term, the next epoch and the log.',
    level: 'must',
    needs: (op) => (world) =>
      world.semantics.in_place?.includes(op)
        ? `semantics.in_place names ${op}: it writes into its arguments on purpose`
        : undefined,
    async check({ subject, op, args, ask }) {
      const outcome = await subject.attempt(op, args);
      // Ask again, so that the refusal or exception is reported as such; some ops may refuse in whatever way.
      if ('refused' in outcome) return void (await ask(args));
      const { written } = outcome;
      if (written.length === 0) return undefined;
      const names = written.join(' and ');
      return {
        kind: `wrote into ${names}`,
        sentence: `The trainer writes into ${names}: after the call ${written.length === 1 ? 'it does' : 'they do'} not hold what was handed over.`,
        answers: [`"in_place": ${JSON.stringify([...(subject.semantics.in_place ?? []), op])}`],
        advice: `Work on a copy (${written[0]}.clone(), list(${written[0]})), or out of place: x = x * mask, not x *= mask.`,
      };
    },
  },
  'renamed-ids': {
    id: 'unchanged-when-ids-are-renamed',
    title: (noun) => `${noun} is the same when all ids have other names, one of the special ones 0`,
    why: 'An id of 0 passes for "not set", and an id that happens to be small for a flag: right for one tokenizer, wrong for the next.',
    level: 'must',
    unfit: ({ hasIds }) =>
      hasIds ? undefined : 'its ids mean something to a model, a template or logits, or it has none',
    needs: () => freeTokens,
    async check({ subject, op, args, ask }) {
      const { ids } = axesOf(op);
      if (ids === undefined) return discard('no field holds ids');
      const rename = renaming(op, args);
      const before = await ask(args);
      const after = await ask(renamed(args, ids.args, rename));
      const expected = { ...before, fields: renamed(before.fields, ids.ok, rename) };
      const when = 'when all ids are renamed';
      return agreement({ world: subject, op, args, before: expected, after, when });
    },
  },
};
