// What pip installs beside us has a bound above: a major that nobody has tried must not reach users on the day of its release.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

test('every package that pip installs with lossproof has a lower and an upper bound', () => {
  const text = readFileSync(join(PACKAGE_ROOT, 'src/python/pyproject.toml'), 'utf8');
  const list = /^dependencies = \[\n(.*?)^\]/ms.exec(text)?.[1] ?? '';
  const named = [...list.matchAll(/^ +"([^";]+)/gm)].map(([, requirement = '']) => requirement);
  expect(named).not.toEqual([]);
  for (const requirement of named) expect(requirement).toMatch(/^[\w-]+>=[\d.]+,<\d+$/);
});
