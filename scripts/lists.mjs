// Lists of what the folders of the families hold. `npm run build` adds what one does not name yet, before it compiles; the order
// and the exceptions of a list are its own.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FAMILIES = readdirSync(join(ROOT, 'src/protocol/ops')).map((file) => file.replace(/\.ts$/, ''));

/** `entry`: a line of what a file exports so. Without it, the list exports the whole file. */
const LISTS = [
  {
    list: 'properties/index.ts',
    folder: 'properties',
    exported: /^export const (\w+): readonly Property</gm,
    entry: (name) => `  ...anyCase(${name}),`,
  },
  {
    list: 'src/golden/cases/index.ts',
    folder: 'src/golden/cases',
    exported: /^export const (\w+): readonly GoldenCase\[\]/gm,
    entry: (name) => `  ...${name},`,
  },
  {
    list: 'src/check/profile/probes.ts',
    folder: 'src/check/profile',
    exported: /^export const (\w+): Probe</gm,
    entry: (name) => `  any(${name}),`,
  },
  {
    list: 'src/check/profile/practice.ts',
    folder: 'src/check/profile',
    exported: /^export const (\w+): readonly Practice\[\]/gm,
    entry: (name) => `  ...${name},`,
  },
  { list: 'src/index.ts', folder: 'src/generators' },
  { list: 'src/reference/index.ts', folder: 'src/reference' },
];

/** Each list that lacks something, with its text as it should be. */
export function missing() {
  return LISTS.flatMap(({ list, folder, exported, entry }) => {
    const before = readFileSync(join(ROOT, list), 'utf8');
    const lines = before.split('\n');
    const top = `.${folder.slice(dirname(list).length)}`;
    for (const path of FAMILIES.flatMap((family) => filesOf(folder, family, entry !== undefined))) {
      const from = `'${top}/${path}'`;
      if (entry === undefined) {
        if (!lines.some((line) => line.includes(from))) insert(lines, `export * from ${from};`, `${top}/`);
        continue;
      }
      const text = readFileSync(join(ROOT, folder, path), 'utf8');
      for (const [, name] of text.matchAll(exported)) {
        if (lines.some((line) => new RegExp(`\\b${name}\\b`).test(line))) continue;
        insert(lines, `import { ${name} } from ${from};`, './');
        lines.splice(lastOf(lines, path.split('/')[0]) + 1, 0, entry(name));
      }
    }
    const text = lines.join('\n');
    return text === before ? [] : [{ file: join(ROOT, list), text }];
  });
}

/** Paths of a family's files from `folder` on. A folder with an index says itself what it exports. */
function filesOf(folder, family, deep) {
  const inside = readdirSync(join(ROOT, folder), { withFileTypes: true });
  if (!inside.some((entry) => entry.isDirectory() && entry.name === family)) return [];
  const files = readdirSync(join(ROOT, folder, family), { recursive: deep, encoding: 'utf8' });
  if (files.includes('index.ts')) return [];
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${family}/${file.replaceAll('\\', '/')}`)
    .sort();
}

/** Before the first line that names a later path below `top`, or behind the last one that names any. */
function insert(lines, line, top) {
  const pathOf = (text) => /^(?:import|export) .* from '(.*)';$/.exec(text)?.[1] ?? '';
  const places = lines.flatMap((text, at) => (pathOf(text).startsWith(top) ? [at] : []));
  const at = places.find((place) => pathOf(lines[place]) > pathOf(line)) ?? (places.at(-1) ?? -1) + 1;
  lines.splice(at, 0, line);
}

/** The last line that holds a name imported from the family. */
function lastOf(lines, family) {
  const names = lines
    .filter((line) => line.startsWith('import ') && line.includes(` from './${family}/`))
    .flatMap((line) => line.slice(line.indexOf('{'), line.indexOf('}')).match(/\w+/g) ?? []);
  return lines.findLastIndex(
    (line) => /^ {2}(\.\.\.|any\()/.test(line) && names.some((name) => line.includes(name)),
  );
}
