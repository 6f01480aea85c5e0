import { describe, expect, it } from 'vitest';
import { tokenText } from '../../src/tokenizers/text.ts';
import { familyFolders, loaded } from './folders.ts';

const tokens = (name: string, text: string): string[] => {
  const tokenizer = loaded(familyFolders[name] ?? '');
  return tokenizer.encode(text).map((id) => tokenText(tokenizer, id));
};

describe('a token is shown', () => {
  it('with its white space visible', () => {
    expect(tokens('llama3', ' the').join('')).toBe('␠the');
    expect(tokens('llama3', '\n\n').join('')).toBe('⏎⏎');
    expect(tokens('llama3', 'a\tb').join('')).toBe('a⇥b');
    expect(tokens('gemma', 'a\n b').join('')).toBe('a⏎␠b');
  });

  it('as bytes where it is a part of a character', () => {
    expect(tokens('phi', '🦭').join('')).toBe('<0xF0><0x9F><0xA6><0xAD>');
    expect(tokens('gemma', '🦭').join('')).toBe('<0xF0><0x9F><0xA6><0xAD>');
  });

  it('as the character where a byte token is one', () => {
    expect(tokens('mistral', '\n').at(-1)).toBe('⏎');
    expect(tokens('mistral', '\u0000').at(-1)).toBe('\\x00');
  });

  it('with control and zero-width characters escaped', () => {
    expect(tokens('llama3', 'a\u0000b').join('')).toBe('a\\x00b');
    expect(tokens('qwen', '\r').join('')).toBe('␍');
    // The joiner is three byte-level tokens or fewer, but never an invisible gap.
    expect(tokens('llama3', 'a\u200db').join('')).toMatch(/^a(\\u\{200d\}|(<0x[0-9A-F]{2}>)+)b$/);
  });

  it('verbatim where it is special', () => {
    expect(tokens('llama3', '<|eot_id|>')).toEqual(['<|eot_id|>']);
    expect(tokens('deepseek', '<｜end▁of▁sentence｜>')).toEqual(['<｜end▁of▁sentence｜>']);
  });

  it('as its id where no vocabulary has it', () => {
    expect(tokenText(undefined, 17)).toBe('17');
    expect(tokenText(loaded(familyFolders.llama3 ?? ''), 1_000_000)).toBe('1000000');
  });
});
