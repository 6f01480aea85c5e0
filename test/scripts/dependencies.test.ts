// What is installed with the package: pinned, licensed, and nothing of it runs when it is installed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LockFile, nameOf, production } from '../../scripts/sbom/production.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(join(PACKAGE_ROOT, name), 'utf8'));
const lock = read('package-lock.json') as LockFile;
const own = read('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
const installed = [...production(lock)].map(([folder, locked]) => ({ ...locked, name: nameOf(folder) }));

/** Any of them asks for no more than its notice. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];

test('the lock file knows them all, each by its digest', () => {
  expect(lock.packages['']?.dependencies).toEqual(own.dependencies);
  expect(installed.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(own.dependencies)));
  expect(installed.filter(({ integrity = '' }) => !/^sha512-/.test(integrity))).toEqual([]);
});

test('none has an install script, and neither has this package', () => {
  expect(installed.filter(({ hasInstallScript }) => hasInstallScript === true)).toEqual([]);
  for (const name of ['preinstall', 'install', 'postinstall']) expect(own.scripts).not.toHaveProperty(name);
});

test('each has a licence that asks for no more than its notice', () => {
  expect(
    installed
      .filter(({ license = '' }) => !LICENCES.includes(license))
      .map(({ name, license }) => ({ name, license })),
  ).toEqual([]);
});

test('an inner folder is found before an outer one, and what is missing is told', () => {
  const packages = {
    '': { dependencies: { a: '1' } },
    'node_modules/a': { dependencies: { b: '2', c: '1' } },
    'node_modules/a/node_modules/b': { version: '2', dependencies: { c: '1' } },
    'node_modules/b': { version: '1' },
    'node_modules/c': {},
    'node_modules/only-for-us': {},
  };
  expect([...production({ lockfileVersion: 3, packages }).keys()]).toEqual([
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
  ]);
  expect(() => production({ lockfileVersion: 3, packages: { '': { dependencies: { z: '1' } } } })).toThrow(
    'no z',
  );
});
