// Relations of one op, asked with one request that changes everything that must not matter. If the answer agrees, all of them hold;
// if not, each change is asked alone, to tell which one matters.
import type { OkAxis } from '../../protocol/axes.ts';
import type { Args, Op } from '../../protocol/message.ts';
import type { Finding } from '../property.ts';
import { discard, unlessEnded } from '../subject.ts';
import { notANumber } from './compare.ts';
import type { Asked, Changed, Invariance } from './rule.ts';
import { axesOf, wholePartition } from './transform.ts';
import { moved, twice } from './twice.ts';

/** Judges a relation whose rule is one change: with the others of its op first, then alone. */
export async function unchanged<O extends Op>(
  rule: Invariance,
  asked: Asked<O>,
  others: readonly Invariance[],
): Promise<Finding | undefined> {
  const { op } = asked;
  const args = wholePartition(op, asked.args);
  const own = rule.change(op, args, asked.args);
  if (typeof own === 'string') return discard(own);
  const kept = others.filter(({ leavesOut }) => leavesOut !== true || rule.leavesOut || !hasWhole(op));
  if ((kept.length > 1 || rule.alone !== undefined) && (await holdTogether(asked, args, kept)))
    return undefined;
  return rule.alone === undefined ? twice({ ...asked, args }, own) : rule.alone({ ...asked, args });
}

/** The answer has a number of the whole batch, which is another one where rows are left out. */
function hasWhole(op: Op): boolean {
  const axes: Readonly<Record<string, OkAxis>> = axesOf(op).ok;
  return Object.values(axes).includes('batch');
}

async function holdTogether<O extends Op>(
  asked: Asked<O>,
  args: Args<O>,
  rules: readonly Invariance[],
): Promise<boolean> {
  const { op, ask } = asked;
  const all = composed(op, args, asked.args, rules);
  const before = await ask(args);
  if (notANumber(op, args, before) !== undefined) return false;
  return unlessEnded(
    async () => moved({ ...asked, args }, before, await ask(all.args), all) === undefined,
    false,
  );
}

/** One change after the other, those that have something to change; where each row is in the end. */
function composed<O extends Op>(
  op: O,
  args: Args<O>,
  given: Args<O>,
  rules: readonly Invariance[],
): Changed<O> {
  let all: Changed<O> = { args, when: 'when all of this changes' };
  for (const rule of rules) {
    const next = rule.change(op, all.args, given);
    if (typeof next === 'string') continue;
    all = {
      args: next.args,
      when: all.when,
      batch: all.batch !== false && next.batch !== false,
      shift: (all.shift ?? 0) + (next.shift ?? 0),
      ...placed(behind(all.place, next.place)),
    };
  }
  return all;
}

const placed = (place: Place): Pick<Changed<Op>, 'place'> => (place === undefined ? {} : { place });

type Place = ReadonlyMap<number, number> | undefined;

function behind(first: Place, second: Place): Place {
  if (first === undefined || second === undefined) return first ?? second;
  return new Map(
    [...first].flatMap(([row, at]) => {
      const then = second.get(at);
      return then === undefined ? [] : [[row, then] as const];
    }),
  );
}
