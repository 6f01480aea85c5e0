// The prose of the pages: sentences of bounded length, without the phrases that a reader must read twice.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Exception,
  isGenerated,
  MOST_WORDS,
  proseFindings,
  sentencesOf,
  shown,
} from '../../scripts/docs/prose.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** Sentences that break a rule and are right as they are. */
const EXCEPTIONS: readonly Exception[] = [];

/** Generated pages whose sentences are strings of properties and bugs: rewrite a finding there, and run `npm run docs`. */
const OF_STRINGS: readonly string[] = ['docs/bugs.md', 'docs/properties.md'];

/** Sections of released versions stay as they were published. Blank lines keep the numbers of the others. */
const textOf = (file: string): string => {
  const text = readFileSync(join(PACKAGE_ROOT, file), 'utf8');
  if (file !== 'CHANGELOG.md') return text;
  return text
    .split(/^(?=## )/m)
    .map((part) => (/^## (?!\[Unreleased\])/.test(part) ? part.replaceAll(/[^\n]/g, '') : part))
    .join('');
};

const PAGES: readonly (readonly [file: string, text: string])[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'PROTOCOL.md',
  ...readdirSync(join(PACKAGE_ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
]
  .map((file) => [file, textOf(file)] as const)
  .filter(([file, text]) => OF_STRINGS.includes(file) || !isGenerated(text));

describe('the pages', () => {
  test.each(PAGES)('%s', (file, text) => {
    const found = proseFindings(file, text, EXCEPTIONS);
    expect(found.length, `${found.map(shown).join('\n')}\n`).toBe(0);
  });

  test('generated pages are left out, except those of strings and pages with a generated table', () => {
    const files = PAGES.map(([file]) => file);
    expect(files).not.toContain('docs/relations.md');
    expect(files).toEqual(expect.arrayContaining([...OF_STRINGS, 'docs/hostile.md', 'docs/trace.md']));
  });

  test('every exception exists', () => {
    const texts = new Map(PAGES);
    for (const { file, words } of EXCEPTIONS) {
      const found = proseFindings(file, texts.get(file) ?? '');
      expect(
        found.some(({ sentence }) => sentence.includes(words)),
        `${file}: "${words}"`,
      ).toBe(true);
    }
  });
});

const rulesOf = (text: string): string[] => proseFindings('page.md', text).map(({ rule }) => rule);

test.each([
  ['behind', 'The prompt is sampled behind the header.'],
  ['behind', '| what | the step behind the finding |'],
  ['behind', '## What stands behind it'],
  ['nobody', "It is nobody's fault."],
  ['nobody', 'Nobody declares it.'],
  ['whoever', 'Whoever reads it has the package.'],
  ['says of', 'The last line says of each row whether it is trained.'],
  ['says of', 'No rule\nspeaks of data loaders.'],
  ['says of', 'The trainer is told of it.'],
  ['held against', 'A run is held against its baselines.'],
  ['held against', 'The properties hold a trainer to its declarations.'],
  ['in the place of', 'It ends with the unknown token in the place of its stop token.'],
  ['a row a property', 'It prints a row a property.'],
  ['a row a property', 'JSON lines hold one object, or one row, a step.'],
  ['a row a property', 'The adapter answers one JSON line a request.'],
  ['a row a property', 'It takes 3 seconds a case.'],
  ['headless clause', 'What is merely unusual is noted.'],
  ['headless clause', 'One finding is shown. What cannot be read is left out.'],
  ['headless clause', '- What it leaves unasked is listed.'],
  ['headless clause', 'The common case comes first; what is unusual is noted.'],
  ['headless clause', 'In a mask with gaps, what is 0 was written by a tool.'],
  ['fronted object', 'Of several heads, the first is read.'],
  ['fronted object', 'It has heads. Of these, one is read.'],
])('%s: %s', (rule, text) => {
  expect(rulesOf(text)).toEqual([rule]);
});

test.each([
  'A row is compared with a property, and a line with a step.',
  'It fails if a mutant survives a seed, a property kills nothing, or a row has neither.',
  'What does a failure mean?',
  'What to do: lower the learning rate.',
  'The page lists what is wrong.',
  'It says, token by token, what is wrong.',
  '## What it cannot see',
  '| column | What it means |',
  'Of course, it is read.',
  'The output of a step is of no use.',
  'The script holds up to 3 rows.',
  'It says what of the row is trained.',
  'The option `behind` and `in the place of nobody` are code.',
  'Before.\n\n```\nWhat is code is left alone, behind the fence.\n```\n\nAfter.',
  '- In a list:\n\n  ```\n  behind\n  ```\n',
  'A table.\n\n<!-- counts -->\n| a | behind |\n<!-- /counts -->\n',
  '<!-- exit codes: written by `npm run docs` -->\n| a | behind |\n<!-- end of exit codes -->\n',
  '<!-- behind -->',
])('is let pass: %s', (text) => {
  expect(rulesOf(text)).toEqual([]);
});

describe('the length of a sentence', () => {
  const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

  test.each([
    ['of a paragraph', `${words(MOST_WORDS)}.`, []],
    ['over the limit', `${words(MOST_WORDS + 1)}.`, ['length']],
    ['over two lines', `${words(20)}\n${words(20)}.`, ['length']],
    ['two in a paragraph', `${words(20)}. W${words(20)}.`, []],
    ['in a list', `- ${words(20)}\n- ${words(20)}`, []],
    ['in a cell', `| ${words(50)} | |`, []],
    ['a full stop in a name', `${words(20)} train.py ${words(20)}.`, ['length']],
    ['a full stop in code', `${words(20)} \`a. B\` ${words(20)}.`, ['length']],
    ['a list of code', `It takes ${Array.from({ length: 50 }, () => '`x`').join(', ')} and \`y\`.`, []],
    [
      'a list of links',
      `Its pages: ${Array.from({ length: 50 }, () => '[own page](a.md)').join(' · ')}.`,
      [],
    ],
  ])('%s', (_, text, rules) => {
    expect(rulesOf(text)).toEqual(rules);
  });
});

test('a finding names the line, the sentence and the better form', () => {
  const [finding] = proseFindings(
    'page.md',
    '# Title\n\n```\ncode\n```\n\nOne\nline. Then nobody\nreads it. Last.\n',
  );
  expect(finding).toMatchObject({ line: 8, rule: 'nobody', sentence: 'Then nobody reads it.' });
  expect(finding === undefined ? '' : shown(finding)).toMatch(
    /^page\.md:8: nobody: .*\n {4}better: name who/,
  );
});

test('an exception is for its file and its words', () => {
  const exceptions = [{ file: 'page.md', words: 'behind a proxy', reason: 'a place' }];
  expect(proseFindings('page.md', 'It runs behind a proxy. It runs behind it.', exceptions)).toHaveLength(1);
  expect(proseFindings('other.md', 'It runs behind a proxy.', exceptions)).toHaveLength(1);
});

test('a sentence begins on its own line', () => {
  expect(sentencesOf('One.\nTwo is\nlong. Three.\n\n- Four.')).toEqual([
    { line: 1, kind: 'prose', sentence: 'One.' },
    { line: 2, kind: 'prose', sentence: 'Two is long.' },
    { line: 3, kind: 'prose', sentence: 'Three.' },
    { line: 5, kind: 'prose', sentence: 'Four.' },
  ]);
});
