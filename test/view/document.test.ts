// Every flag and note is told in docs/view.md, and raised by a test; the bugs that they show are of the catalogue.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bugs } from '../../src/bugs/index.ts';
import { FLAGS, type FlagText, NOTES } from '../../src/view/flags.ts';
import { filesOf } from '../architecture/house.ts';

const ALL: Readonly<Record<string, FlagText>> = { ...FLAGS, ...NOTES };
const page = readFileSync('docs/view.md', 'utf8');
const tests = filesOf(['test/view', 'test/cli/view'], ['.test.ts'])
  .filter((file) => !file.endsWith('document.test.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test.each(Object.keys(ALL))('%s', (id) => {
  expect(page).toContain(`\`${id}\``);
  expect(tests).toMatch(new RegExp(`['"\\n ]${id}[' :]`));
  const known = bugs.map((bug) => bug.id);
  for (const row of ALL[id]?.catches ?? []) expect(known).toContain(row);
});
