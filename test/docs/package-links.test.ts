// Documents in the package link to what is in the package: whoever reads them in node_modules has no repository beside.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { deadLinks } from '../../scripts/site/links.ts';
import { render } from '../../scripts/site/render.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** Paths that npm would publish, from the root of the package. */
function packList(): readonly string[] {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const printed = execFileSync('npm', words, { cwd: PACKAGE_ROOT, encoding: 'utf8', stdio: 'pipe' });
  const [packed] = JSON.parse(printed) as readonly { readonly files: readonly { readonly path: string }[] }[];
  return packed?.files.map(({ path }) => path) ?? [];
}

/** `a/b/c.md` lies in `a/` and `a/b/`; a link to a folder ends with a slash. */
function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [] : [`${folder}/`, ...foldersOf(folder)];
}

const packed = packList();
const documents = packed.filter((path) => path.endsWith('.md'));

test('the package holds its documents', () => {
  expect(documents).toEqual(
    expect.arrayContaining([
      'README.md',
      'README.zh.md',
      'PROTOCOL.md',
      'docs/start.md',
      'docs/installation.md',
      'docs/ci/README.md',
    ]),
  );
  expect(packed).toContain('LICENSE');
});

test('every link of a packed document leads to a file of the package', () => {
  const pages = new Map(
    documents.map((path) => {
      const text = readFileSync(join(PACKAGE_ROOT, path), 'utf8');
      return [path, render(text, () => undefined).html] as const;
    }),
  );
  expect(deadLinks(pages, new Set([...packed, ...packed.flatMap(foldersOf)]))).toEqual([]);
});
