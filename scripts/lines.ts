// `npm run lines`: how large the house is, by floor, from the files that git tracks. `lines` counts every line of code files;
// TypeScript, Python and other (JavaScript, CSS, shell) leave out blank lines and comments. Data and documents do not count.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { PACKAGE_ROOT } from '../src/version.ts';

type Language = 'TypeScript' | 'Python' | 'other';

const LANGUAGES: Readonly<Record<string, Language>> = {
  '.ts': 'TypeScript',
  '.py': 'Python',
  '.js': 'other',
  '.mjs': 'other',
  '.css': 'other',
  '.sh': 'other',
};

const PRODUCT = 'src and properties';
if (import.meta.filename === process.argv[1]) process.stdout.write(`${table().join('\n')}\n`);

/** Lines that are neither blank nor only a comment. Python's docstrings are comments, its other long strings are code. */
export function codeLines(text: string, language: Language): number {
  return language === 'Python' ? pythonLines(text) : otherLines(text);
}

// --- helpers ---

function table(): readonly string[] {
  const floors = new Map<string, Record<'files' | 'lines' | Language, number>>();
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: PACKAGE_ROOT, encoding: 'utf8' });
  for (const path of tracked.split('\0').filter((each) => existsSync(join(PACKAGE_ROOT, each)))) {
    const language = LANGUAGES[extname(path)];
    if (language === undefined) continue;
    const text = readFileSync(join(PACKAGE_ROOT, path), 'utf8');
    for (const name of floorsOf(path)) {
      const row = floors.get(name) ?? { files: 0, lines: 0, TypeScript: 0, Python: 0, other: 0 };
      row.files += 1;
      row.lines += text.split('\n').length - 1;
      row[language] += codeLines(text, language);
      floors.set(name, row);
    }
  }
  const rows = [
    ['floor', 'files', 'lines', 'TypeScript', 'Python', 'other'],
    ...[...floors].map(([name, row]) => [name, ...Object.values(row).map(String)]),
  ];
  return rows.map(
    ([name = '', ...cells]) => name.padEnd(24) + cells.map((cell) => cell.padStart(12)).join(''),
  );
}

function floorsOf(path: string): readonly string[] {
  const [room = '', folder = '', ...below] = path.split('/');
  if (room === 'src') return [below.length === 0 ? 'src' : `src/${folder}`, PRODUCT];
  return room === 'properties' ? [room, PRODUCT] : [room];
}

function otherLines(text: string): number {
  let inComment = false;
  return text.split('\n').filter((line) => {
    const bare = line.trim();
    const isComment = inComment || bare.startsWith('/*');
    inComment = isComment && !bare.includes('*/');
    return bare !== '' && !isComment && !/^(\/\/|#[ !])/.test(bare);
  }).length;
}

function pythonLines(text: string): number {
  let open: 'docstring' | 'string' | undefined;
  return text.split('\n').filter((line) => {
    const bare = line.trim();
    const here = open ?? (/^r?"""/.test(bare) ? 'docstring' : 'string');
    const isInside = open !== undefined;
    if (bare.split('"""').length % 2 === 0) open = isInside ? undefined : here;
    return bare !== '' && here !== 'docstring' && (isInside || !bare.startsWith('#'));
  }).length;
}
