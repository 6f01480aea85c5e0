// The house as ARCHITECTURE.md draws it: which floor may import which, who starts processes, who touches the disk.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, importsOf, ROOT, sources } from './house.ts';

const LINE_LIMIT = 320;

/** All that properties are judged with. */
const JUDGED = [
  'protocol',
  'trainer',
  'tokenizers',
  'reference',
  'generators',
  'kernel',
  'checkpoints',
  'check',
];
/** What `src/index.ts` hands on to properties, and `properties/library.ts` to users. */
const NAMED = [...JUDGED, 'trace', 'monitor', 'gap', 'cli'];

/** Floor: floors it may import. Each may import itself, `vocabulary`, `version`, `visible`, `outside` and `bounds`. */
const FLOORS: Record<string, readonly string[]> = {
  vocabulary: [],
  version: [],
  visible: [],
  outside: [],
  bounds: [],
  protocol: [],
  trainer: ['protocol'],
  tokenizers: [],
  reference: [],
  kernel: ['reference'],
  checkpoints: ['reference'],
  generators: ['tokenizers'],
  check: ['trainer', 'protocol', 'tokenizers', 'reference', 'generators', 'kernel', 'checkpoints'],
  bugs: [],
  view: ['tokenizers', 'check'],
  trace: ['check', 'protocol', 'tokenizers', 'view'],
  twin: ['protocol', 'tokenizers', 'trace'],
  golden: ['check', 'trainer', 'protocol', 'tokenizers'],
  monitor: ['check', 'protocol', 'tokenizers'],
  gap: ['monitor'],
  mutate: ['check', 'trainer'],
  discover: ['check', 'trainer', 'protocol'],
  report: [
    'check',
    'trainer',
    'protocol',
    'bugs',
    'view',
    'trace',
    'twin',
    'golden',
    'monitor',
    'gap',
    'mutate',
    'discover',
  ],
  index: NAMED,
  cli: [
    ...JUDGED,
    'report',
    'bugs',
    'view',
    'trace',
    'twin',
    'golden',
    'monitor',
    'gap',
    'mutate',
    'discover',
    'index',
    'properties',
  ],
  properties: ['index'],
  library: [...NAMED, 'properties'],
};
const PURE = new Set(['reference', 'vocabulary']);

function floorOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  if (path === 'properties/library.ts') return 'library';
  return top === 'properties' ? 'properties' : second.replace(/\.ts$/, '');
}

describe('imports', () => {
  test.each(sources)('%s imports only floors below it', (path) => {
    const floor = floorOf(path);
    const allowed = new Set([
      floor,
      'vocabulary',
      ...(PURE.has(floor) ? [] : ['version', 'visible', 'outside', 'bounds']),
      ...(FLOORS[floor] ?? []),
    ]);
    for (const { from } of importsOf(path)) {
      if (!from.startsWith('.')) continue;
      const target = relative(ROOT, resolve(ROOT, dirname(path), from));
      expect(allowed, `${path} imports ${target}`).toContain(floorOf(target));
    }
  });

  test('only trainer/child.ts and what ends processes start any, and cli/outputs/browser.ts the browser', () => {
    const starters = sources.filter((path) =>
      importsOf(path).some(
        ({ from, typeOnly }) => !typeOnly && (from === 'execa' || from === 'node:child_process'),
      ),
    );
    for (const path of starters)
      expect(path).toMatch(
        /^src\/(trainer\/(child|processes\/(watchman|orphans))|cli\/outputs\/browser)\.ts$/,
      );
  });

  test('only cli, the corpus, golden files, files from outside, logs, the memory of processes, tokenizers, checkpoints, assets of the page and the version touch the disk', () => {
    const touching = sources.filter((path) => importsOf(path).some(({ from }) => from.startsWith('node:fs')));
    for (const path of touching)
      expect(path).toMatch(
        /^src\/(cli\/|tokenizers\/|checkpoints\/folder\.ts|check\/saved\/corpus\.ts|outside\/(file|folder|temporary)\.ts|golden\/folder\.ts|monitor\/files\.ts|trainer\/processes\/proc\.ts|report\/html\/page\/assets\.ts|version\.ts)/,
      );
  });

  test('the SDK of MCP is loaded by its command alone, when it runs', () => {
    const of = (wanted: RegExp): string[] =>
      sources.filter((path) => importsOf(path).some(({ from, typeOnly }) => !typeOnly && wanted.test(from)));
    expect(of(/^@modelcontextprotocol\//)).toEqual(['src/cli/mcp/server.ts']);
    expect(of(/\/server\.ts$/)).toEqual([]);
    expect(readFileSync(join(ROOT, 'src/cli/mcp/mcp.ts'), 'utf8')).toContain("await import('./server.ts')");
  });

  test('the reference depends on nothing but the vocabulary', () => {
    for (const path of sources.filter((each) => floorOf(each) === 'reference')) {
      for (const { from } of importsOf(path))
        expect(from.startsWith('.'), `${path} imports ${from}`).toBe(true);
    }
  });

  test('scripts that the compiler does not read import nothing of ours', () => {
    const plain = filesOf(['scripts', 'test'], ['.mjs', '.js']);
    expect(plain).not.toEqual([]);
    expect(plain.filter((path) => importsOf(path).some(({ from }) => /\/(dist|src)\//.test(from)))).toEqual(
      [],
    );
  });

  test('no file has grown beyond reading in one sitting', () => {
    const long = sources.filter(
      (path) => readFileSync(join(ROOT, path), 'utf8').split('\n').length > LINE_LIMIT,
    );
    expect(long).toEqual([]);
  });
});
