import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { widthOf } from '../../../src/report/text/visible.ts';

test('what is taken for narrow is as wide as it is to the library', () => {
  const narrow = fc.constantFrom(...' a~Z0', '␠', '⏎', 'é', '中', '\u0301', '🙂', '\u001b');
  fc.assert(
    fc.property(fc.string({ unit: narrow }), (text) => {
      expect(widthOf(text)).toBe(stringWidth(text));
    }),
  );
});
