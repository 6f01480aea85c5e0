// What a tokenizer's folder holds, by fingerprint: the same for the same content, however the files were written (line ends,
// order of keys, white space).
import { readTokenizerFiles } from '../tokenizers/files.ts';
import { type Fields, fingerprintOf, sorted } from './entry.ts';

/** Fingerprints of tokenizer.json and of the chat template; undefined where the folder cannot be read. */
export function tokenizerPrint(folder: string): Fields | undefined {
  const files = readTokenizerFiles(folder);
  if ('problem' in files) return undefined;
  const { tokenizer, chatTemplate, bosToken, eosToken, padToken } = files;
  return {
    'tokenizer.json': fingerprintOf(JSON.stringify(sorted(tokenizer))),
    chat_template: chatTemplate === undefined ? 'none' : fingerprintOf(chatTemplate),
    special_tokens: [bosToken, eosToken, padToken].map((token) => token ?? null),
  };
}
