// How exact numbers are that were read off a gradient, by the dtype of that gradient. Bands are for comparing with what a
// trainer declares, and wide enough that rounding alone never leaves them.
import type { Trained } from './ledger.ts';

export interface Bands {
  /** Relative, of a weight. */
  readonly weight: number;
  /** Of a residual: above it something else than log-probabilities of single targets was in the loss. */
  readonly residual: number;
  /** Relative, of a scoring temperature. */
  readonly temperature: number;
  /** Absolute, of a log-probability. */
  readonly logprob: number;
}

/**
 * The bands of one token. A token that the model is sure of has a gradient of size c (1 - p), the difference of numbers
 * of size c: what rounding did to these weighs 1 / (1 - p) times as much.
 */
export function bandsAt(trained: Pick<Trained, 'logprob'>, dtype: string): Bands {
  const bands = bandsOf(dtype);
  const { logprob } = trained;
  if (logprob === undefined) return bands;
  const worse = 1 / Math.max(-Math.expm1(Math.min(logprob, 0)), LEAST_UNSURE);
  return {
    weight: bands.weight * worse,
    residual: bands.residual * worse,
    temperature: bands.temperature * worse,
    logprob: bands.logprob,
  };
}

/** Of a dtype as torch spells it, without "torch."; one that is not known is taken for the coarsest. */
export function bandsOf(dtype: string): Bands {
  return BANDS[dtype] ?? COARSEST;
}

/** A target explains the gradient, and nothing else is in it. Undefined: it was not measured. */
export function explains(trained: Trained, dtype: string): boolean | undefined {
  if (trained.residual === undefined) return undefined;
  return trained.residual <= bandsAt(trained, dtype).residual;
}

// --- helpers ---

/** bfloat16 keeps 8 bits: a sum of rounded products is off by a few units of 2**-8. */
const COARSEST: Bands = { weight: 0.05, residual: 0.08, temperature: 0.15, logprob: 0.1 };

const BANDS: Readonly<Record<string, Bands>> = {
  /** A loss that is computed in float32 over logits of float64, as libraries do, leaves 1e-8 of both. */
  float64: { weight: 1e-6, residual: 1e-6, temperature: 1e-4, logprob: 1e-6 },
  /** 2**-23: residuals of 1e-7 are usual, of 1e-5 seen where the head's input is long; the weight is the better known. */
  float32: { weight: 1e-5, residual: 1e-4, temperature: 1e-3, logprob: 1e-4 },
  /** 2**-10, and gradients that fall out of its range unless they are scaled. */
  float16: { weight: 0.01, residual: 0.02, temperature: 0.03, logprob: 0.02 },
  bfloat16: COARSEST,
};

/** Beyond this certainty nothing can be read off at all, and the bands need not grow any more. */
const LEAST_UNSURE = 1e-6;
