// Copies of the Python packages as they lie where pip puts them, each of a version: for tests of what happens between two.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT, VERSION } from '../../src/version.ts';

const PACKAGES = join(PACKAGE_ROOT, 'src', 'python');
/** No version that was ever published. */
export const OLDER = '0.0.9';
export { VERSION };

/** All packages, with the engine of dist/, and with what pip writes down of them. Returns the folder. */
export function copyTo(folder: string, version: string): string {
  cpSync(PACKAGES, folder, { recursive: true, filter: (path) => !path.includes('__pycache__') });
  const engine = join(folder, 'lossproof_door', 'engine');
  mkdirSync(engine);
  symlinkSync(join(PACKAGE_ROOT, 'dist'), join(engine, 'dist'));
  const manifest = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(join(engine, 'package.json'), JSON.stringify({ ...manifest, version }));
  const metadata = join(folder, `lossproof-${version}.dist-info`);
  mkdirSync(metadata);
  writeFileSync(join(metadata, 'METADATA'), `Metadata-Version: 2.4\nName: lossproof\nVersion: ${version}\n`);
  return folder;
}

/** The SDK alone, as npm's package had it before there was a door: without what `lossproof.pytest` is. */
export function sdkBeforeTheDoor(folder: string): string {
  const to = join(folder, 'lossproof');
  cpSync(join(PACKAGES, 'lossproof'), to, {
    recursive: true,
    filter: (path) => !/__pycache__|(__main__|pytest|notebook)\.py$/.test(path),
  });
  const file = join(to, '__init__.py');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^_LAZY = .*$/m, '_LAZY = {}'));
  return folder;
}
