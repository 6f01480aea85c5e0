import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { includesText, lengthOfTexts, told } from '../../src/outside/text.ts';

describe('includesText', () => {
  const LONG = 2 ** 15;
  const filled = (unit: string): string => unit.repeat(Math.ceil(LONG / unit.length)).slice(0, LONG);

  test('says what the engine says, of long texts of few letters as well', () => {
    const unit = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(unit, unit, fc.nat(LONG), fc.nat(LONG / 4), unit, (head, tail, seam, cut, between) => {
        const text = filled(head).slice(0, seam) + between + filled(tail);
        const part = text.slice(cut, cut + LONG / 2 + 1);
        for (const each of [part, `${part}${between}`, `${between}${part}`, `${part.slice(0, -1)}a`])
          expect(includesText(text, each)).toBe(text.includes(each));
      }),
      { numRuns: 30 },
    );
  });

  test('of a text that takes the engine a minute', () => {
    const text = 'a'.repeat(2 ** 21);
    expect(includesText(text, `aaaaaaaaaaab${'a'.repeat(2 ** 20)}`)).toBe(false);
    expect(includesText(`${text}b`, `${'a'.repeat(2 ** 20)}b`)).toBe(true);
  });
});

test('characters of all texts in a value', () => {
  expect(lengthOfTexts({ role: 'user', parts: ['ab', { text: 'c' }, 5, null] })).toBe('userabc'.length);
  expect(lengthOfTexts(undefined)).toBe(0);
});

test('a value that has no text of its own is told, on one line and short', () => {
  expect(told({ toString: 1 })).toBe('{"toString":1}');
  expect(told(undefined)).toBe('undefined');
  expect(told('x'.repeat(1_000_000)).length).toBeLessThan(120);
});
