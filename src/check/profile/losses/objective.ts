// What of the policy's ratio the loss is made of: one a token or one a row, and clipped as an objective (PPO) or as a
// weight on log-probabilities (CISPO). Wherever possible the ratios are such that no clip binds.
import type { TrackRow } from '../../../generators/losses/tracks.ts';
import { bandOf } from '../../numbers.ts';
import { discard } from '../../subject.ts';
import { misfitOf, type Probe, type Variant } from '../probe.ts';
import { type Effect, hasNoRatio, NO_RATIO, oneToken, policyEffect, single, unitFactor } from './policy.ts';

interface ObjectiveWay extends Variant {
  /** Whether a weight of this size, in units of that at ratio 1, is what a ratio far above the range leaves. */
  readonly leaves: (weight: number) => boolean;
}

/** Slopes far above the clip range; where there are none, the loss at two log-probabilities. */
type ObjectiveCase = 'slopes' | 'values';

export const policyObjective: Probe<ObjectiveCase> = {
  id: 'policy_objective',
  items: ['policy_objective'],
  ops: ['loss'],
  lack: ({ semantics }) => (hasNoRatio(semantics) ? NO_RATIO : undefined),
  variants: async (subject) => {
    const clip: ObjectiveWay = {
      name: 'a clipped objective',
      items: { policy_objective: 'clip' },
      leaves: (weight) => weight === 0,
    };
    const cispo: ObjectiveWay = {
      name: 'clipped weights on log-probabilities (CISPO)',
      items: { policy_objective: 'cispo' },
      leaves: (weight) => weight > LEAST_EDGE,
    };
    // A loss that stops gradients must answer its slopes.
    const { weights } = await policyEffect(subject, [oneToken(0, 1)]);
    return weights === undefined ? [clip] : [clip, cispo];
  },
  cases: () => ['values', 'slopes'],
  async fits(subject, given, variants) {
    const band = bandOf(subject);
    const near = await policyEffect(subject, [oneToken(0, 1)]);
    if (given === 'values') {
      // A trainer may report another loss than the one it descends: slopes are better.
      if (near.weights !== undefined) return discard('the slopes tell');
      await unitFactor(subject);
      const deep = await policyEffect(subject, [deeper(oneToken(0, 1))]);
      const pair = {
        where: 'the loss of a token with ratio 1 and advantage 1, at half the log-probability',
        expected: near.loss,
        observed: deep.loss,
      };
      return variants.map(() => misfitOf([pair], band.allowed));
    }
    const far = await policyEffect(subject, [oneToken(Math.log(FAR), 1)]);
    if (far.weights === undefined) return discard('the answer has no loss_weights');
    const weight = -single(far) / (await unitFactor(subject));
    if (Math.abs(weight - FAR) <= band.allowed(FAR))
      return discard('has no effect: the ratio is not clipped');
    const observed = Math.abs(weight) <= band.absolute ? 0 : weight;
    const where = `the weight of a token with ratio ${FAR} and advantage 1`;
    return (variants as readonly ObjectiveWay[]).map(({ leaves }) =>
      leaves(observed) ? undefined : { where, expected: leaves(0) ? 0 : 1 / SOME_CLIP, observed, off: 2 },
    );
  },
};

/** Log-ratios of the tokens of one row. */
type LogRatios = readonly number[];

interface LevelWay extends Variant {
  /** Loss and slopes of a row whose tokens weigh 1 each. */
  readonly expect: (logRatios: LogRatios) => { readonly loss: number; readonly slopes: readonly number[] };
}

export const ratioLevel: Probe<LogRatios> = {
  id: 'ratio_level',
  items: ['ratio_level'],
  ops: ['loss'],
  lack: ({ semantics }) => {
    if (hasNoRatio(semantics)) return NO_RATIO;
    return semantics.policy_objective === 'cispo'
      ? 'a weight that may be clipped on both sides tells neither'
      : undefined;
  },
  variants: async () =>
    [
      {
        name: 'a ratio per token',
        items: { ratio_level: 'token' },
        expect: (logRatios: LogRatios) => {
          const slopes = logRatios.map((logRatio) => -Math.exp(logRatio));
          return { loss: slopes.reduce((sum, slope) => sum + slope, 0), slopes };
        },
      },
      {
        name: 'a ratio a sequence, the geometric mean of its tokens',
        items: { ratio_level: 'sequence' },
        expect: (logRatios: LogRatios) => {
          const mean = logRatios.reduce((sum, logRatio) => sum + logRatio, 0) / logRatios.length;
          // n tokens carry the ratio s, and each moves it by s / n.
          return {
            loss: -logRatios.length * Math.exp(mean),
            slopes: logRatios.map(() => -Math.exp(mean)),
          };
        },
      },
    ] satisfies LevelWay[],
  // A good answer that has become less likely is clipped by nobody.
  cases: () => [
    [-1, -0.125],
    [-0.25, -2, 0],
    [-0.5, -0.5, -2, -1],
  ],
  async fits(subject, logRatios, variants) {
    const row = (ratios: LogRatios): TrackRow => ({
      ...oneToken(0, 1),
      tokens: ratios.flatMap((logRatio) => oneToken(logRatio, 1).tokens),
    });
    // On policy each of the tokens weighs the same, whatever the aggregation is.
    const plain = await policyEffect(subject, [row(logRatios.map(() => 0))]);
    const unit = -plain.loss / logRatios.length;
    if (!(unit > 0)) return discard('tokens with advantage 1 do not make the loss fall');
    const effect = await policyEffect(subject, [row(logRatios)]);
    const band = bandOf(subject, logRatios.length);
    return (variants as readonly LevelWay[]).map(({ expect }) => {
      const { loss, slopes } = expect(logRatios);
      return misfitOf(
        seenSlopes(effect, logRatios.length)?.map((observed, at) => ({
          where: `the gradient of token ${at} of log-ratios ${logRatios.join(', ')}`,
          expected: slopes[at],
          observed: observed / unit,
        })) ?? [
          {
            where: `the loss of log-ratios ${logRatios.join(', ')}`,
            expected: loss,
            observed: effect.loss / unit,
          },
        ],
        band.allowed,
      );
    });
  },
};

function seenSlopes({ weights }: Effect, tokens: number): number[] | undefined {
  return weights?.[0]?.slice(-tokens);
}

/** Further than anyone clips. */
const FAR = 32;
/** A weight that is clipped above is above 1; at 1 there is no ratio in it. */
const LEAST_EDGE = 1.0001;
/** Shown where a clipped weight was expected: 1 / 0.8. */
const SOME_CLIP = 0.8;
const DEEPER = 2;

/** The same token at twice the log-probability. */
function deeper(row: TrackRow): TrackRow {
  return {
    ...row,
    tokens: row.tokens.map(({ logprob, old, ref }) => ({
      logprob: DEEPER * logprob,
      old: DEEPER * old,
      ref: DEEPER * ref,
    })),
  };
}
