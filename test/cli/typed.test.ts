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

test.each([
  [
    'give slow ops more time (--op-timeout).',
    'give slow ops more time (--lossproof-op-timeout).',
    '(op_timeout)',
  ],
  [
    'it has several trainers; --trainer NAME means one',
    '; --lossproof-trainer NAME means one',
    '; trainer NAME',
  ],
  ['{"problem":"--trainer names one of', '"--lossproof-trainer names one of', '"trainer names one of'],
  ['often not meant; --strict fails on it:', '; --lossproof-strict fails on it:', '; strict fails on it:'],
])('a hint at an option is said as the door has it: %s', (text, pytest, notebook) => {
  expect(asTyped(text, undefined, undefined)).toBe(text);
  expect(asTyped(text, undefined, '--lossproof-{option}')).toContain(pytest);
  expect(asTyped(text, undefined, '{keyword}')).toContain(notebook);
});

test('options of commands are left alone, whosever they are', () => {
  for (const text of [
    'npx lossproof check --trainer a --level may --strict',
    'python adapter.py --op-timeout 3 < case',
    '(--strictly)',
    '["--level=may"]',
  ])
    expect(asTyped(text, undefined, '--lossproof-{option}')).toBe(text);
});

test('other words are left alone', () => {
  for (const text of ['npm install lossproof', 'npx lossproofs', 'xnpx lossproof'])
    expect(asTyped(text, 'lossproof')).toBe(text);
});
