// The KL term of the policy loss: its coefficient, and which estimate it is. One token without advantage a case.
import { bandOf } from '../../numbers.ts';
import { misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { type KlPoint, type KlWay, klPoints, klRow, klWays, pointName, termOf } from '../scores/kl.ts';
import { effect, single, unitFactor } from './policy.ts';

interface TermWay extends Variant {
  readonly coefficient: number;
  readonly kl: KlWay['kl'] | undefined;
  readonly unit: number;
}

export const klInLoss: Probe<KlPoint> = {
  id: 'kl_in_loss',
  items: ['kl_coef', 'kl_placement', 'kl_estimator', 'kl_clamp', 'kl_ratio_correction'],
  ops: ['loss'],
  variants: async (subject) => {
    const unit = await unitFactor(subject);
    const none: TermWay = { name: 'no KL term', items: { kl_coef: 0 }, coefficient: 1, kl: undefined, unit };
    const seen = await effect(subject, [klRow(NEAR)]);
    const observed = single(seen) / unit;
    // Also where rows without advantage are left out, and their KL with them: no known formula does that, and the loss of
    // the others is compared with one that has no KL.
    if (observed === 0) return [none];
    const { kl_coef: declared, kl_placement } = subject.semantics;
    const blur = Math.max(bandOf(subject).relative, SOLVED);
    const ways = klWays(subject.semantics.kl_clamp).map((way): TermWay => {
      const { value, slope } = termOf(NEAR, way.kl);
      // A sign that is turned is no coefficient: such a term fits nothing.
      const solved = Math.abs(observed / (seen.weights === undefined ? value : slope));
      const coefficient = settled(solved, blur, kl_placement === 'reward' ? undefined : declared);
      const items = { ...way.items, kl_coef: coefficient, kl_placement: 'loss' } as const;
      return { name: `${coefficient} times KL (${way.name})`, items, coefficient, kl: way.kl, unit };
    });
    return [...ways, none];
  },
  cases: (_, drawn) => klPoints(drawn),
  async fits(subject, point, variants) {
    const seen = await effect(subject, [klRow(point)]);
    const band = bandOf(subject);
    return (variants as readonly TermWay[]).map(({ kl, coefficient, unit }) => {
      const term = kl === undefined ? { value: 0, slope: 0 } : termOf(point, kl);
      const expected = seen.weights === undefined ? term.value : term.slope;
      // In units of the coefficient, or a small one would drown in the tolerance.
      const observed = single(seen) / unit / coefficient;
      const what = seen.weights === undefined ? 'the loss' : 'the gradient';
      const lost = kl === undefined ? 0 : band.relative * cancelled(point, kl);
      return misfitOf([{ where: `${what} of ${pointName(point)}`, expected, observed }], (want) =>
        Math.max(band.allowed(want), lost),
      );
    });
  },
};

/** Size of the two terms, slope and value, that the ratio's derivative adds up: k3 at d = 25 loses -d under exp(d). */
function cancelled(point: KlPoint, kl: KlWay['kl']): number {
  if (!kl.ratioCorrection) return 0;
  const { value, slope } = termOf(point, { ...kl, ratioCorrection: false });
  return (Math.abs(value) + Math.abs(slope)) * Math.exp(point.logRatio);
}

/** Inside every clamp, and every estimator has both a value and a slope there. */
const NEAR: KlPoint = { logprob: -2, d: 0.5, logRatio: 0 };
const SOLVED = 1e-6;
