// A tokenizer folder becomes a Tokenizer, or one sentence that says what is wrong with it. Synchronous, and never
// over the network.
import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { onOneLine } from '../outside/text.ts';
import { families, familyFolder } from './families.ts';
import { readTokenizerFiles, type TokenizerFiles } from './files.ts';
import { guarded } from './guarded.ts';
import { huggingfaceTokenizer } from './huggingface.ts';
import { recent } from './recent.ts';
import { checkTemplate } from './render.ts';
import type { Tokenizer } from './tokenizer.ts';
import { xenovaTokenizer } from './xenova.ts';

export { families, familyFolder, familyStopTokens } from './families.ts';

export interface LoadOptions {
  /** Default: huggingface. xenova needs @xenova/transformers installed beside lossproof. */
  readonly backend?: 'huggingface' | 'xenova';
}

export type Loaded = { readonly tokenizer: Tokenizer } | { readonly problem: string };

/** `folder` is what save_pretrained wrote: tokenizer.json, and beside it configuration and chat template. */
export function loadTokenizer(folder: string, options: LoadOptions = {}): Loaded {
  const files = readTokenizerFiles(folder);
  if ('problem' in files) return files;
  if (files.chatTemplate !== undefined) {
    const { problem } = checkTemplate(files.chatTemplate);
    if (problem !== undefined) return { problem: `The chat template of ${basename(folder)}: ${problem}` };
  }
  const backend = options.backend ?? 'huggingface';
  const open = (): Tokenizer => (backend === 'xenova' ? xenovaTokenizer(files) : huggingfaceTokenizer(files));
  try {
    const loaded: Loaded = isOwn(folder)
      ? { tokenizer: open() }
      : guarded(folder, statSync(join(folder, 'tokenizer.json')).size, open);
    return 'problem' in loaded ? loaded : { tokenizer: remembering(loaded.tokenizer) };
  } catch (error) {
    return { problem: problemOfBackend(files, backend, error) };
  }
}

// --- helpers ---

/** Texts of a few tokens or turns, as cases have them: each is encoded once for all properties that it is a case of. */
const MOST_ENCODED = 8_192;
const LONGEST_ENCODED = 2_048;

function remembering(tokenizer: Tokenizer): Tokenizer {
  const encoded = recent<readonly number[]>(MOST_ENCODED);
  return {
    ...tokenizer,
    encode(text, options) {
      if (text.length > LONGEST_ENCODED) return tokenizer.encode(text, options);
      const key = `${options?.addSpecialTokens === true ? '+' : '-'}${text}`;
      const known = encoded.get(key);
      if (known !== undefined) return [...known];
      const ids = tokenizer.encode(text, options);
      encoded.set(key, ids);
      return [...ids];
    },
  };
}

/** It ships with this package: nobody else has written it. */
function isOwn(folder: string): boolean {
  return families.some((name) => familyFolder(name) === resolve(folder));
}

/** Of what a backend says, which names types that it does not know. */
const SHOWN_REASON = 200;

function problemOfBackend(files: TokenizerFiles, backend: string, error: unknown): string {
  const reason = onOneLine(error instanceof Error ? error.message : String(error), SHOWN_REASON);
  if (/Cannot find (module|package) '@xenova/.test(reason))
    return "The backend xenova needs a package that is not installed; 'npm install @xenova/transformers' adds it.";
  const other = backend === 'xenova' ? 'the default backend' : "the backend 'xenova'";
  const component = /Unknown (\w+) type: "?([\w]+)/i.exec(reason);
  const what =
    component === null
      ? `cannot be read by the backend ${backend} (${reason})`
      : `uses the ${component[1]} ${component[2]}, which the backend ${backend} does not have`;
  return `The tokenizer.json of ${files.folder} ${what}; try ${other}, or leave the tokenizer out and let the trainer's own ids stand.`;
}
