// The relations themselves: what is changed in a request, and what must stay in the answer. Which op they are asked of,
// and what its fields mean, they learn from its axes.
import type { Args, Ok, Op } from '../../protocol/message.ts';
import { dealt, overRanks } from '../../protocol/ranks.ts';
import { freeTokens, SHARE_DENOMINATORS } from '../needs.ts';
import { bandOf, show } from '../numbers.ts';
import type { Finding, Need } from '../property.ts';
import { discard, firstFinding } from '../subject.ts';
import { agreement, notANumber } from './compare.ts';
import type { Asked, Relation, Rule } from './rule.ts';
import { stacked } from './stacked.ts';
import {
  axesOf,
  fieldAlong,
  overwriteMasked,
  padColumns,
  pickRows,
  renamed,
  renaming,
  rowCount,
  wholePartition,
  withoutTrained,
} from './transform.ts';

/** Columns added on each side: two, so that a shift by one shows as a shift. */
const EXTRA = 2;
/**
 * Far from any log-probability, reward or value. Of its multiples, exp of all differences together, a KL times the
 * ratio, stays a number in float32.
 */
const JUNK = -13;

/** The answer to a request, and to a changed one. */
async function twice<O extends Op>(
  { subject, op, args, ask, terms }: Asked<O>,
  changed: Args<O>,
  rest: {
    readonly when: string;
    readonly place?: ReadonlyMap<number, number>;
    readonly shift?: number;
    readonly batch?: boolean;
  },
): Promise<Finding | undefined> {
  const before = await ask(args);
  const broken = notANumber(op, args, before);
  if (broken !== undefined) return discard(`${broken.where} is ${broken.value} already`, 'trainer');
  const after = await ask(changed);
  return agreement({
    world: subject,
    op,
    args,
    before,
    after,
    ...(terms === undefined ? {} : { terms }),
    ...rest,
  });
}

async function underTheMask<O extends Op>(
  asked: Asked<O>,
  junk: number,
  when: string,
): Promise<Finding | undefined> {
  const args = wholePartition(asked.op, asked.args);
  return twice({ ...asked, args }, overwriteMasked(asked.op, args, junk), { when });
}

function partsOf(args: object, capability: 'micro_batches' | 'ranks'): readonly (readonly number[])[] {
  return (args as { readonly [C in typeof capability]?: readonly (readonly number[])[] })[capability] ?? [];
}

/** What a row may depend on and what it must not, apart: a group each where groups belong together, else a row each. */
function independentParts<O extends Op>(op: O, args: Args<O>): readonly (readonly number[])[] {
  const groups = fieldAlong(op, args, 'group') as readonly number[] | undefined;
  const all = Array.from({ length: rowCount(op, args) }, (_, row) => row);
  return axesOf(op).reach === 'group'
    ? [...new Set(groups)].map((group) => all.filter((row) => groups?.[row] === group))
    : all.map((row) => [row]);
}

const split =
  (capability: 'micro_batches' | 'ranks', what: string): Rule['check'] =>
  async (asked) => {
    const { op, args } = asked;
    const parts = partsOf(args, capability);
    if (parts.length < 2) return discard(`there is one of the ${what} only`);
    const whole = wholePartition(op, args);
    const shown = parts.map((rows) => rows.join(' ')).join(' | ');
    return twice(
      { ...asked, args: whole },
      { ...whole, [capability]: parts },
      {
        when: `when the batch is split over ${parts.length} ${what} [${shown}]`,
      },
    );
  };

/**
 * Ranks that are processes: the rows that a sampler would deal out are dealt in other ways. Who is on which rank comes first: what
 * depends on it (a seed of its own) shows in the other two as well, and is told best by this one.
 */
