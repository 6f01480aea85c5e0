import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyContent } from '../../src/generators/text/text.ts';
import { knownDifferences } from '../../src/tokenizers/xenova.ts';
import { familyFolders, loaded, tokenizerFolders } from './folders.ts';

describe.each(Object.entries(tokenizerFolders))('both backends over %s', (name, folder) => {
  const [ours, theirs] = [loaded(folder), loaded(folder, 'xenova')];
  // Of Gemma, runs of newlines are a known difference; see below.
  const comparable = (text: string): string => (name === 'gemma' ? text.replace(/\n+/g, '\n') : text);

  it('give the same ids and the same text', () => {
    fc.assert(
      fc.property(anyContent(ours).map(comparable), fc.boolean(), (text, addSpecialTokens) => {
        const ids = ours.encode(text, { addSpecialTokens });
        expect(theirs.encode(text, { addSpecialTokens })).toEqual(ids);
        expect(theirs.decode(ids)).toBe(ours.decode(ids));
      }),
    );
  });

  it('decode any ids alike', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: ours.vocabSize + 1 }), { maxLength: 12 }), (ids) => {
        expect(theirs.decode(ids)).toBe(ours.decode(ids));
      }),
    );
  });

  it('agree on what is special', () => {
    expect(theirs.backend).toBe('xenova');
    expect({ ...data(theirs), backend: '' }).toEqual({ ...data(ours), backend: '' });
    for (const id of [0, 1, ours.vocabSize - 1, ours.vocabSize]) {
      expect(theirs.token(id)).toBe(ours.token(id));
    }
  });
});

describe('the known differences of the second backend', () => {
  it('are still differences, so that the list stays true', () => {
    const gemma = familyFolders.gemma ?? '';
    const [ours, theirs] = [loaded(gemma), loaded(gemma, 'xenova')];
    expect(ours.encode('\n\n')).toHaveLength(1);
    expect(theirs.encode('\n\n')).toHaveLength(2);
    const llama = tokenizerFolders['Mistral Nemo'] ?? '';
    expect(loaded(llama, 'xenova').encode('  \ufeff')).not.toEqual(loaded(llama).encode('  \ufeff'));
    expect(knownDifferences.length).toBeGreaterThan(0);
  });
});

// --- helpers ---

function data(tokenizer: ReturnType<typeof loaded>): object {
  return JSON.parse(JSON.stringify({ ...tokenizer, specialIds: [...tokenizer.specialIds].sort() }));
}
