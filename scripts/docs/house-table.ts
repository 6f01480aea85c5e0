// The table that ARCHITECTURE.md opens with: families of ops across, floors down. Read off the folders, so that what it
// names is there.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES, type Family, familyNames } from '../../src/protocol/ops.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** Floors that are divided by family, each a folder of folders, or of files, that are called so. */
export const FAMILY_FLOORS: readonly string[] = [
  'properties',
  'src/reference',
  'src/generators',
  'src/check/profile',
  'src/golden/cases',
  'src/bugs',
  'src/python/lossproof/examples',
  'test/mutants',
  'test/conformance',
  'test/reference',
  'test/generators',
];

/** What a family has on a floor: its files and folders, by name; empty where there is nothing. */
export function insideOf(floor: string, family: Family): string[] {
  const entries = readdirSync(join(PACKAGE_ROOT, floor), { withFileTypes: true });
  if (entries.some((entry) => entry.isFile() && entry.name === `${family}.ts`)) return [family];
  if (!entries.some((entry) => entry.isDirectory() && entry.name === family)) return [];
  const inside = readdirSync(join(PACKAGE_ROOT, floor, family), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('__'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name.replace(/(\.test)?\.\w+$/, '')));
  return [...new Set(inside)].sort();
}

/** Markdown, with the two marks that it stands between. */
export function houseTable(): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const ops = familyNames.map((family) =>
    Object.keys(FAMILIES[family])
      .map((op) => `\`${op}\``)
      .join(', '),
  );
  return [
    HOUSE_BEGIN,
    line(['', ...familyNames]),
    line(['---', ...familyNames.map(() => '---')]),
    line(['`src/protocol/ops/`', ...ops]),
    ...FAMILY_FLOORS.map((floor) =>
      line([`\`${floor}/\``, ...familyNames.map((family) => insideOf(floor, family).join(', '))]),
    ),
    HOUSE_END,
  ].join('\n');
}

export const HOUSE_BEGIN = '<!-- house: written by `npm run docs` -->';
export const HOUSE_END = '<!-- end of house -->';

/** The page with today's table in place of the one between the marks. */
export function withHouseTable(page: string): string {
  const [from, to] = [page.indexOf(HOUSE_BEGIN), page.indexOf(HOUSE_END)];
  if (from < 0 || to < from) throw new Error('ARCHITECTURE.md has lost the marks of its table.');
  return page.slice(0, from) + houseTable() + page.slice(to + HOUSE_END.length);
}
