// The prose of what the product prints: messages, --help, titles and advice of properties, pages. The rules are those of the pages.
import { expect, test } from 'vitest';
import { proseFindings, shown } from '../../scripts/docs/prose.ts';
import { filesOf, sources } from '../architecture/house.ts';
import { type Literal, textsOfPython, textsOfTypeScript } from './literals.ts';

/** Strings that are programs. */
const PROGRAMS: ReadonlySet<string> = new Set([
  'src/kernel/wgsl.ts', // a shader
  'src/trainer/processes/watchman.ts', // a shell script
]);

const findingsIn = (literals: readonly Literal[]): readonly string[] =>
  literals.flatMap(({ file, line, text }) =>
    proseFindings(file, text).map((finding) => shown({ ...finding, line })),
  );

test.each(['src', 'properties'])('the texts of %s', (folder) => {
  const texts = sources
    .filter((file) => file.startsWith(`${folder}/`) && !PROGRAMS.has(file))
    .flatMap((file) => textsOfTypeScript(file));
  expect(texts.length).toBeGreaterThan(2000);
  expect(findingsIn(texts).join('\n')).toBe('');
});

test('the texts of Python', () => {
  const texts = textsOfPython(filesOf(['src/python'], ['.py']));
  expect(texts.length).toBeGreaterThan(400);
  expect(findingsIn(texts).join('\n')).toBe('');
});

test.each([
  ["const a = 'name the trainer behind the dashes';", ['behind']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a source
  ['const a = `${many} rows that nobody reads`;', ['nobody']],
  ['const a = html`<p>A text.</p><p>Of two texts, one is right.</p>`;', ['fronted object']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a source
  ["fail(`it is ${ok ? 'held to a declared rule' : 'right'}`);", ['held against']],
  ['const a = html`<h2>What was logged</h2>`;', []],
  ['// What is behind it\nconst a = 1;', []],
  ["import a from './behind the file.ts';", []],
  ["type A = 'behind the last token';", []],
  ["const a = '--behind';", []],
])('%s', (source, rules) => {
  const found = textsOfTypeScript('a.ts', source).flatMap(({ file, text }) => proseFindings(file, text));
  expect(found.map(({ rule }) => rule)).toEqual(rules);
});
