// Every command of the program, started so that nobody reads its standard output any more (`check | head -1`), or so that this is full.
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
import { pythonCollate } from './world.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

/** Loses the last id of each row. */
export const WRONG = ['--', 'python3', 'wrong.py'];
const RIGHT = ['--', 'python3', 'right.py'];
export const ONE = ['--only', 'collate/rows-survive', '--cases', '5', '--shrink-time', '1', '--seed', '3'];

interface Row {
  readonly argv: readonly string[];
  readonly code: number;
  /** It prints nothing, so that nothing is lost. */
  readonly silent?: true;
}

/** The words of each command, and the code that it exits with where its output is read. */
export const COMMANDS: Readonly<Record<string, Row>> = {
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
  session: { argv: [], code: 0, silent: true },
};

/** A folder in which each of them has what it needs; `remove` it. */
export async function prepared(): Promise<string> {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'right.py'), pythonCollate());
  writeFileSync(join(folder, 'wrong.py'), pythonCollate('[row[:-1] for row in rows]'));
  writeFileSync(join(folder, 'mine.py'), 'def kl(logprobs, ref_logprobs):\n    return logprobs\n');
  writeFileSync(join(folder, 'rows.jsonl'), '{"messages": [{"role": "user", "content": "a"}]}\n');
  const steps = [1, 2, 3, 4].map((step) => `{"step": ${step}, "loss": ${step === 1 ? '1' : 'NaN'}}\n`);
  writeFileSync(join(folder, 'log.jsonl'), steps.join(''));
  for (const argv of [
    ['check', '--shard', '1/1', ...ONE, ...WRONG],
    ['check', ...ONE, ...WRONG],
    ['golden', 'record', ...RIGHT],
  ])
    await ended(start(folder, argv));
  return folder;
}

/** What is wrong with each of these commands, by name: another exit code than its own, talk of a defect, a lock that stays. */
export async function troublesOf(
  folder: string,
  names: readonly string[],
  output: 'gone' | 'full',
): Promise<Readonly<Record<string, unknown>>> {
  const wrong: Record<string, unknown> = {};
  await pMap(
    names,
    async (name) => {
      const { argv, code, silent } = COMMANDS[name] ?? { argv: [], code: -1 };
      const cwd = emptyFolder();
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
      // Success promises that its output is whole.
      const expected = output === 'full' && silent === undefined ? code || 2 : code;
      if (how !== expected) wrong[name] = `${how}: ${text}`;
      if (text.includes('defect')) wrong[name] = text;
      if (existsSync(join(cwd, '.lossproof', 'last-run.ndjson.lock'))) wrong[name] = 'a lock stays';
      rmSync(cwd, { recursive: true, force: true });
    },
    { concurrency: 3 },
  );
  return wrong;
}

type Output = 'read' | 'gone' | 'full';

export function start(
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

export function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((done) => child.on('close', (code, signal) => done(signal ?? code)));
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'loss proof unread ü '));
}
