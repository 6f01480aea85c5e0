// Whoever came by pip reads commands that they can type, whatever the text that says them.
import { expect, test } from 'vitest';
import { asTyped } from '../../src/cli/typed.ts';

test('a command is said as it was typed', () => {
  const text = 'Run `npx lossproof check`, then npx lossproof report.';
  expect(asTyped(text, undefined)).toBe(text);
  expect(asTyped(text, '')).toBe(text);
  expect(asTyped(text, 'lossproof')).toBe('Run `lossproof check`, then lossproof report.');
  expect(asTyped(text, '.venv/bin/lossproof')).toContain('`.venv/bin/lossproof check`');
  expect(asTyped(text, 'python3 -m lossproof')).toContain('then python3 -m lossproof report');
});

test.each([`'/a b/lossproof'`, '"C:\\Program Files\\lossproof"', '<b>', '$&', 'a\nb'])(
  'what would need other quotes in HTML than in a shell is the bare name: %j',
  (typed) => {
    expect(asTyped('npx lossproof list', typed)).toBe('lossproof list');
  },
);

test('other words are left alone', () => {
  for (const text of ['npm install lossproof', 'npx lossproofs', 'xnpx lossproof'])
    expect(asTyped(text, 'lossproof')).toBe(text);
});
