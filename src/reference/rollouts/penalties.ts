// Sampling penalties on the logits of one next token. Presence and frequency look at what was generated only;
// repetition looks at the prompt as well, by definition. The ids are given: padding is nobody's token here.
import type { Ids } from '../../vocabulary.ts';

/**
 * Penalised logits (V,). Repetition, once a distinct token of prompt or generation: z > 0 becomes
 * z / repetition, other z become z * repetition (Keskar et al. 2019, CTRL, section 4.1, in the sign-aware form of
 * transformers and vLLM), and z_v -= frequency * n_v + presence * [n_v > 0], with n_v the count of v in the
 * generation (the OpenAI API's definition), after it or, with `repetitionLast`, before it. Neutral values 0, 0 and 1 change no bit. Ids outside the vocabulary
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
    readonly repetitionLast?: boolean;
  },
): number[] {
  const seen = new Set([...options.prompt, ...options.generated]);
  const counts = new Map<number, number>();
  for (const id of options.generated) counts.set(id, (counts.get(id) ?? 0) + 1);
  return logits.map((z, id) => {
    const scaled = (x: number): number =>
      !seen.has(id) ? x : x > 0 ? x / options.repetition : x * options.repetition;
    const count = counts.get(id);
    const lowered = (x: number): number =>
      count === undefined ? x : x - options.frequency * count - options.presence;
    return options.repetitionLast ? scaled(lowered(z)) : lowered(scaled(z));
  });
}
