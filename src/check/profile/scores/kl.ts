// Which estimate of the KL op `kl` returns: estimator, clamp, ratio correction. One token a case, so that a trainer
// that answers with a mean alone says as much as one that answers token by token.
import { logprob as anyLogprob } from '../../../generators/losses/tracks.ts';
import { describeKl, type KlVariant, klTerm, klVariants } from '../../../reference/index.ts';
import type { Clamp, Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { World } from '../../property.ts';
import { layTracks } from '../../rows/tracks.ts';
import { draw, misfitOf, type Probe, type Variant } from '../probe.ts';

/** One token: where the policy stands, d = ref - logprob, and the log of the importance ratio, in nats. */
export interface KlPoint {
  readonly logprob: number;
  readonly d: number;
  readonly logRatio: number;
}

export interface KlWay extends Variant {
  readonly kl: KlVariant;
}

export const klEstimate: Probe<KlPoint> = {
  id: 'kl',
  items: ['kl_estimator', 'kl_clamp', 'kl_ratio_correction'],
  ops: ['kl'],
  variants: async (subject) => klWays(subject),
  cases: (_, drawn) => klPoints(drawn),
  async fits(subject, point, variants) {
    const laid = layTracks({ rows: [klRow(point)] });
    const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width } = laid;
    const args = { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width };
    const answer = await subject.ask('kl', args);
    const observed = answer.kl === undefined ? answer.mean_kl : answer.kl[0]?.[prompt_width];
    const band = bandOf(subject);
    return (variants as readonly KlWay[]).map(({ kl }) =>
      misfitOf([{ where: pointName(point), expected: termOf(point, kl).value, observed }], band.allowed),
    );
  },
};

/** Every estimator with every clamp that anyone has, with and without the ratio. */
export function klWays({ semantics }: Pick<World, 'semantics'>): KlWay[] {
  const declared = semantics.kl_clamp;
  const clamps = new Set<Clamp | null>([null, ...CLAMPS, ...(declared === undefined ? [] : [declared])]);
  return [
    ...[...clamps].flatMap((kl_clamp) =>
      klVariants({ kl_clamp }).map((kl) => ({
        name: describeKl(kl),
        items: { ...itemsOf(kl), kl_clamp },
        kl,
      })),
    ),
    // In one of the ways in which such a clamp may be said, or each would be measured as two.
    ...ONE_SIDED.flatMap((kl_clamp) =>
      klVariants({ kl_clamp })
        .filter(({ clamp, clampWhere }) => clamp === kl_clamp && clampWhere === 'log-ratio')
        .map((kl) => ({ name: describeKl(kl), items: itemsOf(kl), kl })),
    ),
  ];
}

export function termOf({ logprob, d, logRatio }: KlPoint, kl: KlVariant): { value: number; slope: number } {
  return klTerm(logprob, logprob + d, logprob - logRatio, kl);
}

export function klRow({ logprob, d, logRatio }: KlPoint) {
  const token = { logprob, old: logprob - logRatio, ref: logprob + d };
  return { prompt: PROMPT, tokens: [token], advantage: 0, part: 0 };
}

export function pointName({ d, logRatio }: KlPoint): string {
  return `KL at ref - logprob = ${d}, ratio exp(${logRatio})`;
}

/** By hand: near and far on both sides of each clamp, on policy and off; then anywhere within ±2 nats. */
export function klPoints(drawn: number): KlPoint[] {
  return [
    ...FAR.map((d) => ({ logprob: d > 0 ? -1 - d : -1, d, logRatio: 0 })),
    { logprob: -2, d: 0.5, logRatio: 0.5 },
    { logprob: -2, d: -1, logRatio: -0.75 },
    { logprob: -2, d: 1, logRatio: 0.1875 },
    ...draw(anyLogprob(), drawn).map((logprob, at) => ({
      logprob,
      d: Math.max(-2, logprob / 2) * (at % 2 === 0 ? 1 : -1),
      logRatio: at % 3 === 0 ? 0.5 : 0,
    })),
  ];
}

const PROMPT = 2;
/** 10 and 20 are in public trainers; tighter ones are someone's own. */
const CLAMPS: readonly number[] = [10, 20, 5, 3, 1];
const ONE_SIDED: readonly Clamp[] = CLAMPS.flatMap((bound): Clamp[] => [
  [null, bound],
  [-bound, null],
]);
/** Between and beyond the clamps. exp(25) times a coefficient is far from float32's end. */
const FAR: readonly number[] = [0.5, -0.5, 2, -2, 4, -4, 7, -7, 12, -12, 25, -25];

function itemsOf({ estimator, clamp, ratioCorrection }: KlVariant): Semantics {
  return { kl_estimator: estimator, kl_clamp: clamp, kl_ratio_correction: ratioCorrection };
}
