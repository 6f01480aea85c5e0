// One log-probability per sampled token, out of the shapes that engines return: a number, SGLang's
// [log-probability, id, text], vLLM's {id: {logprob}}, or an entry of the chat API, {token, logprob}.

export type Numbers = readonly number[];

/** Why a row cannot be compared, without its place. */
export interface Complaint {
  readonly complaint: string;
}

/** The bf16 logits of some trainers give up to this above 0 for a certain token (MaxText pull request 5231). */
const MOST_ROUNDING = 0.125;

/** @param ids of the completion; `prompt`: how many tokens stand before it. */
export function logprobsOf(
  value: unknown,
  { name, ids, prompt }: { readonly name: string; readonly ids: Numbers; readonly prompt: number },
): Float64Array | Complaint {
  const list = listOf(value);
  if (list === undefined) return { complaint: `${name} is no list` };
  // Whole rows: with a place for each token, or for each that has one before it.
  const extra = list.length - ids.length;
  if (extra < 0 || ![0, prompt, prompt - 1].includes(extra))
    return {
      complaint: `${name} has ${list.length} values for ${ids.length} completion tokens${prompt > 0 ? ` after ${prompt} of the prompt` : ''}`,
    };
  const numbers = new Float64Array(ids.length);
  for (const [at, id] of ids.entries()) {
    const number = numberOf(list[at + extra], id);
    const where = `${name} at completion token ${at}`;
    if (number === 'several')
      return {
        complaint: `${where} is a top-k list without the sampled token ${id}; record the log-probability of the sampled token alone`,
      };
    if (number === undefined) return { complaint: `${where} is no number` };
    if (Number.isNaN(number)) return { complaint: `${where} is NaN` };
    if (number === Number.NEGATIVE_INFINITY)
      return { complaint: `${where} is -inf, of a token that was sampled` };
    if (number > MOST_ROUNDING)
      return {
        complaint: `${where} is ${number}; no log-probability is above 0 (are these losses or probabilities?)`,
      };
    numbers[at] = Math.min(0, number);
  }
  return numbers;
}

// --- helpers ---

/** The API nests the list: {token_logprobs: [...]} or {content: [...]}. */
function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { token_logprobs: flat, content } = value as Readonly<Record<string, unknown>>;
  return Array.isArray(flat) ? flat : Array.isArray(content) ? content : undefined;
}

function numberOf(value: unknown, id: number): number | 'several' | undefined {
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) {
    const [first, second] = value;
    if (typeof first !== 'number') return undefined;
    const ofSglang = Number.isInteger(second) && (second as number) >= 0 && value.length <= SGLANG_FIELDS;
    return value.length === 1 || ofSglang ? first : 'several';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = value as Readonly<Record<string, unknown>>;
  if ('logprob' in entries) return numberOf(entries.logprob, id);
  const own = entries[String(id)];
  if (own !== undefined) return numberOf(own, id);
  return Object.keys(entries).length > 0 ? 'several' : undefined;
}

/** Log-probability, id, text. */
const SGLANG_FIELDS = 3;
