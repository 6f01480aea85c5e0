// One batch cut into parts: micro-batches that are accumulated, and the rows of data-parallel ranks.
import type { Args, Op } from '../../protocol/message.ts';
import { dealt, overRanks } from '../../protocol/ranks.ts';
import type { Finding, Need } from '../property.ts';
import { discard, firstFinding } from '../subject.ts';
import { meansLocal } from '../support.ts';
import type { Signature } from './fit.ts';
import type { Asked, Changed, Rule } from './rule.ts';
import { pickRows, rowCount, trainedOf, wholePartition } from './transform.ts';
import { twice } from './twice.ts';

function partsOf(args: object, capability: 'micro_batches' | 'ranks'): readonly (readonly number[])[] {
  return (args as { readonly [C in typeof capability]?: readonly (readonly number[])[] })[capability] ?? [];
}

const split =
  (capability: 'micro_batches' | 'ranks', what: string) =>
  <O extends Op>(_: O, args: Args<O>, given: Args<O>): Changed<O> | string => {
    const parts = partsOf(given, capability);
    if (parts.length < 2) return `there is one of the ${what} only`;
    const shown = parts.map((rows) => rows.join(' ')).join(' | ');
    return {
      args: { ...args, [capability]: parts },
      when: `when the batch is split over ${parts.length} ${what} [${shown}]`,
    };
  };

/** Beyond the number of steps that gradients are usually accumulated over: 8 or 16. */
const MANY = 17;

/** The rows that have something to train, until there are many of them, each by itself. What is logged is asked of a few. */
async function oneRowEach<O extends Op>(asked: Asked<O>): Promise<Finding | undefined> {
  const { op, subject } = asked;
  const rows = trainedOf(op, asked.args).flatMap((row, at) => (row.includes(true) ? [at] : []));
  const order = Array.from({ length: MANY }, (_, at) => rows[at % rows.length] ?? 0);
  const whole = wholePartition(op, pickRows(op, asked.args, order));
  return twice(
    {
      ...asked,
      args: whole,
      // What is answered has to do: an estimate is a request for each token.
      ask: async (args) => {
        const answer = await subject.ask(op, args);
        return { fields: { ...answer, metrics: undefined } };
      },
    },
    {
      args: { ...whole, micro_batches: order.map((_, at) => [at]) },
      when: `when ${MANY} rows are split over ${MANY} micro-batches of one row`,
    },
  );
}

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
    [overRanks([usual.flat()], count), 'when one rank has all rows and the others have none'],
  ];
  const shown = (ranks: readonly (readonly number[])[]): string =>
    ranks.map((rows) => (rows.length === 0 ? 'none' : rows.join(' '))).join(' | ');
  return firstFinding(
    ways.map(
      ([ranks, when]) =>
        () =>
          twice(
            { ...asked, args: { ...whole, ranks: usual } },
            {
              args: { ...whole, ranks },
              when: `${when}, [${shown(ranks)}] instead of [${shown(usual)}]`,
            },
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
    if (meansLocal(op, world))
      return 'every micro-batch and every rank has its own denominator (loss_normalization "local"); where the whole batch is meant, declare "global", and this is checked';
    return undefined;
  };

const takesNo =
  (capability: 'micro_batches' | 'ranks') =>
  ({ args }: Signature): string | undefined =>
    args.some(({ name }) => name === capability) ? undefined : `it takes no ${capability}`;

export const MICRO_BATCHES: Rule = {
  id: 'independent-of-micro-batches',
  title: (noun) => `${noun} is the same for every partition of the batch into micro-batches`,
  why: 'A mean of micro-batch means weighs the tokens of short micro-batches more: gradient accumulation changes the objective.',
  level: 'must',
  unfit: takesNo('micro_batches'),
  needs: offered('micro_batches'),
  applies: (_, args) => partsOf(args, 'micro_batches').length > 1,
  change: split('micro_batches', 'micro-batches'),
};

export const MANY_MICRO_BATCHES: Rule = {
  id: 'independent-of-many-micro-batches',
  title: (noun) => `${noun} of ${MANY} rows is the same in ${MANY} micro-batches of one row each`,
  why: 'A step that accumulates so many micro-batches and drops what is left over trains on a part of the batch.',
  level: 'must',
  unfit: takesNo('micro_batches'),
  mostCases: 20,
  needs: offered('micro_batches'),
  applies: (op, args) => trainedOf(op, args).some((row) => row.includes(true)),
  check: oneRowEach,
};

export const RANKS: Rule = {
  id: 'independent-of-ranks',
  title: (noun) => `${noun} is the same for every partition of the batch over data-parallel ranks`,
  why: 'A mean over ranks of means over tokens, or a statistic of one rank, makes the step depend on how many machines there are.',
  level: 'must',
  unfit: takesNo('ranks'),
  needs: offered('ranks'),
  applies: (_, args) => partsOf(args, 'ranks').length > 1,
  check: (asked) => {
    const count = asked.subject.hello.ops[asked.op]?.ranks;
    if (typeof count === 'number') return realRanks(asked, count);
    const args = wholePartition(asked.op, asked.args);
    const changed = split('ranks', 'ranks')(asked.op, args, asked.args);
    return typeof changed === 'string' ? discard(changed) : twice({ ...asked, args }, changed);
  },
};
