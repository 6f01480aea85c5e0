// A batch without a trained token: its loss is 0 and moves no weight, or the batch is refused. A mean over no tokens is 0/0, and
// harmless where no batch is ever without one. No answer shows whether that is so, and so it is asked.

import type { Ok, Op } from '../../protocol/message.ts';
import { bandOf, show } from '../numbers.ts';
import { meantOr, notMeant } from '../questions/meant.ts';
import { discard } from '../subject.ts';
import { hasColumns, wholeOf } from './fit.ts';
import { type Asked, FEW_CASES, type Rule } from './rule.ts';
import { withoutTrained } from './transform.ts';

export const untrained: Rule = {
  id: 'zero-without-trained-tokens',
  title: (noun) => `${noun} is 0 where no token is trained, or the batch is refused`,
  why: 'A batch whose answers were all cut away or filtered out is 0/0: it may come after days, and one such step turns every weight to NaN.',
  level: 'must',
  unfit: (signature) =>
    hasColumns(signature) && wholeOf(signature) === 'loss' ? undefined : 'it answers no loss of tokens',
  mostCases: FEW_CASES,
  needs: () => notMeant('batches_always_train'),
  async check(asked) {
    const { subject, op, args } = asked;
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
      ...((await isMeanOfNothing(asked, loss, weights))
        ? meantOr(asked.subject, 'batches_always_train')
        : {}),
    };
  },
};

/**
 * The loss alone is 0/0, and only here: whoever answers 0 beside a gradient of NaN meant to allow for such a batch, an infinite
 * loss is a sum over tokens that are not trained, and what is NaN with trained tokens is broken for every batch.
 */
async function isMeanOfNothing<O extends Op>(
  { ask, args }: Asked<O>,
  loss: number | undefined,
  weights: Ok<'loss'>['loss_weights'],
): Promise<boolean> {
  if (!Number.isNaN(loss) || weights?.flat().some((value) => value !== 0 && !Number.isNaN(value)))
    return false;
  const { loss: trained } = (await ask(args)).fields;
  return Number.isFinite(trained);
}
