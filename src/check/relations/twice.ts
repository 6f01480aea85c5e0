// A request asked as it is and changed, and what of the answer moved.
import type { Args, Op } from '../../protocol/message.ts';
import type { Finding } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement, notANumber } from './compare.ts';
import type { Asked } from './rule.ts';

/** The answer to a request, and to a changed one. */
export async function twice<O extends Op>(
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
