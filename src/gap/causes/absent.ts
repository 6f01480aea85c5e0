// Tokens that one side has no value for: exactly 0 there, as masks and padding are filled with.
import type { Cause } from '../cause.ts';
import { gapAt } from '../tokens.ts';
import { samplingAt, trainerAt } from './curves.ts';

export const absent: Cause = {
  id: 'absent',
  fitTo(tokens, { places }) {
    const inTrainer = (at: number): boolean =>
      trainerAt(tokens, at) === 0 && samplingAt(tokens, at) < CERTAIN;
    const inEngine = (at: number): boolean => samplingAt(tokens, at) === 0 && trainerAt(tokens, at) < CERTAIN;
    const trainer = places.filter(inTrainer);
    const engine = places.filter(inEngine);
    const found = trainer.length >= engine.length ? trainer : engine;
    if (found.length < LEAST_TOKENS) return undefined;
    const other = found === trainer ? samplingAt : trainerAt;
    if (found.filter((at) => other(tokens, at) < UNLIKELY).length < LEAST_UNLIKELY * found.length)
      return undefined;
    const isAbsent = found === trainer ? inTrainer : inEngine;
    const side = found === trainer ? "trainer's" : "engine's";
    const last = found.filter((at) => tokens.after[at] === 0).length / found.length;
    const which =
      last > MOSTLY ? 'the last token of completions (the stop token is cut off or masked)' : 'some tokens';
    return {
      parameters: { tokens: found.length / places.length },
      left: (at) => (isAbsent(at) ? 0 : gapAt(tokens, at)),
      sentence: `The ${side} log-probability is exactly 0 for ${which}, where the other side has a value: a mask or padding was filled in.`,
      experiment: 'write the mask beside the log-probabilities (response_mask), and look at one such row',
    };
  },
};

/** The other side is no rounding away from 0: bf16 has nothing between 0 and -0.004 below a probability of 1. */
const CERTAIN = -0.05;
const LEAST_TOKENS = 5;
/** Masks take tokens of any probability. Top-p gives exactly 0, too, and only where a token had most of the mass. */
const UNLIKELY = -1;
const LEAST_UNLIKELY = 0.15;
const MOSTLY = 0.9;
