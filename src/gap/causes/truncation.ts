// Top-p, top-k or min-p in the engine's log-probabilities only: it divides by the mass that it kept, so every token is
// likelier there than in the trainer, by the same factor or, where the cut depends on the rest, by less when it is likely.
import type { Cause } from '../cause.ts';
import { gapAt, type Tokens } from '../tokens.ts';
import {
  bestOf,
  factors,
  median,
  pairs,
  probability,
  rounded,
  samplingAt,
  sumLeft,
  thinned,
  trainerAt,
} from './curves.ts';

export const truncation: Cause = {
  id: 'truncation',
  fitTo(tokens, { places }) {
    const few = thinned(places);
    const left =
      (cut: number, form: Form) =>
      (at: number): number =>
        FORMS[form](trainerAt(tokens, at), cut) - samplingAt(tokens, at);
    const best = bestOf(pairs(factors(LEAST_CUT, MOST_CUT, STEPS), FORM_NAMES), ([cut, form]) =>
      sumLeft(few, left(cut, form)),
    );
    if (best === undefined) return undefined;
    const [cut, form] = best.value;
    const likelier = places.filter((at) => gapAt(tokens, at) < -CLEAR).length;
    const unlikelier = places.filter((at) => gapAt(tokens, at) > CLEAR).length;
    if (unlikelier > MOST_UNLIKELIER * likelier) return undefined;
    if (!(correlation(tokens, places) > LEAST_CORRELATION)) return undefined;
    const gone = Float64Array.from(
      places.filter((at) => trainerAt(tokens, at) < UNSURE),
      (at) => gapAt(tokens, at),
    );
    const kept = Math.exp(median(gone));
    return {
      parameters: { kept },
      left: left(cut, form),
      isPartial: true,
      sentence: `The engine's log-probabilities are renormalised over the tokens that its sampler kept (top-p, top-k or min-p): nearly every token is likelier there, by as much as if ${rounded(100 * kept)} % of the mass had been kept. The trainer takes the whole vocabulary.`,
      experiment:
        'sample 50 completions with top_p=1, top_k=-1 and min_p=0: the gap goes; or mask the same tokens in the trainer',
    };
  },
};

/** Of the two sides. */
function correlation(tokens: Tokens, places: Uint32Array): number {
  let [one, other] = [0, 0];
  for (const at of places) {
    one += samplingAt(tokens, at) / places.length;
    other += trainerAt(tokens, at) / places.length;
  }
  let [both, ones, others] = [0, 0, 0];
  for (const at of places) {
    const [x, y] = [samplingAt(tokens, at) - one, trainerAt(tokens, at) - other];
    both += x * y;
    ones += x * x;
    others += y * y;
  }
  return both / Math.sqrt(ones * others);
}

type Form = 'even' | 'by-rest' | 'by-surprise';
const FORM_NAMES: readonly Form[] = ['even', 'by-rest', 'by-surprise'];

const FORMS: Readonly<Record<Form, (logprob: number, cut: number) => number>> = {
  even: (logprob, cut) => Math.min(0, logprob + cut),
  'by-rest': (logprob, cut) => Math.min(0, logprob + cut * (1 - probability(logprob))),
  // Of top-k, more is cut where the token was a surprise.
  'by-surprise': (logprob, cut) => logprob * (1 - cut),
};

/** Nats: 0.1 % to half of the mass is cut. */
const LEAST_CUT = 0.001;
const MOST_CUT = 0.7;
const STEPS = 60;
/** Where the sampler had a choice. */
const UNSURE = Math.log(0.5);
/** Nats: a gap that bf16 rounding hardly gives. */
const CLEAR = 0.1;
/** What a sampler keeps has its order: 0.6 with top-k 5 in a model that is hardly sure of anything, and 0 beside other weights. */
const LEAST_CORRELATION = 0.5;
/** Of those that are likelier: a kept token is never less likely for the cut, except by noise. */
const MOST_UNLIKELIER = 0.05;
