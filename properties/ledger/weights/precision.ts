// How precise a weight is that was read off a gradient, in words for a finding.
import { bandsOf } from '../../../src/index.ts';

/** "Weights were read off gradients in float32: ..." */
export function precisionOf(dtype: string): string {
  return `Weights were read off gradients in ${dtype}: each is good to ${bandsOf(dtype).weight} of itself, and less exact where the model is sure of the token.`;
}
