// Which ids play which part: padding, stop tokens, ordinary tokens. Where the trainer is fixed to a vocabulary,
// its own; otherwise every arrangement that has hidden a bug before (pad equal to a stop, a special id of 0,
// several stops, BOS that is one of them).
import fc from 'fast-check';
import type { Ids, Tokens } from '../vocabulary.ts';

export interface Specials {
  readonly pad: number;
  readonly stops: Ids;
  /** Where BOS is a stop token as well, as GPT-2 has it. Elsewhere it is an id like any other, or there is none. */
  readonly bos?: number;
  /** Ordinary ids, in the order in which small symbols name them. */
  readonly plain: Ids;
}

/** Ids of the vocabulary that the harness makes up: small enough to read, large enough that ids seldom repeat. */
const MADE_UP_VOCABULARY = 32;
/** Ordinary ids used of a real vocabulary: more would only make cases harder to read. */
const PLAIN_IDS = 48;

const ARRANGEMENTS: readonly (Omit<Specials, 'plain'> & { readonly vocabulary?: number })[] = [
  { pad: 0, stops: [2] },
  { pad: 2, stops: [2] },
  { pad: 1, stops: [0] },
  { pad: 0, stops: [0], bos: 0 },
  { pad: 0, stops: [2, 3], bos: 2 },
  { pad: 3, stops: [2, 3] },
  { pad: 2, stops: [2, 3] },
  { pad: 31, stops: [30, 0, 31] },
  // Qwen's: more than an integer of 16 bits holds.
  { pad: 151_643, stops: [151_645, 151_643], vocabulary: 151_936 },
];

/** Arbitrary specials; constant where `tokens` fixes them. `unusable` ids are never ordinary; of `oneStop` there is one. */
export function specials(
  tokens: Tokens | undefined,
  {
    unusable = new Set(),
    oneStop = false,
  }: { readonly unusable?: ReadonlySet<number>; readonly oneStop?: boolean } = {},
): fc.Arbitrary<Specials> {
  if (tokens !== undefined) {
    const { pad_token_id: pad, eos_token_ids: all, bos_token_id: bos } = tokens;
    const stops = oneStop ? all.slice(0, 1) : all;
    return fc.constant({
      pad,
      stops,
      ...(bos !== undefined && stops.includes(bos) ? { bos } : {}),
      plain: ordinaryIds(tokens, unusable),
    });
  }
  return fc
    .constantFrom(...ARRANGEMENTS.filter(({ stops }) => !oneStop || stops.length === 1))
    .map(({ vocabulary = MADE_UP_VOCABULARY, ...kept }) => ({
      ...kept,
      plain: spread(vocabulary, new Set([1, kept.pad, ...kept.stops])),
    }));
}

/** The prompt as a tokenizer leaves it. */
export const begun = ({ bos }: Specials, prompt: Ids): Ids => (bos === undefined ? prompt : [bos, ...prompt]);

/** Ids of a vocabulary that are neither special nor in `unusable`, at most PLAIN_IDS, evenly spread. */
export function ordinaryIds(tokens: Tokens, unusable: ReadonlySet<number> = new Set()): Ids {
  const { pad_token_id: pad, eos_token_ids: stops, bos_token_id: bos } = tokens;
  return spread(
    tokens.vocab_size,
    new Set([pad, ...stops, ...unusable, ...(bos === undefined ? [] : [bos])]),
  );
}

/** Without a list of the vocabulary: it may have millions of ids. */
function spread(vocabulary: number, taken: ReadonlySet<number>): number[] {
  const within = [...taken].filter((id) => id >= 0 && id < vocabulary).sort((a, b) => a - b);
  const free = vocabulary - within.length;
  const step = Math.max(1, Math.floor(free / PLAIN_IDS));
  const places = Array.from({ length: Math.min(PLAIN_IDS, Math.ceil(free / step)) }, (_, at) => at * step);
  return places.map((place) => within.reduce((id, special) => (special <= id ? id + 1 : id), place));
}
