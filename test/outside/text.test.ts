import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { includesText, lengthOfTexts, quoted, told } from '../../src/outside/text.ts';
import { shown } from '../../src/protocol/result.ts';

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

describe('a value that is quoted', () => {
  /** A list that counts how often somebody reads it. */
  function counting(
    length: number,
    item: unknown,
  ): { readonly list: unknown[]; readonly reads: () => number } {
    let reads = 0;
    const list = new Proxy(new Array<unknown>(length).fill(item), {
      get(target, name) {
        reads++;
        return Reflect.get(target, name);
      },
    });
    return { list, reads: () => reads };
  }

  test.each([
    ['numbers', 1],
    ['texts', 'a'],
    ['lists', []],
    ['objects', { a: 1 }],
    ['quotes', '"'],
    ['nothing', null],
  ])('is read no further than it is shown: %s', (_, item) => {
    for (const say of [told, shown]) {
      const { list, reads } = counting(100_000, item);
      expect(say(list)).toMatch(/^\[.{60,}…$/);
      expect(reads()).toBeLessThan(1_000);
    }
  });

  test('is JSON where it is short', () => {
    for (const value of [[1, 'a"b', null, { c: [true] }], { a: undefined, b: -0.5 }, [], {}, 'x', 3])
      expect(quoted(value, 80)).toEqual({ text: JSON.stringify(value), whole: true });
  });
});