async function realRanks<O extends Op>(asked: Asked<O>, count: number): Promise<Finding | undefined> {
  const whole = wholePartition(asked.op, asked.args);
  const usual = dealt(rowCount(asked.op, whole), count);
  const ways: readonly (readonly [readonly (readonly number[])[], string])[] = [
    [[...usual.slice(1), ...usual.slice(0, 1)], 'when each rank has the rows of the next one'],
    [overRanks(partsOf(asked.args, 'ranks'), count), 'when the ranks have other rows'],
    [overRanks([usual.flat()], count), 'when one rank has all rows and no other has any'],
  ];
  const shown = (ranks: readonly (readonly number[])[]): string =>
    ranks.map((rows) => (rows.length === 0 ? 'none' : rows.join(' '))).join(' | ');
  return firstFinding(
    ways.map(
      ([ranks, when]) =>
        () =>
          twice(
            { ...asked, args: { ...whole, ranks: usual } },
            { ...whole, ranks },
            { when: `${when}, [${shown(ranks)}] instead of [${shown(usual)}]` },
          ),
    ),
  );
}

const offered =
  (capability: 'micro_batches' | 'ranks') =>
  (op: Op): Need =>
  (world) => {
    const has = world.hello.ops[op]?.[capability];
    if (has === undefined || has === false) return `op \`${op}\` does not offer ${capability}`;
    if (has === 1) return `op \`${op}\` has one rank only: start two, as by torchrun --nproc-per-node 2`;
    if (SHARE_DENOMINATORS.includes(op) && world.semantics.loss_normalization === 'local')
      return 'every micro-batch and every rank has its own denominator (loss_normalization "local"); where the whole batch is meant, declare "global", and this is checked';
    return undefined;
  };

