// Temperature on one side only. With p the trainer's probability of the sampled token, the engine has
// p^(1/T) / (p^(1/T) + sum of the others^(1/T)); the others share 1 - p evenly, among as many as are fitted. Where rows
// share a context, as the first tokens of a group do, the others cancel out and T is exact.
import type { Cause } from '../cause.ts';
import type { Tokens } from '../tokens.ts';
import { bestOf, factors, median, probability, rounded, samplingAt, thinned, trainerAt } from './curves.ts';

export const temperature: Cause = {
  id: 'temperature',
  fitTo(tokens, { places }) {
    const few = thinned(places);
    const trainer = Float64Array.from(few, (at) => trainerAt(tokens, at));
    const sampling = Float64Array.from(few, (at) => samplingAt(tokens, at));
    const curve = curveOf(sidesOf(trainer, sampling));
    // Noise bends either side towards the other: a temperature is there only where both directions say the same.
    const back = curveOf(sidesOf(sampling, trainer));
    if (curve === undefined || back === undefined || curve.t > 1 === back.t > 1) return undefined;
    const exact = exactOf(tokens, places);
    const t = exact?.t ?? curve.t;
    if (Math.abs(Math.log(t)) < LEAST_LOG) return undefined;
    return {
      parameters: { temperature: t, pairs: exact?.pairs ?? 0 },
      left: (at) =>
        heated(trainerAt(tokens, at), restOf(trainerAt(tokens, at)), curve.t, curve.others) -
        samplingAt(tokens, at),
      isPartial: true,
      sentence: `The engine's log-probabilities are those of ${exact === undefined ? 'about ' : ''}${rounded(t)} times the trainer's temperature${exact === undefined ? '' : ` (exact: ${exact.pairs} pairs of tokens after the same context)`}: one side divides its logits by the sampling temperature, the other does not.`,
      experiment:
        "sample 50 completions at temperature 1: the gap goes. To keep the temperature, have the engine return processed log-probabilities (vLLM: logprobs_mode='processed_logprobs') and divide the trainer's logits by it",
    };
  },
};

interface Sides {
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** Log of what the others have. */
  readonly left: Float64Array;
}

const sidesOf = (from: Float64Array, to: Float64Array): Sides => ({ from, to, left: from.map(restOf) });
const restOf = (logprob: number): number => Math.log1p(-probability(logprob));

interface Curve {
  readonly t: number;
  readonly others: number;
}

/** The temperature and the number of others that take one side nearest to the other. */
function curveOf(sides: Sides): Curve | undefined {
  const search = (ts: Iterable<number>) =>
    bestOf(
      [...ts].flatMap((t) => OTHERS.map((others): Curve => ({ t, others }))),
      ({ t, others }) => costOf(sides, t, others),
    )?.value;
  const coarse = search(factors(LEAST, 1 / LEAST, COARSE));
  return coarse && search(factors(coarse.t / FINE_RANGE, coarse.t * FINE_RANGE, FINE));
}

function costOf({ from, left, to }: Sides, t: number, others: number): number {
  let sum = 0;
  for (let at = 0; at < from.length; at++)
    sum += Math.abs(heated(from[at] ?? 0, left[at] ?? 0, t, others) - (to[at] ?? 0));
  return sum;
}

/** Log-probability at temperature t, where `others` tokens share what is left; `left` is its logarithm. */
function heated(logprob: number, left: number, t: number, others: number): number {
  const rest = Math.log(others) * (1 - 1 / t) + left / t;
  const own = logprob / t;
  return own - Math.max(own, rest) - Math.log1p(Math.exp(-Math.abs(own - rest)));
}

interface Exact {
  readonly t: number;
  readonly pairs: number;
}

/** Two tokens after one context differ by the difference of their logits, over T. */
function exactOf(tokens: Tokens, places: Uint32Array): Exact | undefined {
  const last = new Map<number, number>();
  const ratios: number[] = [];
  for (const at of places) {
    const context = tokens.context[at] ?? 0;
    const before = last.get(context);
    last.set(context, at);
    if (before === undefined || tokens.id[before] === tokens.id[at]) continue;
    const apart = samplingAt(tokens, at) - samplingAt(tokens, before);
    if (Math.abs(apart) < LEAST_APART) continue;
    ratios.push((trainerAt(tokens, at) - trainerAt(tokens, before)) / apart);
  }
  if (ratios.length < LEAST_PAIRS) return undefined;
  const t = median(ratios);
  const spread = median(ratios.map((ratio) => Math.abs(ratio / t - 1)));
  return spread > MOST_SPREAD ? undefined : { t, pairs: ratios.length };
}

const OTHERS = [1, 2, 4, 8, 16, 32, 64, 256, 1024];
const LEAST = 0.25;
const COARSE = 28;
const FINE_RANGE = 1.05;
const FINE = 7;
/** Nobody sets a temperature nearer to 1. */
const LEAST_LOG = Math.log(1.03);
/** Nats: nearer pairs say more of rounding than of T. */
const LEAST_APART = 0.5;
const LEAST_PAIRS = 10;
/** Half of the pairs are nearer to T than this, relative to it, or they show something else; bf16 rounding moves the nearest pairs by a tenth. */
const MOST_SPREAD = 0.12;
