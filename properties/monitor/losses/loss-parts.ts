// Which of several losses a series is of, and which samples are counted for it.
import type { Series } from '../../../src/index.ts';

export const LOSSES = ['loss', 'policy_loss', 'value_loss', 'sft_loss'] as const;

/** `llm_sft` has two. */
export const wordsOf = ({ part }: Series): readonly string[] => part.split(/[_ /-]/);

/** Parts are matched by their words: `num_sft_samples` is of `llm_sft_loss`. */
export function ofSamePart(counted: Series, loss: Series): boolean {
  const own = wordsOf(loss);
  return counted.part !== '' && wordsOf(counted).every((word) => own.includes(word));
}
