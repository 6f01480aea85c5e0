// docs/security.md lists every place that starts a process or loads a module by a computed name; the list is derived here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, importsOf, ROOT } from '../architecture/house.ts';

/** Modules of Node, and packages, by which code is run that no import names. */
const RUNNERS = /^(execa|jiti|(node:)?(child_process|cluster|module|vm|worker_threads))$/;
/** An import whose name is computed. */
const COMPUTED_IMPORT = /(?<![\w.])import\((?!['"`\s]*\.{0,2}\/|'[\w:-]+'\))(?!\s*\))/;
const PYTHON_RUNNERS =
  /^\s*(?:import|from) (?:subprocess|runpy|pty)\b|\bos\.(?:exec\w*|fork|posix_spawn\w*|spawn\w*|system|popen)\(|(?<![\w.])(?:exec|eval|__import__)\(|\bimport_module\(|(?<!def )\bexec_module\(/m;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function startersOf(): readonly string[] {
  const typescript = filesOf(['src', 'properties']).filter(
    (path) =>
      importsOf(path).some(({ from, typeOnly }) => !typeOnly && RUNNERS.test(from)) ||
      COMPUTED_IMPORT.test(codeOf(read(path))),
  );
  const python = filesOf(['src'], ['.py']).filter((path) => PYTHON_RUNNERS.test(read(path)));
  return [...typescript, ...python].sort();
}

/** Without whole lines of comments, and without types. */
function codeOf(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '').replaceAll(/typeof import\(/g, '');
}

test('docs/security.md names every place that starts a process or loads a module, and no other', () => {
  const [, section = ''] = /## Every place[^\n]*\n([\s\S]*?)\n## /.exec(read('docs/security.md')) ?? [];
  const listed = [...section.matchAll(/`([\w/-]+\.(?:ts|py))`/g)].map(([, path = '']) => `src/${path}`);
  expect(listed.sort()).toEqual(startersOf());
});

test.each([
  ['await import(name);', true],
  ['await import(pathToFileURL(file).href);', true],
  ["await import('../report/page.ts');", false],
  ["await import('webgpu');", false],
])('an import of a computed name is seen: %s', (code, isSeen) => {
  expect(COMPUTED_IMPORT.test(codeOf(code))).toBe(isSeen);
});

test.each([
  'import subprocess',
  '    os.fork()',
  'os.execve(path, words, env)',
  'module = importlib.import_module(name)',
  'exec(code, space)',
])('a line of Python that runs code is seen: %s', (line) => {
  expect(PYTHON_RUNNERS.test(line)).toBe(true);
});

test.each(['import importlib.util', 'model.eval()', 'def exec_module(self, module):', 'self.exec(1)'])(
  'a line of Python that runs none is not: %s',
  (line) => {
    expect(PYTHON_RUNNERS.test(line)).toBe(false);
  },
);
