// One side is the other times a number: another base of the logarithm, or a temperature that divides log-probabilities
// in the place of logits.
import type { Cause } from '../cause.ts';
import { gapAt } from '../tokens.ts';
import { median, rounded, samplingAt, sumLeft, trainerAt } from './curves.ts';

export const scale: Cause = {
  id: 'scale',
  fitTo(tokens, { places }) {
    // Likely tokens are near 0 on both sides.
    const far = places.filter((at) => samplingAt(tokens, at) < FAR && trainerAt(tokens, at) < 0);
    if (far.length < LEAST_TOKENS) return undefined;
    const ratios = Float64Array.from(far, (at) => trainerAt(tokens, at) / samplingAt(tokens, at));
    const ratio = median(ratios);
    if (median(ratios.map((each) => Math.abs(each / ratio - 1))) > MOST_SPREAD) return undefined;
    const left = (at: number): number => trainerAt(tokens, at) / ratio - samplingAt(tokens, at);
    if (Math.abs(Math.log(ratio)) < LEAST_LOG) return undefined;
    if (sumLeft(places, left) > MOST_LEFT * sumLeft(places, (at) => gapAt(tokens, at))) return undefined;
    const base = BASES.find(({ value }) => Math.abs(Math.log(ratio / value)) < NEAR);
    return {
      parameters: { ratio },
      left,
      sentence: `The trainer's log-probabilities are ${rounded(ratio)} times the engine's, whatever the token: ${base?.what ?? 'one side divides log-probabilities by a temperature, after the softmax instead of before it'}.`,
      experiment:
        'exponentiate the log-probabilities of one whole distribution on each side: those that do not add up to 1 are wrong',
    };
  },
};

const FAR = -0.1;
const LEAST_TOKENS = 50;
const LEAST_LOG = Math.log(1.02);
/** The same number for every token leaves rounding only; curves that look like it leave more. */
const MOST_LEFT = 0.3;
/** Half of the tokens are nearer to it, relative. */
const MOST_SPREAD = 0.1;
const NEAR = 0.01;
const BASES = [
  { value: Math.LOG2E, what: 'the trainer has them to base 2' },
  { value: Math.LN2, what: 'the engine has them to base 2' },
  { value: Math.LOG10E, what: 'the trainer has them to base 10' },
  { value: Math.LN10, what: 'the engine has them to base 10' },
];
