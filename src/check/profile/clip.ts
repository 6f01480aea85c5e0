// Where the ratio is clipped. One token a case: far outside the range its loss is the edge itself, which solves for
// any width; on either side of every known edge its slope must be there or gone, which checks what was solved.
import { bandOf } from '../numbers.ts';
import type { Subject } from '../property.ts';
import { oneToken, policyEffect, single, unitFactor } from './policy.ts';
import { misfitOf, type Probe, settled, type Variant } from './probe.ts';

type Side = 'low' | 'high';

interface ClipWay extends Variant {
  /** The ratio at which the clip begins: 0 or Infinity where there is none. */
  readonly edge: number;
  readonly unit: number;
}

export const clipLow: Probe<number> = clipOf('low');
export const clipHigh: Probe<number> = clipOf('high');

function clipOf(side: Side): Probe<number> {
  const item = side === 'low' ? 'clip_low' : 'clip_high';
  const sign = side === 'low' ? -1 : 1;
  const edgeOf = (width: number): number => Math.max(0, 1 + sign * width);
  return {
    id: item,
    items: [item],
    ops: ['loss'],
    variants: async (subject) => {
      const declared = subject.semantics[item];
      const widths = new Set([...WIDTHS, ...(declared === undefined ? [] : [declared])]);
      const solved = await solve(subject, side, declared);
      if (solved !== undefined) widths.add(solved);
      const unit = await unitFactor(subject);
      return [...widths].map((width): ClipWay => {
        const edge = edgeOf(width);
        const name =
          width === Number.POSITIVE_INFINITY ? `no clip ${side}` : `ratio clipped at ${short(edge)}`;
        return { name, items: { [item]: width }, edge, unit };
      });
    },
    cases: (world) => {
      const near = isHalf(world.hello.dtype) ? NEAR_HALF : NEAR;
      const widths = [...WIDTHS, world.semantics[item] ?? SOME_WIDTH].filter(
        (width) => Number.isFinite(width) && width * near > (isHalf(world.hello.dtype) ? HALF_UNIT : 0),
      );
      return [
        FAR[side],
        ...widths.flatMap((width) => [edgeOf(width * (1 - near)), edgeOf(width * (1 + near))]),
      ].filter((ratio) => ratio > 0);
    },
    async fits(subject, ratio, variants) {
      const effect = await policyEffect(subject, [oneToken(Math.log(ratio), sign)]);
      const observed = single(effect);
      const band = bandOf(subject);
      return (variants as readonly ClipWay[]).map(({ edge, unit }) => {
        const clipped = sign * (ratio - edge) > 0;
        const value = -sign * (clipped ? edge : ratio);
        const slope = clipped ? 0 : -sign * ratio;
        const [what, expected] =
          effect.weights === undefined ? (['loss', value] as const) : (['gradient', slope] as const);
        const where = `the ${what} of a token with ratio ${short(ratio)} and advantage ${sign}`;
        return misfitOf([{ where, expected, observed: observed / unit }], band.allowed);
      });
    },
  };
}

/** The width at which the loss of a token stops to follow its ratio; undefined where it does no such thing. */
async function solve(
  subject: Subject,
  side: Side,
  declared: number | undefined,
): Promise<number | undefined> {
  const sign = side === 'low' ? -1 : 1;
  const at = async (ratio: number): Promise<number> =>
    (await policyEffect(subject, [oneToken(Math.log(ratio), sign)])).loss;
  const edge = (await at(FAR[side])) / (await at(1));
  const width = sign * (edge - 1);
  if (!(width > 0) || !Number.isFinite(width) || Math.abs(Math.log(edge / FAR[side])) < UNCLIPPED)
    return undefined;
  // The edge is known to a share of itself; the width, being smaller, to a larger share.
  const blur = (Math.max(bandOf(subject).relative, SOLVED) * edge) / width;
  return settled(width, blur, declared);
}

const isHalf = (dtype: string | undefined): boolean => dtype === 'bfloat16' || dtype === 'float16';
const short = (value: number): number => Number(value.toPrecision(6));

/** PPO and GRPO 0.2, DAPO 0.28 above, tighter and wider ones, GSPO's own, and none. */
const WIDTHS: readonly number[] = [0.2, 0.28, 0.1, 0.3, 3e-4, 4e-4, Number.POSITIVE_INFINITY];
const SOME_WIDTH = 0.2;
/** Further than anyone clips; the logs of both are exact enough in float32, and a dual clip bounds neither. */
const FAR: Readonly<Record<Side, number>> = { low: 1 / 1024, high: 32 };
/** In nats: this near to the far ratio itself nothing was clipped. */
const UNCLIPPED = 0.1;
/** Shares of a width, inside and outside of its edge: 6e-6 for the least of them, which float32 still holds. */
const NEAR = 0.02;
const NEAR_HALF = 0.15;
/** Three units of rounding of a ratio near 1 in bfloat16. */
const HALF_UNIT = 0.012;
const SOLVED = 1e-6;
