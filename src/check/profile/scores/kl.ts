// Which estimate of the KL op `kl` returns: estimator, clamp, ratio correction. One token a case, so that a trainer
// that answers with a mean alone says as much as one that answers token by token. A trainer that is asked for several
// estimators may bound each in its own way, and is measured at each.
import { logprob as anyLogprob } from '../../../generators/losses/tracks.ts';
import {
  describeKl,
  isClampByEstimator,
  type KlVariant,
  klClampOf,
  klTerm,
  klVariants,
} from '../../../reference/index.ts';
import type { Clamp, ClampByEstimator, KlEstimator, Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
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
  variants: async (subject) => klWays(await clampSaid(subject)),
  cases: (_, drawn) => klPoints(drawn),
  fits: (subject, point, variants) => misfits(subject, point, variants as readonly KlWay[]),
};

async function misfits(subject: Subject, point: KlPoint, ways: readonly KlWay[], asked?: KlEstimator) {
  const laid = layTracks({ rows: [klRow(point)] });
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width } = laid;
  const args = { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width };
  const answer = await subject.ask('kl', asked === undefined ? args : { ...args, kl_estimator: asked });
  const observed = answer.kl === undefined ? answer.mean_kl : answer.kl[0]?.[prompt_width];
  const band = bandOf(subject);
  return ways.map(({ kl }) =>
    misfitOf([{ where: pointName(point), expected: termOf(point, kl).value, observed }], band.allowed),
  );
}

/**
 * Every estimator with every clamp that anyone has, with and without the ratio. Where clamps are said by estimator, a
 * way says its own in the place of what is said of its estimator.
 */
export function klWays(said: Semantics['kl_clamp']): KlWay[] {
  const own = isClampByEstimator(said) ? Object.values(said) : said === undefined ? [] : [said];
  const clamps = new Set<Clamp | null>([null, ...CLAMPS, ...own]);
  const wayOf = (kl: KlVariant, clamp: Clamp | null): KlWay => ({
    name: describeKl(kl),
    items: {
      kl_estimator: kl.estimator,
      kl_clamp: isClampByEstimator(said) ? withClamp(said, kl.estimator, clamp) : clamp,
      kl_ratio_correction: kl.ratioCorrection,
    },
    kl,
  });
  return [
    ...[...clamps].flatMap((kl_clamp) => klVariants({ kl_clamp }).map((kl) => wayOf(kl, kl_clamp))),
    // In one of the ways in which such a clamp may be said, or each would be measured as two.
    ...ONE_SIDED.flatMap((kl_clamp) =>
      klVariants({ kl_clamp })
        .filter(({ clamp, clampWhere }) => clamp === kl_clamp && clampWhere === 'log-ratio')
        .map((kl) => wayOf(kl, kl_clamp)),
    ),
  ];
}

/**
 * Clamps by estimator, where the trainer can be asked for several and does not bound all alike. One clamp that is
 * declared is that of its own estimator, and says nothing of the others that could be measured against it.
 */
async function clampSaid(subject: Subject): Promise<Semantics['kl_clamp']> {
  const said = subject.semantics.kl_clamp;
  const named = subject.hello.ops.kl?.kl_estimator ?? [];
  if (named.length < 2 || (said !== undefined && !isClampByEstimator(said))) return said;
  let measured: ClampByEstimator = said ?? {};
  const seen = new Set<string>();
  for (const estimator of named) {
    const clamp = await clampOf(subject, estimator, klWays(said));
    if (clamp === undefined) return said;
    measured = withClamp(measured, estimator, clamp);
    seen.add(JSON.stringify(clamp));
  }
  return said === undefined && seen.size === 1 ? undefined : measured;
}

/** The one clamp that fits an estimator asked for by name; undefined where none does, or several do. */
async function clampOf(
  subject: Subject,
  estimator: KlEstimator,
  ways: readonly KlWay[],
): Promise<Clamp | null | undefined> {
  let fitting = ways.filter(({ kl }) => kl.estimator === estimator && !kl.ratioCorrection);
  for (const point of klPoints(0).filter(({ logRatio }) => logRatio === 0)) {
    const found = await misfits(subject, point, fitting, estimator);
    fitting = fitting.filter((_, at) => found[at] === undefined);
  }
  const clamps = fitting.map(({ items }) => klClampOf(items.kl_clamp, estimator));
  return new Set(clamps.map((clamp) => JSON.stringify(clamp))).size === 1 ? clamps[0] : undefined;
}

/** What is said, but for one estimator; as it was where it says so already. */
function withClamp(said: ClampByEstimator, estimator: KlEstimator, clamp: Clamp | null): ClampByEstimator {
  if (JSON.stringify(klClampOf(said, estimator)) === JSON.stringify(clamp)) return said;
  const { [estimator]: _, ...others } = said;
  return clamp === null ? others : { ...others, [estimator]: clamp };
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
