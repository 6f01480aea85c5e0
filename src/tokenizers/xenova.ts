// The second backend: the tokenizer classes of @xenova/transformers 2.17, for users whose trainer uses that library
// and as a check on the first backend. An optional peer: it is looked up only when asked for, and never downloads.
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { repairByteFallback } from './byte-fallback.ts';
import { type Json, namelessIn, type TokenizerFiles } from './files.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Where its ids differ from the Rust library's, measured; the default backend has none of these. */
export const knownDifferences: readonly string[] = [
  'overlapping added tokens are matched in file order, not longest first (newline runs of Gemma)',
  'U+FEFF counts as white space and U+0085 does not',
  'a leading ▁ is lost under Metaspace with prepend_scheme "first" or "always"',
];

interface Library {
  readonly PreTrainedTokenizer: new (tokenizer: object, config: object) => LibraryTokenizer;
}
interface LibraryTokenizer {
  readonly model: {
    readonly vocab: readonly (string | undefined)[];
    readonly tokens_to_ids: Map<string, number>;
  };
  readonly decoder: unknown;
  readonly added_tokens: readonly { readonly id: number; readonly special: boolean }[];
  encode(text: string, pair: null, options: { add_special_tokens: boolean }): number[];
  decode(ids: readonly number[], options: { clean_up_tokenization_spaces: boolean }): string;
}

/** Throws where the package is missing, or what it throws for a component that it does not have. */
export function xenovaTokenizer(files: TokenizerFiles): Tokenizer {
  const require = createRequire(import.meta.url);
  // The classes lie in one file of the package; its main entry would load image and audio code as well.
  const { PreTrainedTokenizer } = require('@xenova/transformers/src/tokenizers.js') as Library;
  const { env } = require('@xenova/transformers/src/env.js') as { env: { allowRemoteModels: boolean } };
  env.allowRemoteModels = false;
  const library = new PreTrainedTokenizer(withJoinedMerges(files.tokenizer), files.config);
  repairByteFallback(library.decoder);
  const { vocab, tokens_to_ids: ids } = library.model;
  const idOf = (token: string | undefined): number | undefined =>
    token === undefined ? undefined : ids.get(token);
  return {
    name: basename(files.folder),
    backend: 'xenova',
    vocabSize: vocab.length,
    encode: (text, options) =>
      library.encode(text, null, { add_special_tokens: options?.addSpecialTokens ?? false }),
    decode: (row) => {
      const known = row.filter((id) => vocab[id] !== undefined);
      return known.length === 0 ? '' : library.decode(known, { clean_up_tokenization_spaces: false });
    },
    token: (id) => vocab[id],
    tokenId: idOf,
    specialIds: new Set(library.added_tokens.filter((token) => token.special).map((token) => token.id)),
    bosTokenId: idOf(files.bosToken),
    eosTokenId: idOf(files.eosToken),
    padTokenId: idOf(files.padToken),
    unkTokenId: idOf(files.unkToken),
    nameless: namelessIn(files, idOf),
    chatTemplate: files.chatTemplate,
  };
}

// --- helpers ---

/** The library knows merges as "a b" only; newer files write ["a", "b"]. A part never holds a space. */
function withJoinedMerges(tokenizer: Json): Json {
  const model = tokenizer.model as { merges?: readonly unknown[] } | undefined;
  if (!Array.isArray(model?.merges)) return tokenizer;
  const merges = model.merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : merge));
  return { ...tokenizer, model: { ...model, merges } };
}
