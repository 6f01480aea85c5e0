// Folders that can be read: none holds more files than one takes in, and where names begin alike there is a folder.
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, groupBy } from './house.ts';

const MOST_FILES = 20;
/** So many files of one prefix are a folder of that name. */
const MOST_OF_A_PREFIX = 3;

const files = filesOf(['src', 'properties', 'scripts', 'test'], ['.ts', '.py', '.mjs', '.js', '.css', '.sh']);
const folders = groupBy(files, dirname);

test('no folder of code holds more files than one takes in', () => {
  const full = [...folders].filter(([, inside]) => inside.length > MOST_FILES);
  expect(full.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
});

test('a prefix shared by four files is a folder', () => {
  const shared = [...folders].flatMap(([folder, inside]) => {
    const stems = new Set(inside.map((file) => basename(file).replace(/(\.test)?\.\w+$/, '')));
    const prefixes = groupBy([...stems], (stem) => stem.replace(/^_+/, '').split(/[-_]/)[0] ?? stem);
    return [...prefixes]
      .filter(([, alike]) => alike.length > MOST_OF_A_PREFIX)
      .map(([prefix, alike]) => `${folder}/${prefix}: ${alike.join(', ')}`);
  });
  expect(shared).toEqual([]);
});
