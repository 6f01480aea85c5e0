// What a shard does on a node, with a stand-in for the engine and without Ray: what it needs there, where it runs, and that
// nothing of it outlives its worker.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const WORKER = fileURLToPath(new URL('worker.py', import.meta.url));
const VERSION = '9.9.9';

/** Says its version, and its Node as the command that pip installs does; else writes one event, starts a process of a group of its own, and does what `then` says. */
const engine = (then: string): string => `
const fs = require('node:fs');
const words = process.argv.slice(2);
if (words[0] === '--version') { console.log('${VERSION}\\nNode 22.0.0'); process.exit(0); }
const events = words[words.indexOf('--events') + 1];
const event = { words, cwd: fs.readdirSync('.').sort(), env: process.env.LOSSPROOF_X, python: process.env.PYTHONPATH };
const child = require('node:child_process').spawn('sleep', [process.env.LOSSPROOF_MARK], { detached: true });
fs.writeFileSync(events, JSON.stringify({ ...event, pids: [process.pid, child.pid] }) + '\\n');
${then}
`;

interface Answer {
  readonly here?: { readonly problem?: string };
  readonly home?: string;
  readonly written?: string;
  readonly end?: { readonly code: number | null; readonly why: string | null; readonly stderr: string };
}

function begin(then: string, more: object = {}, place = '', node = process.execPath) {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const main = join(folder, 'main.cjs');
  writeFileSync(main, engine(then));
  const taken = join(folder, 'taken');
  mkdirSync(join(taken, 'sub', '.lossproof', 'cases'), { recursive: true });
  writeFileSync(join(taken, 'adapter.py'), '');
  const environment = {
    LOSSPROOF_X: 'x',
    LOSSPROOF_MARK: String(100_000 + process.pid),
    LOSSPROOF_NODE: node,
  };
  const job = { place, options: ['--seed', '5'], adapter: ['python', 'adapter.py'], main, version: VERSION };
  const asked = { job: { ...job, environment, pythonpath: ['lib'], ...more }, shard: 2, shards: 3 };
  const answers: Answer[] = [];
  const child = execa('python3', [WORKER, JSON.stringify(asked)], {
    cwd: taken,
    env: { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') },
    reject: false,
    lines: true,
  });
  const ended = (async () => {
    for await (const line of child) answers.push(JSON.parse(line) as Answer);
    const { stderr } = await child;
    expect(stderr).toEqual([]);
  })();
  return { answers, ended, child, folder, taken };
}

const isRunning = (pid: number): boolean => {
  try {
    // Of a zombie, whoever should have taken it in is slow; it runs no more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Waited for as long as a test may take. */
const gone = async (pids: readonly number[], home: string): Promise<void> => {
  while (pids.some(isRunning) || existsSync(home)) await sleep(20);
};

const eventOf = (answers: readonly Answer[]) =>
  JSON.parse(answers.map(({ written }) => written ?? '').join('')) as {
    words: string[];
    cwd: string[];
    env: string;
    python: string;
    pids: number[];
  };

test('the engine is started on its shard, in a copy of the folder, and what it starts ends with it', async () => {
  const { answers, ended, taken } = begin(
    "console.error('said'); fs.writeFileSync('left', ''); process.exit(1);",
  );
  await ended;
  const { words, cwd, env, python, pids } = eventOf(answers);
  expect(words.slice(0, 3)).toEqual(['check', '--shard', '2/3']);
  expect(words.slice(-5)).toEqual(['--seed', '5', '--', 'python', 'adapter.py']);
  expect(words).toContain('--quiet');
  expect(cwd).toEqual(['adapter.py', 'sub']);
  expect(env).toBe('x');
  expect(python.split(':')[0]).toBe(join(taken, 'lib'));
  expect(answers.at(-1)?.end).toEqual({ code: 1, why: null, stderr: 'said' });
  expect(existsSync(join(taken, 'left'))).toBe(false);
  await gone(pids, answers[0]?.home ?? '');
});

test.runIf(process.platform === 'linux')('a worker that is killed takes everything along', async () => {
  const { answers, child, ended } = begin('setInterval(() => {}, 1000);');
  while (!answers.some(({ written }) => written !== undefined)) await sleep(50);
  const { pids } = eventOf(answers);
  expect(pids.every(isRunning)).toBe(true);
  child.kill('SIGKILL');
  await ended;
  await gone(pids, answers[0]?.home ?? '');
});

test('an engine that is killed says by what', async () => {
  const { answers, ended } = begin("process.kill(process.pid, 'SIGKILL');");
  await ended;
  expect(answers.at(-1)?.end).toEqual({ code: -9, why: null, stderr: '' });
});

test('in a folder below: saved cases are a copy, its neighbours are links', async () => {
  const { answers, ended, taken } = begin(
    "fs.writeFileSync('.lossproof/cases/mine', ''); fs.accessSync('../adapter.py'); process.exit(0);",
    {},
    'sub',
  );
  await ended;
  expect(answers.at(-1)?.end).toEqual({ code: 0, why: null, stderr: '' });
  expect(eventOf(answers).cwd).toEqual(['.lossproof']);
  expect(existsSync(join(taken, 'sub', '.lossproof', 'cases', 'mine'))).toBe(false);
});

test.each([
  [{ version: '1.0.0' }, /^has lossproof 9\.9\.9 \(.*main\.cjs\), and this one is 1\.0\.0; /],
  [{ main: '/nowhere/main.js' }, /^has no lossproof: neither \/nowhere\/main\.js nor `lossproof` on PATH; /],
  [{ place: 'elsewhere' }, /^the folder elsewhere was not taken along/],
])('%j: the node says what it lacks', async (more, problem) => {
  const { answers, ended } = begin('', more);
  await ended;
  expect(answers[0]?.here?.problem).toMatch(problem);
});

test('a Node.js that is too old is passed over for the one on PATH', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const old = join(folder, 'node');
  writeFileSync(old, '#!/bin/sh\necho v18.20.0\n');
  chmodSync(old, 0o755);
  const { answers, ended } = begin('process.exit(0);', {}, '', old);
  await ended;
  expect(answers.at(-1)?.end?.code).toBe(0);
});
