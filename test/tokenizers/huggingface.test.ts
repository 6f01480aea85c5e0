import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyContent, plainContent } from '../../src/generators/text/text.ts';
import { familyStopTokens } from '../../src/tokenizers/load.ts';
import { familyFolders, loaded, tokenizerFolders } from './folders.ts';

const family = (name: string) => loaded(familyFolders[name] ?? '');

describe.each(Object.entries(tokenizerFolders))('%s', (name, folder) => {
  const tokenizer = loaded(folder);
  const normalizes = /qwen/i.test(name);

  it('decodes what it encoded', () => {
    fc.assert(
      fc.property(anyContent(tokenizer), (text) => {
        const wanted = normalizes ? text.normalize('NFC') : text;
        // One space in front of special-token text is what a SentencePiece vocabulary adds to each piece.
        const ids = tokenizer.encode(text);
        if (name === 'mistral' && ids.some((id) => tokenizer.specialIds.has(id))) return;
        expect(tokenizer.decode(ids)).toBe(wanted);
      }),
    );
  });

  it('uses ids below its vocabulary size only, each with a token that leads back to it', () => {
    fc.assert(
      fc.property(plainContent(), (text) => {
        for (const id of tokenizer.encode(text)) {
          expect(id).toBeLessThan(tokenizer.vocabSize);
          expect(tokenizer.tokenId(tokenizer.token(id) ?? '')).toBe(id);
        }
      }),
    );
  });

  it('keeps a leading byte order mark', () => {
    expect(tokenizer.decode(tokenizer.encode('\ufeffx'))).toBe('\ufeffx');
  });

  it('decodes nothing to nothing, and skips ids outside the vocabulary', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([tokenizer.vocabSize, -1])).toBe('');
    expect(tokenizer.token(tokenizer.vocabSize)).toBeUndefined();
    expect(tokenizer.token(-1)).toBeUndefined();
    expect(tokenizer.tokenId('no such token')).toBeUndefined();
  });

  it('reads a special token in text as that token', () => {
    for (const id of tokenizer.specialIds) {
      const token = tokenizer.token(id) ?? '';
      expect(tokenizer.encode(`a${token}b`)).toContain(id);
    }
  });

  it('has a chat template and an end-of-text token', () => {
    expect(tokenizer.chatTemplate).toBeTruthy();
    expect(tokenizer.eosTokenId).toBeDefined();
  });
});

describe('the families', () => {
  it('know their stop tokens', () => {
    for (const name of Object.keys(familyFolders))
      for (const token of familyStopTokens[name] ?? ['']) expect(family(name).tokenId(token)).toBeDefined();
  });

  it.each([
    ['llama3', true],
    ['qwen', false],
    ['gemma', true],
    ['mistral', true],
    ['deepseek', false],
    ['phi', false],
  ])('%s adds BOS when asked for special tokens: %s', (name, adds) => {
    const tokenizer = family(name);
    const plain = tokenizer.encode('Hello');
    const begun = tokenizer.encode('Hello', { addSpecialTokens: true });
    expect(begun).toEqual(adds ? [tokenizer.bosTokenId, ...plain] : plain);
  });

  it('arrange padding as their models do', () => {
    expect(family('deepseek').padTokenId).toBe(family('deepseek').eosTokenId);
    expect(family('phi').padTokenId).toBe(family('phi').bosTokenId);
    expect(family('mistral').padTokenId).toBeUndefined();
    expect(family('gemma').padTokenId).toBe(0);
    expect(family('llama3').padTokenId).not.toBe(family('llama3').eosTokenId);
  });

  it('keep the spaces that a clean-up would take', () => {
    const text = "I do n't know . Yes , 's";
    expect(family('llama3').decode(family('llama3').encode(text))).toBe(text);
  });

  it('cut digits in ones or in threes, by family', () => {
    const count = (name: string) => family(name).encode('98765432').length;
    expect(count('qwen')).toBe(8);
    expect(count('llama3')).toBeGreaterThanOrEqual(3);
    expect(count('llama3')).toBeLessThanOrEqual(8);
  });

  it('take the longest run of newlines in Gemma, and single ones at its end', () => {
    const gemma = family('gemma');
    expect(gemma.encode('\n\n')).toEqual([gemma.tokenId('\n\n')]);
    expect(gemma.encode('\n\n\n\n\n')).toEqual([gemma.tokenId('\n\n\n\n'), gemma.tokenId('\n')]);
  });

  it('turn half a character into one replacement a byte where vocabularies fall back to bytes', () => {
    const gemma = family('gemma');
    const bytes = ['<0xF0>', '<0x9F>'].map((token) => gemma.tokenId(token) ?? -1);
    expect(gemma.decode(bytes)).toBe('\ufffd\ufffd');
  });
});
