// Every command of the program, with a standard output that nobody reads any more (`check | head -1`) and with one that is full:
// it works to its end and exits with its own code, except that success on a full output is no verdict. Nothing stays locked.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandNames } from './commands.ts';
import { pythonCollate } from './world.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

/** Loses the last id of each row. */
const WRONG = ['--', 'python3', 'wrong.py'];
const RIGHT = ['--', 'python3', 'right.py'];
const ONE = ['--only', 'collate/rows-survive', '--cases', '5', '--shrink-time', '1', '--seed', '3'];

interface Row {
  readonly argv: readonly string[];
  readonly code: number;
  /** It prints nothing, so that nothing is lost. */
  readonly silent?: true;
}

/** The words of each command, and the code that it exits with where its output is read. */
const COMMANDS: Readonly<Record<string, Row>> = {
  demo: { argv: ['--cases', '2'], code: 0 },
  init: { argv: ['--force'], code: 0 },
  discover: { argv: ['mine.py'], code: 1 },
  doctor: { argv: RIGHT, code: 0 },
  check: { argv: [...ONE, ...WRONG], code: 1 },
  replay: { argv: ['SAVED', ...WRONG], code: 1 },
  profile: { argv: RIGHT, code: 2 },
  mutate: { argv: ['--only', 'collate/rows-survive', '--cases', '5', ...RIGHT], code: 2 },
  'golden record': { argv: ['--dir', 'anew', ...RIGHT], code: 0 },
  'golden check': { argv: WRONG, code: 1 },
  'golden accept': { argv: ['--all', ...WRONG], code: 0 },
  trace: { argv: ['--', 'python3', '-c', 'pass'], code: 2 },
  monitor: { argv: ['log.jsonl'], code: 1 },
  view: { argv: ['rows.jsonl'], code: 2 },
  dataset: { argv: ['made.jsonl', '--form', 'chat', '--rows', '30'], code: 0 },
  report: { argv: [], code: 0 },
  merge: { argv: [], code: 1 },
  explain: { argv: ['mask'], code: 0 },
  list: { argv: [], code: 0 },
  completion: { argv: ['bash'], code: 0 },
  session: { argv: [], code: 0, silent: true },
};

let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loss proof unread ü '));
  writeFileSync(join(folder, 'right.py'), pythonCollate());
  writeFileSync(join(folder, 'wrong.py'), pythonCollate('[row[:-1] for row in rows]'));
  writeFileSync(join(folder, 'mine.py'), 'def kl(logprobs, ref_logprobs):\n    return logprobs\n');
  writeFileSync(join(folder, 'rows.jsonl'), '{"messages": [{"role": "user", "content": "a"}]}\n');
  const steps = [1, 2, 3, 4].map((step) => `{"step": ${step}, "loss": ${step === 1 ? '1' : 'NaN'}}\n`);
  writeFileSync(join(folder, 'log.jsonl'), steps.join(''));
  expect(await ended(start(folder, ['check', '--shard', '1/1', ...ONE, ...WRONG]))).toBe(1);
  expect(await ended(start(folder, ['check', ...ONE, ...WRONG]))).toBe(1);
  expect(await ended(start(folder, ['golden', 'record', ...RIGHT]))).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('each command of the program is one of those that are not read', () => {
  expect(Object.keys(COMMANDS).sort()).toEqual(commandNames());
});

test.each<{ readonly how: string; readonly codeOf: (code: number) => number; readonly output: Output }>([
  { how: 'has lost its reader', codeOf: (code) => code, output: 'gone' },
  { how: 'is full', codeOf: (code) => code || 2, output: 'full' },
])('a standard output that $how changes no verdict', { timeout: 600_000 }, async ({ codeOf, output }) => {
  const wrong: Record<string, unknown> = {};
  await pMap(
    Object.entries(COMMANDS),
    async ([name, { argv, code, silent }]) => {
      const cwd = mkdtempSync(join(tmpdir(), 'loss proof unread ü '));
      cpSync(folder, cwd, { recursive: true });
      const saved =
        readdirSync(join(cwd, '.lossproof', 'cases')).find((file) => file.endsWith('.json')) ?? '';
      const words = argv.map((word) => (word === 'SAVED' ? saved.replace('.json', '') : word));
      const child = start(cwd, [...name.split(' '), ...words], output);
      let text = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      const how = await ended(child);
      if (how !== (silent ? code : codeOf(code))) wrong[name] = `${how}: ${text}`;
      if (text.includes('defect')) wrong[name] = text;
      if (existsSync(join(cwd, '.lossproof', 'last-run.ndjson.lock'))) wrong[name] = 'a lock stays';
      rmSync(cwd, { recursive: true, force: true });
    },
    { concurrency: 3 },
  );
  expect(wrong).toEqual({});
});

test.each(['--version', '--help'])('%s that is not written whole is no success', async (word) => {
  expect(await ended(start(folder, [word], 'gone'))).toBe(0);
  expect(await ended(start(folder, [word], 'full'))).toBe(2);
});

test('a run whose outputs are both gone is judged to its end, and kept', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof unread ü '));
  cpSync(folder, cwd, { recursive: true });
  rmSync(join(cwd, '.lossproof'), { recursive: true });
  const child = start(cwd, ['check', ...ONE, ...WRONG], 'gone');
  child.stderr?.destroy();
  expect(await ended(child)).toBe(1);
  expect(readdirSync(join(cwd, '.lossproof')).sort()).toEqual([
    '.gitignore',
    'cases',
    'history.json',
    'last-run.ndjson',
  ]);
  rmSync(cwd, { recursive: true, force: true });
});

test('a session that cannot answer ends, while its input stays open', async () => {
  const child = start(folder, ['session'], 'gone', 'open');
  child.stdin?.write('this is no request\n');
  expect(await ended(child)).toBe(2);
});

type Output = 'read' | 'gone' | 'full';

function start(
  cwd: string,
  argv: readonly string[],
  output: Output = 'read',
  input: 'ends' | 'open' = 'ends',
): ChildProcess {
  const full = output === 'full' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['pipe', full ?? 'pipe', 'pipe'],
  });
  if (full !== undefined) closeSync(full);
  // Before the program has begun: its first word finds no reader.
  if (output === 'gone') child.stdout?.destroy();
  else child.stdout?.resume();
  if (input === 'ends') child.stdin?.end();
  child.stderr?.resume();
  return child;
}

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((done) => child.on('close', (code, signal) => done(signal ?? code)));
}
