// What users may import. A name that comes, goes or moves shows in names.txt: `npx vitest run -u` writes it anew, and
// the changelog says why.
import { expect, test } from 'vitest';
import * as library from '../../properties/library.ts';
import * as face from '../../properties/vitest.ts';
import { surfaceOf } from './surface.ts';

const names = surfaceOf('properties/library.ts');

test('the public names are those of names.txt', async () => {
  await expect(listOf('properties/library.ts', 'lossproof')).toMatchFileSnapshot('names.txt');
  await expect(listOf('properties/vitest.ts', 'lossproof/vitest')).toMatchFileSnapshot('names-vitest.txt');
});

test('what the sources say is exported is what a program gets', () => {
  const values = (path: string): string[] =>
    surfaceOf(path)
      .filter(({ kind }) => kind === 'value')
      .map(({ name }) => name)
      .sort();
  expect(values('properties/library.ts')).toEqual(Object.keys(library).sort());
  expect(values('properties/vitest.ts')).toEqual(Object.keys(face).sort());
});

test('every public function says what it does', () => {
  const silent = names.filter(({ isFunction, documented }) => isFunction && !documented);
  expect(silent.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});

/** One paragraph a file, values first. */
function listOf(path: string, title: string): string {
  const files = new Map<string, string[]>();
  for (const { file, kind, name } of surfaceOf(path)) {
    const lines = files.get(file) ?? [];
    lines.push(kind === 'type' ? `  type ${name}` : `  ${name}`);
    files.set(file, lines);
  }
  const paragraphs = [...files]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, lines]) =>
      [file, ...lines.toSorted((a, b) => order(a) - order(b) || (a < b ? -1 : 1))].join('\n'),
    );
  return `${[`import { ... } from '${title}'`, ...paragraphs].join('\n\n')}\n`;
}

const order = (line: string): number => (line.startsWith('  type ') ? 1 : 0);
