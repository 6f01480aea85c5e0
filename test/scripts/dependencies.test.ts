// What is installed with the package: pinned, licensed, and nothing of it runs when it is installed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { productionPackages } from '../../scripts/wheel/engine.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

interface Locked {
  readonly license?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const read = (name: string): unknown => JSON.parse(readFileSync(join(PACKAGE_ROOT, name), 'utf8'));
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
const own = read('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
const installed = productionPackages().map((folder) => ({ folder, ...packages[folder] }));

/** Any of them asks for no more than its notice. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];

test('the lock file knows them all, each by its digest', () => {
  expect(packages['']?.dependencies).toEqual(own.dependencies);
  expect(installed.map(({ folder }) => folder)).toEqual(
    expect.arrayContaining(Object.keys(own.dependencies).map((name) => `node_modules/${name}`)),
  );
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
      .map(({ folder, license }) => ({ folder, license })),
  ).toEqual([]);
});
