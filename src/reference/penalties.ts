// Sampling penalties on the logits of one next token. Presence and frequency look at what was generated only;
// repetition looks at the prompt as well, by definition. The ids are given: padding is nobody's token here.
import type { Ids } from '../vocabulary.ts';

/**
 * Penalised logits (V,). First repetition, once a distinct token of prompt or generation: z > 0 becomes
 * z / repetition, other z become z * repetition (Keskar et al. 2019, CTRL, section 4.1, in the sign-aware form of
 * transformers and vLLM). Then z_v -= frequency * n_v + presence * [n_v > 0], with n_v the count of v in the
 * generation (the OpenAI API's definition). Neutral values 0, 0 and 1 change no bit. Ids outside the vocabulary
 * are passed over.
 */
export function penalize(
  logits: readonly number[],
  options: {
    readonly prompt: Ids;
    readonly generated: Ids;
    readonly presence: number;
    readonly frequency: number;
    readonly repetition: number;
  },
): number[] {
  const seen = new Set([...options.prompt, ...options.generated]);
  const counts = new Map<number, number>();
  for (const id of options.generated) counts.set(id, (counts.get(id) ?? 0) + 1);
  return logits.map((z, id) => {
    const scaled = !seen.has(id) ? z : z > 0 ? z / options.repetition : z * options.repetition;
    const count = counts.get(id);
    return count === undefined ? scaled : scaled - options.frequency * count - options.presence;
  });
}
