// The executable as a shell sees it: exit codes, signals, no process left behind. Run from the sources.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../trainer/misbehave.ts';
import {
  COLLATE as COLLATE_ROWS,
  EXTRACT,
  TRAINER as TRAINER_FILE,
  WORDS,
} from '../../trainer/misbehaving.ts';
import { pythonCollate } from '../world.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

function start(...argv: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'adapter.py'), TRAINER);
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  }
  const code = new Promise<number | null>((done) => void child.on('close', done));
  return { child, code, folder, text: () => text };
}

test('the bundled example holds and exits 0', async () => {
  const { code, text } = start('check', '--bundled', '--only', 'mask/*', '--cases', '10', '--seed', '3');
  expect(await code, text()).toBe(0);
  expect(text()).toMatch(/^lossproof \S+ · seed 3\nthe bundled example, not your trainer: \S+ -m lossproof/);
  const words = text().trimEnd().replaceAll(/\s+/g, ' ');
  expect(words).toMatch(/ the bundled example, not your trainer$/);
});

test('a usage error exits 2', async () => {
  const { code, text } = start('chekc');
  expect(await code).toBe(2);
  expect(text()).toBe('lossproof: unknown command \'chekc\', did you mean "check"?\n');
});

test('Ctrl-C prints the report and the seed, exits 130 and leaves no trainer', async () => {
  const { child, code, text, folder } = start(
    'check',
    ...COLLATE,
    '--seed',
    '3',
    '--cases',
    '100000',
    ...ADAPTER,
  );
  await until(() => text().includes('checking tiny'));
  child.kill('SIGINT');
  expect(await code, text()).toBe(130);
  expect(text()).toContain('interrupted: finishing the case in hand');
  expect(text()).toMatch(/interrupted · 1 property: 1 interrupted · seed 3/);
  expect(lives(folder)).toBe(false);
});

test.each(['SIGTERM', 'SIGHUP'] as const)(
  '%s prints what was found so far, exits 130 and leaves no trainer',
  async (signal) => {
    const found = [
      '--only',
      'collate/rows-survive,collate/*',
      '--seed',
      '3',
      '--cases',
      '100000',
      '--shrink-time',
      '1',
    ];
    const { child, code, text, folder } = start('check', ...found, '--rows', ...ADAPTER, 'wrong');
    await until(() => /fails +collate\//.test(text()));
    child.kill(signal);
    expect(await code, text()).toBe(130);
    expect(text()).toContain(`interrupted by ${signal}: finishing the case in hand`);
    expect(text()).toMatch(/\n✗ collate\/[\s\S]+Reproduce/);
    expect(text()).toMatch(/interrupted · \d+ properties: .*\d+ fails?, .*\d+ interrupted · seed 3/);
    expect(lives(folder)).toBe(false);
  },
);

test('a second signal, of either kind, does not wait', async () => {
  const { child, code, text, folder } = start('check', ...COLLATE, ...ADAPTER, 'hang');
  await until(() => text().includes('checking tiny'));
  child.kill('SIGTERM');
  await until(() => text().includes('finishing the case in hand'));
  child.kill('SIGINT');
  expect(await code, text()).toBe(130);
  await until(() => !lives(folder));
});

test('a second Ctrl-C does not wait for a trainer that hangs, and kills it', async () => {
  const { child, code, text, folder } = start('check', ...COLLATE, ...ADAPTER, 'hang');
  await until(() => text().includes('checking tiny'));
  child.kill('SIGINT');
  await until(() => text().includes('finishing the case in hand'));
  child.kill('SIGINT');
  expect(await code, text()).toBe(130);
  await until(() => !lives(folder));
});

test('Ctrl-C before hello exits 130 at once', async () => {
  const { child, code, text, folder } = start('check', ...COLLATE, ...ADAPTER, 'mute');
  await until(() => trainerOf(folder) !== undefined);
  child.kill('SIGINT');
  expect(await code, text()).toBe(130);
  expect(text()).toContain('interrupted before the trainer said hello');
  await until(() => !lives(folder));
});

test('a trainer that sends SIGTERM to the harness ends the run as anybody else would', async () => {
  const both = ['--only', `${EXTRACT},${COLLATE_ROWS}`];
  const { code, text } = start(
    'check',
    ...both,
    ...WORDS,
    '--',
    'python3',
    TRAINER_FILE,
    'kills the harness',
  );
  expect(await code, text()).toBe(130);
  expect(text()).toContain('interrupted by SIGTERM');
  expect(text()).toMatch(/holds +collate/);
});

const COLLATE = ['--only', 'collate/rows-survive'];
const ADAPTER = ['--', 'python3', 'adapter.py'];
const TRAINER = pythonCollate(
  '(time.sleep(60) or rows if "hang" in sys.argv else [row[:-1] for row in rows] if "wrong" in sys.argv else rows)',
  'import os, time\nopen("pid", "w").write(str(os.getpid()))\nif "mute" in sys.argv: time.sleep(60)',
);

/** A trainer killed between opening its file and writing it leaves no number, and 0 would be the tests' own group. */
function trainerOf(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function lives(folder: string): boolean {
  const pid = trainerOf(folder);
  if (pid === undefined) throw new Error('the trainer did not note its pid');
  return isAlive(pid);
}

async function until(test: () => boolean): Promise<void> {
  while (!test()) await sleep(20);
}
