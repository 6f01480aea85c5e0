// Where the ratio is clipped. One token a case: far outside the range its loss is the edge itself, which solves for
// any width; on either side of every known edge its slope must be there or gone, which checks what was solved.
import type { Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { discard } from '../../subject.ts';
import { misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { impliedLogRatio } from './log-ratio-clamp.ts';
import { hasNoRatio, NO_RATIO, oneToken, policyEffect, single, unitFactor } from './policy.ts';

type Side = 'low' | 'high' | 'dual';

interface ClipWay extends Variant {
  /** The ratio at which the clip begins: 0 or Infinity where there is none. */
  readonly edge: number;
  readonly unit: number;
}

interface SideFacts {
  readonly item: 'clip_low' | 'clip_high' | 'dual_clip';
  /** Of the advantage under which the edge binds. */
  readonly sign: 1 | -1;
  /** Whether ratios beyond the edge are above it. */
  readonly above: boolean;
  readonly far: number;
  readonly widths: readonly (number | null)[];
  readonly edgeOf: (width: number | null) => number;
  readonly widthOf: (edge: number) => number;
}

/** PPO and GRPO 0.2, DAPO 0.28 above, tighter and wider ones, GSPO's own, and none. */
const WIDTHS: readonly number[] = [0.2, 0.28, 0.1, 0.3, 3e-4, 4e-4, Number.POSITIVE_INFINITY];
/**
 * Further than anyone clips; the logs of all are exact enough in float32. A dual clip bounds neither of the first
 * two, and stands far beyond the clip range itself.
 */
const SIDES: Readonly<Record<Side, SideFacts>> = {
  low: {
    item: 'clip_low',
    sign: -1,
    above: false,
    far: 1 / 1024,
    widths: WIDTHS,
    edgeOf: (width) => Math.max(0, 1 - (width ?? Number.POSITIVE_INFINITY)),
    widthOf: (edge) => 1 - edge,
  },
  high: {
    item: 'clip_high',
    sign: 1,
    above: true,
    far: 32,
    widths: WIDTHS,
    edgeOf: (width) => 1 + (width ?? Number.POSITIVE_INFINITY),
    widthOf: (edge) => edge - 1,
  },
  dual: {
    item: 'dual_clip',
    sign: -1,
    above: true,
    far: 256,
    // verl's default, and others in use.
    widths: [null, 3, 2, 4, 5, 10],
    edgeOf: (bound) => bound ?? Number.POSITIVE_INFINITY,
    widthOf: (edge) => edge,
  },
};
export const clipLow: Probe<number> = clipOf('low');
export const clipHigh: Probe<number> = clipOf('high');
/** The bound on the ratio of a bad answer (Ye et al. 2020, equation 5): the ratio itself, not a width. */
export const dualClip: Probe<number> = clipOf('dual');

function clipOf(side: Side): Probe<number> {
  const facts = SIDES[side];
  const { item, sign, above, far, edgeOf } = facts;
  return {
    id: item,
    items: [item],
    ops: ['loss'],
    lack: ({ semantics }) => {
      if (hasNoRatio(semantics)) return NO_RATIO;
      return side === 'dual' && semantics.policy_objective === 'cispo'
        ? 'has no effect: weights are clipped, whatever the advantage is'
        : undefined;
    },
    variants: async (subject) => {
      if (side === 'dual' && (await impliedLogRatio(subject, -Math.log(far))) > HELD - Math.log(far))
        return discard('could not be told: the log-ratio is clamped before it');
      const cispo = subject.semantics.policy_objective === 'cispo';
      const declared = subject.semantics[item];
      const widths = new Set([...facts.widths, ...(declared === undefined ? [] : [declared])]);
      const solved = await solve(subject, facts, cispo);
      if (solved !== undefined) widths.add(solved);
      const unit = await unitFactor(subject);
      return [...widths].map((width): ClipWay => {
        const edge = edgeOf(width);
        const none = edge === 0 || edge === Number.POSITIVE_INFINITY;
        const name = none
          ? `no ${side === 'dual' ? 'dual clip' : `clip ${side}`}`
          : `ratio clipped at ${short(edge)}${side === 'dual' ? ' for bad answers' : ''}`;
        return { name, items: { [item]: width } as Semantics, edge, unit };
      });
    },
    cases: (world) => {
      const near = isHalf(world.hello.dtype) ? NEAR_HALF : NEAR;
      const widths = [...facts.widths, world.semantics[item] ?? null].filter(
        (width): width is number =>
          width !== null &&
          Number.isFinite(width) &&
          width * near > (isHalf(world.hello.dtype) ? HALF_UNIT : 0),
      );
      return [
        far,
        ...widths.flatMap((width) => [edgeOf(width * (1 - near)), edgeOf(width * (1 + near))]),
      ].filter((ratio) => ratio > 0);
    },
    async fits(subject, ratio, variants) {
      const effect = await policyEffect(subject, [oneToken(Math.log(ratio), sign)]);
      const observed = single(effect);
      const band = bandOf(subject);
      const cispo = subject.semantics.policy_objective === 'cispo';
      return (variants as readonly ClipWay[]).map(({ edge, unit }) => {
        const clipped = above ? ratio > edge : ratio < edge;
        const value = -sign * (clipped ? edge : ratio);
        // A clipped weight is still one; a clipped objective has no slope.
        const slope = clipped ? (cispo ? -sign * edge : 0) : -sign * ratio;
        const [what, expected] =
          effect.weights === undefined ? (['loss', value] as const) : (['gradient', slope] as const);
        const where = `the ${what} of a token with ratio ${short(ratio)} and advantage ${sign}`;
        return misfitOf([{ where, expected, observed: observed / unit }], band.allowed);
      });
    },
  };
}

/**
 * The width at which the loss of a token (or the weight, where weights are clipped) stops to follow its ratio;
 * undefined where it does no such thing.
 */
async function solve(subject: Subject, facts: SideFacts, cispo: boolean): Promise<number | undefined> {
  const { far, sign, item } = facts;
  const at = async (ratio: number): Promise<number> => {
    const effect = await policyEffect(subject, [oneToken(Math.log(ratio), sign)]);
    return cispo ? single(effect) : effect.loss;
  };
  const edge = (await at(far)) / (await at(1));
  const width = facts.widthOf(edge);
  if (!(width > 0) || !Number.isFinite(width) || Math.abs(Math.log(edge / far)) < UNCLIPPED) return undefined;
  // The edge is known to a share of itself; the width, being smaller, to a larger share.
  const blur = (Math.max(bandOf(subject).relative, SOLVED) * edge) / width;
  return settled(width, blur, subject.semantics[item]);
}

const isHalf = (dtype: string | undefined): boolean => dtype === 'bfloat16' || dtype === 'float16';
const short = (value: number): number => Number(value.toPrecision(6));

/** In nats: this near to the far ratio itself nothing was clipped. */
const UNCLIPPED = 0.1;
/** In nats: this far from the log-ratio it was clamped; half precision blurs a log by less. */
const HELD = 0.5;
/** Shares of a width, inside and outside of its edge: 6e-6 for the least of them, which float32 still holds. */
const NEAR = 0.02;
const NEAR_HALF = 0.15;
/** Three units of rounding of a ratio near 1 in bfloat16. */
const HALF_UNIT = 0.012;
const SOLVED = 1e-6;
