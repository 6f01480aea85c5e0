// A request asked as it is and changed, and what of the answer moved.
import type { Op } from '../../protocol/message.ts';
import type { Finding } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement, notANumber, type Observed } from './compare.ts';
import type { Asked, Change, Changed } from './rule.ts';

/** Last part of the ids of properties that ask one request again. */
export const SAME_TWICE = 'same-twice';

export const asksTwice = (id: string): boolean => id.endsWith(SAME_TWICE);

/** The answer to a request, and to a changed one. */
export async function twice<O extends Op>(
  asked: Asked<O>,
  { args: changed, cause, ...change }: Changed<O>,
): Promise<Finding | undefined> {
  const { op, args, ask } = asked;
  const before = await ask(args);
  const broken = notANumber(op, args, before);
  if (broken !== undefined) return discard(`${broken.where} is ${broken.value} already`, 'trainer');
  const after = await ask(changed);
  const finding = moved(asked, before, after, change);
  const advice = finding === undefined ? undefined : cause?.(before, after);
  return finding === undefined || advice === undefined ? finding : { ...finding, advice };
}

/** What of an answer is another one now. */
export function moved<O extends Op>(
  { subject, op, args, terms }: Asked<O>,
  before: Observed,
  after: Observed,
  change: Change,
): Finding | undefined {
  return agreement({
    // Rows and columns are counted in the first request: a change may bring its own arguments.
    ...change,
    world: subject,
    op,
    args,
    before,
    after,
    ...(terms === undefined ? {} : { terms }),
  });
}
