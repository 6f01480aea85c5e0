// What the search of the site looks through: properties, ops, bugs and the headings of all other pages. A script file, as a
// page that is opened from disk may not fetch; it is loaded when the box is first used.
import { bugs } from '../../src/bugs/index.ts';
import { FAMILIES } from '../../src/protocol/ops.ts';
import { opFile } from './op-page.ts';
import { explained, propertyFile } from './property-page.ts';
import type { Rendered } from './render.ts';

export const INDEX_FILE = 'search-index.js';

/** Kind, what it is called, what it says, path within the site. */
export type Entry = readonly [kind: string, name: string, text: string, path: string];

/** `pages`: path within the repository to what is rendered; `outputOf`: to its path within the site. */
export function searchIndex(
  pages: ReadonlyMap<string, Rendered>,
  outputOf: (file: string) => string,
): readonly Entry[] {
  const ops = Object.entries(FAMILIES).flatMap(([family, all]) =>
    Object.keys(all).map((op) => [op, family] as const),
  );
  const properties = explained();
  const own = new Set([...properties.map(({ id }) => propertyFile(id)), ...ops.map(([op]) => opFile(op))]);
  return [
    ...ops.map(([op, family]): Entry => ['op', op, `op of the family ${family}`, outputOf(opFile(op))]),
    ...properties.map(({ id, title }): Entry => ['property', id, title, outputOf(propertyFile(id))]),
    ...bugs.map(
      ({ id, what }): Entry => ['bug', id, what, `${outputOf('docs/bugs.md')}#${id.toLowerCase()}`],
    ),
    ...[...pages].flatMap(([file, { title, headings }]) =>
      own.has(file)
        ? []
        : headings
            .filter(({ text }) => text !== '' && !isBug(text))
            .map(({ id, level, text }, at): Entry => {
              const path = outputOf(file);
              return at === 0
                ? ['page', text, '', path]
                : ['page', text, level === 1 ? '' : title, `${path}#${id}`];
            }),
    ),
  ];
}

export function indexFile(entries: readonly Entry[]): string {
  return `globalThis.LOSSPROOF_INDEX = ${JSON.stringify(entries)};\n`;
}

const BUGS = new Set(bugs.map(({ id }) => id));
const isBug = (text: string): boolean => BUGS.has(text);
