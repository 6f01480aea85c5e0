// The default backend: @huggingface/tokenizers, which is exact on byte-level and byte-fallback vocabularies.
// Known differences from the Rust library: characters newer than its Unicode tables under NFC (Qwen).
import { basename } from 'node:path';
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { repairByteFallback } from './byte-fallback.ts';
import { rememberByteLevel } from './byte-level.ts';
import { namelessIn, type TokenizerFiles } from './files.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Throws what the library throws for a component that it does not have. */
export function huggingfaceTokenizer(files: TokenizerFiles): Tokenizer {
  const library = new Library(files.tokenizer, files.config);
  repairByteFallback(library.decoder);
  const added = library.get_added_tokens_decoder();
  rememberByteLevel(library.pre_tokenizer);
  const idOf = (token: string | undefined): number | undefined =>
    token === undefined ? undefined : library.token_to_id(token);
  return {
    name: basename(files.folder),
    backend: 'huggingface',
    // By id, holes included; get_vocab() would copy a hundred thousand tokens for it.
    vocabSize: library.model?.vocab.length ?? 0,
    encode(text, options) {
      const { ids } = library.encode(text, { add_special_tokens: options?.addSpecialTokens ?? false });
      if (ids.includes(undefined as never))
        throw new Error('a piece of it is no token, and the vocabulary has no unk_token for such');
      return ids;
    },
    decode: (ids) => {
      // Ids outside the vocabulary are skipped, as in Python; the library would print its unknown token.
      const known = ids.filter((id) => library.id_to_token(id) !== undefined);
      return known.length === 0 ? '' : library.decode(known, { clean_up_tokenization_spaces: false });
    },
    token: (id) => library.id_to_token(id),
    tokenId: (token) => library.token_to_id(token),
    specialIds: new Set([...added].filter(([, token]) => token.special).map(([id]) => id)),
    bosTokenId: idOf(files.bosToken),
    eosTokenId: idOf(files.eosToken),
    padTokenId: idOf(files.padToken),
    unkTokenId: idOf(files.unkToken),
    nameless: namelessIn(files, idOf),
    chatTemplate: files.chatTemplate,
  };
}
