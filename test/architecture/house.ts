// The sources as the architecture tests see them: which files there are, and what each imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

export const ROOT: string = PACKAGE_ROOT;

/** Files below these folders with one of these endings, from the repository's root, in order. */
export function filesOf(folders: readonly string[], endings: readonly string[] = ['.ts']): string[] {
  return folders
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').includes('__pycache__'))
    .sort();
}

/** The product's own files: neither tests nor scripts. */
export const sources: readonly string[] = filesOf(['src', 'properties']).filter(
  (path) => !path.endsWith('.test.ts'),
);

export interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

/** What a file names in `import` and `export ... from`; types too. */
export function importsOf(path: string): Import[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from '([^']+)'/gms)].map(
    ([, type, from]) => ({ from: from ?? '', typeOnly: type !== undefined }),
  );
}

/** Files of the repository that a file needs to be read: those it imports, `import('./x.ts')` as a type included. */
export function neededBy(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const types = [...text.matchAll(/(?<!await )\bimport\('(\.[^']+)'\)\./g)].map(([, from = '']) => from);
  return [...importsOf(path).map(({ from }) => from), ...types]
    .filter((from) => from.startsWith('.'))
    .map((from) =>
      relative(ROOT, resolve(ROOT, dirname(path), from))
        .split(sep)
        .join('/'),
    );
}

export function groupBy(
  all: readonly string[],
  keyOf: (one: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** Groups of files that need each other, each sorted: Tarjan's strongly connected components of more than one file. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const [stack, circles]: [string[], string[][]] = [[], []];
  const visit = (file: string): number => {
    index.set(file, index.size);
    let lowest = index.get(file) ?? 0;
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, low.get(next) ?? index.get(next) ?? 0);
    }
    low.set(file, lowest);
    if (lowest !== index.get(file)) return lowest;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1 || graph.get(file)?.includes(file)) circles.push(circle.sort());
    return lowest;
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles;
}
