// The public names of a module, read off its sources: what it exports itself, and what `export ... from` passes on.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface PublicName {
  readonly name: string;
  readonly kind: 'value' | 'type';
  /** Where it is written, relative to the repository. */
  readonly file: string;
  /** A comment of documentation stands above it. */
  readonly documented: boolean;
  readonly isFunction: boolean;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** `path` relative to the repository. */
export function surfaceOf(path: string): readonly PublicName[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const names: PublicName[] = [];
  for (const [, type, what = '', from = ''] of text.matchAll(REEXPORT)) {
    const onlyTypes = (name: PublicName): PublicName =>
      type === undefined ? name : { ...name, kind: 'type' };
    if (!from.startsWith('.')) {
      for (const { as } of specifiers(what))
        names.push({ name: as, kind: 'value', file: from, documented: true, isFunction: false });
      continue;
    }
    const target = surfaceOf(relative(ROOT, resolve(ROOT, dirname(path), from)));
    if (what === '*') {
      names.push(...target.filter(({ kind }) => type === undefined || kind === 'type').map(onlyTypes));
      continue;
    }
    for (const { name, as } of specifiers(what)) {
      const found = target.find((each) => each.name === name);
      if (found === undefined) throw new Error(`${path} passes on ${name}, which ${from} does not export`);
      names.push(onlyTypes({ ...found, name: as }));
    }
  }
  // A namespace is one name: what stands in it is documented where it is written.
  for (const [, name = ''] of text.matchAll(/^export \* as (\w+) from/gm))
    names.push({ name, kind: 'value', file: path, documented: true, isFunction: false });
  for (const [, type, what = ''] of text.matchAll(OWN)) {
    for (const { as } of specifiers(what)) {
      const kind = type === undefined ? 'value' : 'type';
      names.push({ name: as, kind, file: path, documented: true, isFunction: false });
    }
  }
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    const [, keyword, name] = DECLARATION.exec(line) ?? [];
    if (keyword === undefined || name === undefined) continue;
    const isType = keyword === 'type' || keyword === 'interface';
    names.push({
      name,
      kind: isType ? 'type' : 'value',
      file: path,
      documented: /\*\/\s*$/.test(lines[at - 1] ?? ''),
      isFunction: keyword.endsWith('function') || /=>|: Need = |\) =>$/.test(line),
    });
  }
  return [...new Map(names.map((each) => [`${each.kind} ${each.name}`, each])).values()];
}

/** `export { OPS };` of what is imported. */
const OWN = /^export (type )?(\{[^}]*\});/gm;
const REEXPORT = /^export (type )?(\*|\{[^}]*\}) from '([^']+)';/gm;
const DECLARATION = /^export (?:declare )?(async function|function|const|class|interface|type) (\w+)/;

function specifiers(list: string): { name: string; as: string }[] {
  return list
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter((each) => each !== '')
    .map((each) => {
      const [name = '', as = name] = each.split(' as ');
      return { name, as };
    });
}