export const RULES: Readonly<Record<Relation, Rule>> = {
  finite: {
    id: 'finite-on-finite-input',
    title: (noun) => `${noun} is finite where everything that it reads is`,
    why: 'One 0/0 of an empty row, or one overflow, turns the weights of the model to NaN.',
    level: 'must',
    async check({ op, args, ask }) {
      const broken = notANumber(op, args, await ask(args));
      return broken === undefined
        ? undefined
        : {
            kind: 'not finite',
            sentence: `${broken.where} is ${broken.value}, although every number that it reads is finite.`,
          };
    },
  },
  padding: {
    id: 'independent-of-padding',
    title: (noun) => `${noun} does not change with more columns of padding, left and right`,
    why: 'What counts padding depends on the longest row of the batch that a row happens to be in.',
    level: 'must',
    async check(asked) {
      const args = wholePartition(asked.op, asked.args);
      const left = fieldAlong(asked.op, args, 'width') === undefined ? 0 : EXTRA;
      return twice({ ...asked, args }, padColumns(asked.op, args, left, EXTRA), {
        shift: left,
        when: `with ${EXTRA} more columns of padding ${left > 0 ? 'on each side' : 'on the right'}`,
      });
    },
  },
  'row-order': {
    id: 'independent-of-row-order',
    title: (noun) => `${noun} does not depend on the order of the rows, and moves with them`,
    why: 'What depends on the order of rows pairs answers with the numbers of others.',
    level: 'must',
    applies: (op, args) => rowCount(op, args) > 1,
    async check(asked) {
      const args = wholePartition(asked.op, asked.args);
      const rows = rowCount(asked.op, args);
      if (rows < 2) return discard('there is one row only');
      const order = Array.from({ length: rows }, (_, at) => rows - 1 - at);
      return twice({ ...asked, args }, pickRows(asked.op, args, order), {
        place: new Map(order.map((row, at) => [row, at])),
        when: 'with the rows in reverse order',
      });
    },
  },
  'micro-batches': {
    id: 'independent-of-micro-batches',
    title: (noun) => `${noun} is the same for every partition of the batch into micro-batches`,
    why: 'A mean of micro-batch means weighs the tokens of short micro-batches more: gradient accumulation changes the objective.',
    level: 'must',
    needs: offered('micro_batches'),
    applies: (_, args) => partsOf(args, 'micro_batches').length > 1,
    check: split('micro_batches', 'micro-batches'),
  },
  ranks: {
    id: 'independent-of-ranks',
    title: (noun) => `${noun} is the same for every partition of the batch over data-parallel ranks`,
    why: 'A mean over ranks of means over tokens, or a statistic of one rank, makes the step depend on how many machines there are.',
    level: 'must',
    needs: offered('ranks'),
    applies: (_, args) => partsOf(args, 'ranks').length > 1,
    check: (asked) => {
      const count = asked.subject.hello.ops[asked.op]?.ranks;
      return typeof count === 'number' ? realRanks(asked, count) : split('ranks', 'ranks')(asked);
    },
  },
  'batch-mates': {
    id: 'independent-of-batch-mates',
    title: (noun) => `${noun} for a row is the same alone and in a batch`,
    why: 'What a row gets from its neighbours changes from batch to batch, and no run can be repeated.',
    level: 'must',
    applies: (op, args) => independentParts(op, args).length > 1,
    async check(asked) {
      const { op } = asked;
      const args = wholePartition(op, asked.args);
      const parts = independentParts(op, args);
      if (parts.length < 2) return discard('there is one row only, or one group');
      for (const kept of parts) {
        const finding = await twice({ ...asked, args }, pickRows(op, args, kept), {
          place: new Map(kept.map((row, at) => [row, at])),
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
    check: (asked) => underTheMask(asked, JUNK, 'when only values at masked positions change'),
  },
  'nan-under-the-mask': {
    id: 'nan-under-the-mask-stays-there',
    title: (noun) => `${noun} is not touched by NaN and infinity at masked positions`,
    why: 'Multiplying by a mask keeps NaN (0 * NaN is NaN): one bad padding value ends the run.',
    level: 'should',
    async check(asked) {
      for (const value of [Number.NaN, Number.NEGATIVE_INFINITY]) {
        const when = `when values at masked positions are ${Number.isNaN(value) ? 'NaN' : 'infinite'}`;
        const finding = await underTheMask(asked, value, when);
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  },
  untrained: {
    id: 'zero-without-trained-tokens',
    title: (noun) => `${noun} is 0 where no token is trained, or the batch is refused`,
    why: 'A batch whose answers were all cut away or filtered out is 0/0: it may come after days, and one such step turns every weight to NaN.',
    level: 'must',
    async check({ subject, op, args }) {
      const outcome = await subject.attempt(op, withoutTrained(op, args));
      if ('refused' in outcome) return discard('a batch without a trained token is refused', 'trainer');
      const { loss, loss_weights: weights } = outcome.ok as Partial<Ok<'loss'>>;
      const allowed = bandOf(subject, 1).allowed(1);
      // What a formula of its own makes of nothing is its own: a ratio of whole answers is 1 there. It moves no weight.
      const own = subject.semantics.own_formulas?.some((name) => name === op) && Number.isFinite(loss ?? 0);
      const broken = (value: number): boolean => !(Math.abs(value) <= allowed);
      const [what, wrong] =
        !own && broken(loss ?? 0) ? ['loss', loss] : ['gradient of some token', weights?.flat().find(broken)];
      if (wrong === undefined) return undefined;
      return {
        kind: Number.isFinite(wrong) ? 'not zero' : 'not finite',
        sentence: `Without a trained token the ${what} is ${show(wrong)}; nothing is trained, so it is 0.`,
        advice: 'Divide by max(trained tokens, 1), or leave such a batch out before the step.',
      };
    },
  },
  'same-twice': {
    id: 'same-twice',
    title: (noun) => `${noun} is the same when asked twice, with another request in between`,
    why: 'A statistic that is carried along, or an input that is written into, makes a step depend on the steps before it.',
    level: 'must',
    async check(asked) {
      const { subject, op, args, ask, terms } = asked;
      const rows = rowCount(op, args);
      const before = await ask(args);
      // Another request, so that what is kept of it shows: one row of this one.
      if (rows > 1) await subject.attempt(op, pickRows(op, wholePartition(op, args), [rows - 1]));
      const after = await ask(args);
      const when = 'when it is asked again';
      return agreement({
        world: subject,
        op,
        args,
        before,
        after,
        when,
        ...(terms === undefined ? {} : { terms }),
      });
    },
  },
  stacked,
  inputs: {
    id: 'inputs-are-unchanged',
    title: () => 'What is handed over is the same after the call',
    why: 'What is masked, scaled or clamped in place is read again by the next term, the next epoch and the log.',
    level: 'must',
    needs: (op) => (world) =>
      world.semantics.in_place?.includes(op)
        ? `semantics.in_place names ${op}: it writes into its arguments on purpose`
        : undefined,
    async check({ subject, op, args }) {
      const outcome = await subject.attempt(op, args);
      // Asked once more, it is refused or raises in its own name.
      if ('refused' in outcome) return void (await subject.ask(op, args));
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
