// The small tokenizers that ship with the package, one in the shape of each model family. They are our own
// (scripts/tokenizers/train.py): real BPE, real special-token arrangements, templates written by hand.
import { fileURLToPath } from 'node:url';

export const families: readonly string[] = ['llama3', 'qwen', 'gemma', 'mistral', 'deepseek', 'phi'];

/**
 * The folder of a family's tokenizer.json. After compilation this file lies in dist/src/tokenizers while the
 * data stays in src/tokenizers, so the way leads over the package's root.
 */
export function familyFolder(name: string): string {
  const root = import.meta.url.includes('/dist/src/tokenizers/') ? '../../../' : '../../';
  return fileURLToPath(new URL(`${root}src/tokenizers/families/${name}`, import.meta.url));
}

/** Every token that ends a turn or the text, by name: the stop ids of a family's generation configuration. */
export const familyStopTokens: Readonly<Record<string, readonly string[]>> = {
  llama3: ['<|end_of_text|>', '<|eom_id|>', '<|eot_id|>'],
  qwen: ['<|im_end|>', '<|endoftext|>'],
  gemma: ['<eos>', '<end_of_turn>'],
  mistral: ['</s>'],
  deepseek: ['<｜end▁of▁sentence｜>'],
  phi: ['<|end|>', '<|endoftext|>'],
};
