// What a training step must report for the segments it was handed. It says which losses must have run and on how
// many tokens, not what the losses are.
import type { Ids } from '../../vocabulary.ts';

export interface ExpectedTraining {
  /** Times each enabled loss's branch must have run, at least: 1 where there is a segment, else 0. */
  readonly executed: Record<string, number>;
  /** Tokens that each enabled loss trains on, exactly. */
  readonly trainedTokens: Record<string, number>;
}

/**
 * Every enabled loss runs and trains on every completion token of every segment. Losses that are not enabled
 * have no entry: they must not run (bug ZL-01, where the branch was passed over and 0 was logged).
 */
export function expectedTraining(
  segments: readonly { readonly completion_ids: Ids }[],
  enabled: readonly string[],
): ExpectedTraining {
  const tokens = segments.reduce((sum, segment) => sum + segment.completion_ids.length, 0);
  const runs = segments.length > 0 ? 1 : 0;
  return {
    executed: Object.fromEntries(enabled.map((loss) => [loss, runs])),
    trainedTokens: Object.fromEntries(enabled.map((loss) => [loss, tokens])),
  };
}
