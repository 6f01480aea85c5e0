// What goes into the wheel: all that the engine imports, and nothing that only readers need.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineFiles, productionPackages } from '../../scripts/wheel/engine.ts';
import { absoluteLinks } from '../../scripts/wheel/readme.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(PACKAGE_ROOT, folder, 'package.json'), 'utf8')) as Manifest;

/** Where Node finds a package that one in `from` imports: beside it, or in a folder above. */
function found(name: string, from: string): string {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const folder = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (existsSync(join(PACKAGE_ROOT, folder))) return folder;
    if (at === '') throw new Error(`${name} of ${from} is not installed`);
  }
}

test('every package that the engine depends on is there, however far down', () => {
  const needed = new Set<string>();
  const visit = (folder: string): void => {
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const place = found(name, folder);
      if (needed.has(place)) continue;
      needed.add(place);
      visit(place);
    }
  };
  visit('');
  expect(needed.size).toBeGreaterThan(20);
  expect(new Set(productionPackages())).toEqual(needed);
});

test('the engine has its program, its Python, its style sheets, families and schemas, and no documents', () => {
  const files = engineFiles();
  for (const path of [
    'package.json',
    'LICENSE',
    'src/python/lossproof/__init__.py',
    'src/python/lossproof_trace/bootstrap/sitecustomize.py',
    'docs/config.schema.json',
    'node_modules/commander/package.json',
    'node_modules/execa/license',
  ])
    expect(files).toContain(path);
  expect(files.some((path) => /^src\/report\/html\/.*\.css$/.test(path))).toBe(true);
  expect(files.some((path) => /^src\/tokenizers\/families\/.*\.json$/.test(path))).toBe(true);
  const licence = (path: string): boolean => /licen[cs]e\.md$/i.test(path);
  expect(
    files.filter(
      (path) => !licence(path) && /\.(md|map|ts)$|__pycache__|^test\/|^docs\/(?!.*schema)/.test(path),
    ),
  ).toEqual([]);
  const licensed = productionPackages().filter((folder) =>
    files.some((path) => path.startsWith(`${folder}/`) && /licen[cs]e/i.test(path)),
  );
  // The licences go along wherever a package has one.
  expect(licensed.length).toBeGreaterThan(30);
});

test('links of the README lead to the repository on a page that has none', () => {
  expect(absoluteLinks('[a](docs/a.md#b) ![p](docs/p.png) [w](https://w.example) [h](#here)')).toBe(
    '[a](https://github.com/lossproof/lossproof/blob/main/docs/a.md#b) ' +
      '![p](https://github.com/lossproof/lossproof/raw/main/docs/p.png) [w](https://w.example) [h](#here)',
  );
});
