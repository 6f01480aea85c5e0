// The KL term of the policy loss: its coefficient, and which estimate it is. One token without advantage a case.
import { describeKl, straightThrough } from '../../../reference/index.ts';
import { bandOf, mayDescendStraight, type Pair } from '../../numbers.ts';
import { misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { type KlPoint, type KlWay, klPoints, klRow, klWays, pointName, termOf } from '../scores/kl.ts';
import { type Effect, effect, single, unitFactor } from './policy.ts';

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
    const wayOf = (way: KlWay): TermWay => {
      const { value, slope } = termOf(NEAR, way.kl);
      // A sign that is turned is no coefficient: such a term fits nothing.
      const solved = Math.abs(observed / (seen.weights === undefined ? value : slope));
      const coefficient = settled(solved, blur, kl_placement === 'reward' ? undefined : declared);
      // Which of several estimates it is has no effect on what is descended straight through.
      const own = way.kl.slopeOf === undefined ? way.items : {};
      const items = { ...own, kl_coef: coefficient, kl_placement: 'loss' } as const;
      return { name: `${coefficient} times KL (${way.name})`, items, coefficient, kl: way.kl, unit };
    };
    const known = klWays(subject.semantics.kl_clamp);
    const ways = known.map(wayOf);
    if (seen.weights === undefined || !mayDescendStraight(subject)) return [...ways, none];
    const straight = known.flatMap(straightWays).map(wayOf);
    const effects = await Promise.all(TELLING.map((point) => effect(subject, [klRow(point)])));
    const explains = (way: TermWay): boolean =>
      misfitOf(
        effects.flatMap((each, at) => {
          const point = TELLING[at] as KlPoint;
          return [...lossPairs(each, point, way), ...slopePairs(each, point, way)];
        }),
        bandOf(subject).allowed,
      ) === undefined;
    // Only where nothing else explains loss and gradient: a loss that its gradient does not follow may be any number.
    return [...(!ways.some(explains) && straight.some(explains) ? straight : ways), none];
  },
  cases: (_, drawn) => klPoints(drawn),
  async fits(subject, point, variants) {
    const seen = await effect(subject, [klRow(point)]);
    const band = bandOf(subject);
    return (variants as readonly TermWay[]).map((way) => {
      const { kl } = way;
      const lost = kl === undefined ? 0 : band.relative * cancelled(point, kl);
      const slopes = seen.weights === undefined ? [] : slopePairs(seen, point, way);
      const losses =
        seen.weights === undefined || kl?.slopeOf !== undefined ? lossPairs(seen, point, way) : [];
      return misfitOf([...slopes, ...losses], (want) => Math.max(band.allowed(want), lost));
    });
  },
};

/** In units of the coefficient, or a small one would drown in the tolerance. */
const lossPairs = ({ loss }: Effect, point: KlPoint, { kl, unit, coefficient }: TermWay): Pair[] => [
  {
    where: `the loss of ${pointName(point)}`,
    expected: kl === undefined ? 0 : termOf(point, kl).value,
    observed: loss / unit / coefficient,
  },
];
const slopePairs = (seen: Effect, point: KlPoint, { kl, unit, coefficient }: TermWay): Pair[] => [
  {
    where: `the gradient of ${pointName(point)}`,
    expected: kl === undefined ? 0 : termOf(point, kl).slope,
    observed: single(seen) / unit / coefficient,
  },
];

const straightWays = (way: KlWay): KlWay[] =>
  straightThrough([way.kl]).map((kl) => ({ ...way, name: describeKl(kl), kl }));

/** Size of the two terms, slope and value, that the ratio's derivative adds up: k3 at d = 25 loses -d under exp(d). */
function cancelled(point: KlPoint, kl: KlWay['kl']): number {
  if (!kl.ratioCorrection) return 0;
  const { value, slope } = termOf(point, { ...kl, ratioCorrection: false });
  return (Math.abs(value) + Math.abs(slope)) * Math.exp(point.logRatio);
}

/** Inside every clamp, and every estimator has both a value and a slope there. */
const NEAR: KlPoint = { logprob: -2, d: 0.5, logRatio: 0 };
/** Both sides, and off policy, where a ratio before the estimate is seen: on policy, k3 with it has the gradient of k2. */
const TELLING: readonly KlPoint[] = [
  { ...NEAR, logRatio: 0.5 },
  { logprob: -2, d: -1, logRatio: -0.75 },
];
const SOLVED = 1e-6;
