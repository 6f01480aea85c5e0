// Is the log-ratio kept within bounds before exp. One token a case, on the sides that no clip of the ratio reaches: an
// unlikely good token, and, where there is no dual clip, a likely bad one. Read off the loss itself, in logs.
import { bandOf } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { discard } from '../../subject.ts';
import { misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { hasNoRatio, NO_RATIO, oneToken, policyEffect } from './policy.ts';

interface ClampWay extends Variant {
  readonly bound: number;
  readonly onPolicy: number;
}

export const logRatioClamp: Probe<number> = {
  id: 'log_ratio_clamp',
  items: ['log_ratio_clamp'],
  ops: ['loss'],
  lack: ({ semantics }) => {
    if (hasNoRatio(semantics)) return NO_RATIO;
    return semantics.policy_objective === 'cispo'
      ? 'has no effect: a weight that is clipped on both sides tells neither'
      : undefined;
  },
  variants: async (subject) => {
    const declared = subject.semantics.log_ratio_clamp;
    const far = subject.hello.dtype === 'float16' ? FAR_HALF : FAR;
    const onPolicy = await lossOnPolicy(subject);
    const seen = Math.abs(await impliedLogRatio(subject, -far, onPolicy));
    const solved = seen < far - UNCLAMPED ? [settled(seen, BLUR, declared)] : [];
    const bounds = new Set([null, ...BOUNDS, ...(declared === undefined ? [] : [declared]), ...solved]);
    return [...bounds].map(
      (bound): ClampWay => ({
        name: bound === null ? 'no bound on the log-ratio' : `a log-ratio within ${bound} of 0`,
        items: { log_ratio_clamp: bound },
        bound: bound ?? Number.POSITIVE_INFINITY,
        onPolicy,
      }),
    );
  },
  cases: ({ hello, semantics }) => {
    const far = hello.dtype === 'float16' ? FAR_HALF : FAR;
    const sizes = SIZES.filter((size) => size <= far);
    // A dual clip bounds the ratio of a bad token itself; one that could not be told may.
    return [...sizes.map((size) => -size), ...(semantics.dual_clip === null ? sizes : [])];
  },
  async fits(subject, logRatio, variants) {
    const [first] = variants as readonly ClampWay[];
    const observed = await impliedLogRatio(subject, logRatio, first?.onPolicy);
    const band = bandOf(subject);
    const where = `the log-ratio of which the loss is made, at log-ratio ${logRatio}`;
    return (variants as readonly ClampWay[]).map(({ bound }) => {
      const expected = Math.min(Math.max(logRatio, -bound), bound);
      return misfitOf([{ where, expected, observed }], band.allowed);
    });
  },
};

/** The log of what the loss is made of, as a ratio to that of a token on policy; the advantage's sign is its own. */
export async function impliedLogRatio(
  subject: Subject,
  logRatio: number,
  onPolicy?: number,
): Promise<number> {
  const { loss } = await policyEffect(subject, [oneToken(logRatio, logRatio < 0 ? 1 : -1)]);
  const ratio = Math.abs(loss) / (onPolicy ?? (await lossOnPolicy(subject)));
  return ratio > 0 ? Math.log(ratio) : discard('the loss of one token does not follow its ratio');
}

/** The size of the loss of one token with ratio 1 and an advantage of 1, or of -1. */
async function lossOnPolicy(subject: Subject): Promise<number> {
  return Math.abs((await policyEffect(subject, [oneToken(0, 1)])).loss);
}

/** verl 20; 10 and 5 in smaller trainers. */
const BOUNDS: readonly number[] = [20, 10, 5];
/** Between and beyond the bounds; exp(±60) is a normal number of float32. */
const FAR = 60;
/** exp(-9) is a normal number of float16. */
const FAR_HALF = 9;
const SIZES: readonly number[] = [FAR, 25, 15, FAR_HALF, 7, 4, 2];
/** In nats: this near to the far log-ratio itself nothing was clamped. */
const UNCLAMPED = 1;
/** Of a log, whatever the ratio was rounded to. */
const BLUR = 1e-3;
