// A critic's numbers laid out as a block batch (B, T), as rows with gaps are.
import type { ValueCase } from '../../generators/losses/value-loss.ts';
import type { Matrix, Ragged } from '../../vocabulary.ts';
import { type LaidGaps, layGaps } from './gaps.ts';

export interface LaidValues extends Pick<LaidGaps<never>, 'completion_mask' | 'prompt_width' | 'roles'> {
  readonly values: Matrix;
  readonly old_values: Matrix;
  readonly returns: Matrix;
  readonly micro_batches: Ragged;
}

/** The arguments of `value_loss`; `whole`: one micro-batch, whatever the rows say. */
export function layValues(drawn: ValueCase, options: { readonly whole?: boolean } = {}): LaidValues {
  const { completion_mask, prompt_width, roles, track } = layGaps<'value' | 'old' | 'target'>(drawn);
  const parts = new Map<number, number[]>();
  for (const [at, { part }] of drawn.rows.entries()) parts.set(part, [...(parts.get(part) ?? []), at]);
  return {
    values: track('value'),
    old_values: track('old'),
    returns: track('target'),
    completion_mask,
    prompt_width,
    roles,
    micro_batches: options.whole ? [drawn.rows.map((_, at) => at)] : [...parts.values()],
  };
}
