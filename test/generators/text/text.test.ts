import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyContent,
  plainContent,
  reasoned,
  specialText,
  textLabels,
} from '../../../src/generators/text/text.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';

const SEED = 20260103;
const sample = (text: fc.Arbitrary<string>): string[] => fc.sample(text, { seed: SEED, numRuns: 2000 });

describe('generated contents', () => {
  it('exercise every label often enough', () => {
    const seen = new Map<string, number>();
    const texts = sample(anyContent());
    for (const text of texts)
      for (const label of textLabels(text)) seen.set(label, (seen.get(label) ?? 0) + 1);
    expect([...seen.keys()].sort()).toEqual([
      'carriage return',
      'combining marks',
      'digits',
      'edge white space',
      'emoji',
      'empty content',
      'empty line',
      'empty or nested thought',
      'half a thought',
      'indented code',
      'newline inside',
      'other scripts',
      'reasoning',
      'special token text',
      'template code',
    ]);
    // Two in a hundred of each: a run of 100 cases meets it.
    for (const [label, count] of seen) expect(count / texts.length, label).toBeGreaterThan(0.02);
  });

  it('are well-formed and free of characters on which libraries disagree', () => {
    for (const text of sample(anyContent())) {
      expect(text).toBe(Buffer.from(text, 'utf8').toString('utf8'));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters meant.
      expect(text).not.toMatch(/[\u001c-\u001f\u0085\ufeff]/);
    }
  });

  it('have thoughts that are whole, halves, tags alone, empty and nested', () => {
    const thoughts = new Set(sample(reasoned()).map((text) => text.match(/<\/?think>/g)?.join('') ?? ''));
    expect([...thoughts].sort()).toEqual([
      '</think>',
      '<think>',
      '<think></think>',
      '<think><think></think></think>',
    ]);
    expect(sample(reasoned())).toEqual(expect.arrayContaining(['<think>', '</think>']));
  });

  it('spell no special token of the families unless asked for', () => {
    const specials = Object.values(familyFolders).flatMap((folder) => {
      const tokenizer = loaded(folder);
      return [...tokenizer.specialIds].map((id) => tokenizer.token(id) ?? '');
    });
    for (const text of sample(plainContent()))
      expect(specials.filter((special) => text.includes(special))).toEqual([]);
  });

  it('spell the special tokens of a given tokenizer', () => {
    const tokenizer = loaded(familyFolders.gemma ?? '');
    for (const text of sample(specialText(tokenizer)))
      expect(tokenizer.encode(text).some((id) => tokenizer.specialIds.has(id))).toBe(true);
  });

  it('shrink to a word', () => {
    const found = fc.check(
      fc.property(anyContent(), (text) => text.length < 3),
      { seed: SEED },
    );
    expect(found.failed).toBe(true);
    expect(found.counterexample?.[0]).toMatch(/^\S+$/);
  });
});
