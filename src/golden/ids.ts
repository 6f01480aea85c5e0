// The ids of a golden case: those that the trainer is fixed to, or small ones of our own. A case is never drawn.
import type { World } from '../check/property.ts';
import type { Op } from '../protocol/message.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids, Tokens } from '../vocabulary.ts';

export interface CaseIds {
  readonly pad: number;
  readonly stops: Ids;
  /** Ordinary ids by number, `plain(0, 1)`: always the same ones for the same vocabulary, all different below WORDS. */
  readonly plain: (...numbers: readonly number[]) => number[];
  /** The stop token with this number, the last one again where there are fewer. */
  readonly stop: (number: number) => number;
}

/** How special ids stand to each other, for a trainer that leaves them to the harness. */
export interface Arrangement {
  readonly pad: number;
  readonly stops: Ids;
}

export const PAD_OF_ITS_OWN: Arrangement = { pad: 0, stops: [2] };
export const PAD_IS_A_STOP: Arrangement = { pad: 2, stops: [2] };
export const SEVERAL_STOPS: Arrangement = { pad: 0, stops: [2, 3] };
/** An id that is false in many a language. */
export const STOP_IS_ZERO: Arrangement = { pad: 1, stops: [0] };

/** Different ordinary ids that cases may use. */
export const WORDS = 24;
/** The first ordinary id where the harness chooses: above every special one of the arrangements. */
const FIRST_FREE = 5;

export function idsOf({ hello, tokenizer }: World, free: Arrangement = PAD_OF_ITS_OWN): CaseIds {
  const { tokens } = hello;
  if (tokens === undefined) return made(free, (number) => FIRST_FREE + number);
  const words = wordsOf(tokens, tokenizer);
  return made(
    { pad: tokens.pad_token_id, stops: tokens.eos_token_ids },
    (number) => words[number % words.length] ?? 0,
  );
}

/** Rows that end with the very id that they are padded with: what goes by the id of the padding takes their end for it. */
export function endedByPad(ids: CaseIds): CaseIds {
  return { ...ids, stop: () => ids.pad };
}

/** Why the arrangement is none of this trainer's; undefined where it is, or may be chosen. */
export function otherArrangement(
  { hello: { tokens, ops } }: World,
  wanted: 'pad is a stop' | 'pad is no stop' | 'several stops' | 'stop is 0',
  op?: Op,
): string | undefined {
  if (wanted === 'several stops' && op !== undefined && ops[op]?.eos_token_ids === 1)
    return `op \`${op}\` is sent one stop token`;
  if (tokens === undefined) return undefined;
  const { pad_token_id: pad, eos_token_ids: stops } = tokens;
  if (wanted === 'stop is 0')
    return stops.length === 1 && stops[0] === 0
      ? undefined
      : 'the trainer is fixed to other stop tokens than 0 (hello.tokens)';
  if (wanted === 'several stops')
    return stops.length > 1 ? undefined : 'the trainer is fixed to one stop token (hello.tokens)';
  if (wanted === 'pad is a stop')
    return stops.includes(pad)
      ? undefined
      : 'the trainer is fixed to a padding token of its own (hello.tokens)';
  return stops.includes(pad) ? 'the trainer is fixed to padding with a stop token (hello.tokens)' : undefined;
}

// --- helpers ---

function made({ pad, stops }: Arrangement, word: (number: number) => number): CaseIds {
  return {
    pad,
    stops,
    plain: (...numbers) => numbers.map(word),
    stop: (number) => stops[Math.min(number, stops.length - 1)] ?? pad,
  };
}

/** Where the text of ids is known, those of English words: a strip of them can be read. */
function wordsOf(tokens: Tokens, tokenizer: Tokenizer | undefined): Ids {
  const { pad_token_id: pad, eos_token_ids: stops, bos_token_id: bos } = tokens;
  const special = new Set([pad, ...stops, ...(bos === undefined ? [] : [bos])]);
  const free = Array.from({ length: tokens.vocab_size }, (_, id) => id).filter(
    (id) => !special.has(id) && tokenizer?.specialIds.has(id) !== true,
  );
  const read =
    tokenizer === undefined ? [] : free.slice(0, MOST_LOOKED_AT).filter((id) => isWord(tokenizer, id));
  const chosen = read.length >= WORDS ? read : free;
  const step = Math.max(1, Math.floor(chosen.length / WORDS));
  return chosen.filter((_, at) => at % step === 0).slice(0, WORDS);
}

/** A vocabulary has its most usual words first; of 150,000 ids the rest need not be decoded. */
const MOST_LOOKED_AT = 4_000;

function isWord(tokenizer: Tokenizer, id: number): boolean {
  return /^ [a-z]{2,8}$/.test(tokenizer.decode([id]));
}
