// What others wrote comes in by one door, src/outside/, which bounds it before anything is made of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf, ROOT, sources } from './house.ts';

/** The door itself; and who reads a file of this package, which nobody else writes. */
const MAY_PARSE = new Set([
  'src/outside/json.ts',
  'src/outside/tolerant.ts',
  'src/version.ts',
  'src/cli/start/init.ts',
  'src/cli/trainer/adapters.ts',
]);

/** Words of a file without its comments, so that one may speak of what it does not do. */
const codeOf = (path: string): string =>
  readFileSync(join(ROOT, path), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1');

test('only the door parses JSON', () => {
  // Also by another name: `const { parse } = JSON`, `JSON['parse']`, `response.json()`.
  const parses = /\bJSON\s*(\?\.|\.)\s*parse\b|\bJSON\s*\[|=\s*JSON\b(?!\.)|\.json\(\)/;
  const parsing = sources.filter((path) => parses.test(codeOf(path)));
  expect(parsing.filter((path) => !MAY_PARSE.has(path))).toEqual([]);
});

test('only the door parses YAML', () => {
  const parsing = sources.filter((path) => importsOf(path).some(({ from }) => from === 'yaml'));
  expect(parsing).toEqual(['src/outside/yaml.ts']);
});

test('whoever may parse does', () => {
  for (const path of MAY_PARSE) expect(codeOf(path), path).toContain('JSON.parse(');
});

/** YAML has no parser in Node. */
const PARSERS = /^yaml$/;

test('the door needs nothing of the house', () => {
  for (const path of sources.filter((each) => each.startsWith('src/outside/')))
    for (const { from } of importsOf(path))
      if (!PARSERS.test(from)) expect(from, path).toMatch(/^(\.\/|node:)/);
});
