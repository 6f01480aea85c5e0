// The engine as the wheel carries it: what npm would publish, less what only an importing TypeScript program or a reader
// of documents needs, with the packages that it runs on beside it. As paths from the root of this repository.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

export function engineFiles(): readonly string[] {
  return [...published().filter(isRun), ...productionPackages().flatMap(packageFiles)].sort();
}

/** What npm would put into its package. */
function published(): readonly string[] {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const printed = execFileSync('npm', words, { cwd: PACKAGE_ROOT, encoding: 'utf8', stdio: 'pipe' });
  const [packed] = JSON.parse(printed) as readonly { readonly files: readonly { readonly path: string }[] }[];
  return packed?.files.map(({ path }) => path) ?? [];
}

/** Documents are on the web; a program that imports the library has npm. */
function isRun(path: string): boolean {
  if (!path.includes('/')) return path === 'package.json' || path === 'LICENSE';
  return !isForReaders(path) && !/^(docs\/(?!.*\.schema\.json$)|test\/|scripts\/)/.test(path);
}

/** Folders of the packages that the engine imports, directly or not, as the lock file has them. */
export function productionPackages(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, optional, peer, link }]) => {
      return path !== '' && ![dev, devOptional, optional, peer, link].includes(true);
    })
    .map(([path]) => path);
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly link?: boolean;
}

function packageFiles(folder: string): readonly string[] {
  if (!existsSync(join(PACKAGE_ROOT, folder)))
    throw new Error(`${folder} is not installed; run \`npm ci\` and build the wheel again.`);
  return filesBelow(folder).filter((path) => !isForReaders(path));
}

/** Not into packages of its own: those have lines in the lock file. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(PACKAGE_ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return [path];
  });
}

/** Declarations, maps and documents: no process reads them. A licence stays, whatever its name. */
function isForReaders(path: string): boolean {
  return /\.([cm]?ts|[cm]?ts\.map|map|md|markdown|flow)$/i.test(path) && !/licen[cs]e[^/]*$/i.test(path);
}
