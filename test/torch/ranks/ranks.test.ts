// An adapter of two processes, as torchrun starts it: right, everything holds; with one fault, the property of that fault says
// so; and however a rank fails, it is told which one, and nobody is left.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import type { Args } from '../../../src/index.ts';
import { startTrainer, type TrainerOptions } from '../../../src/trainer/process.ts';
import { tellStrays } from '../../../src/trainer/processes/strays.ts';
import type { Trainer } from '../../../src/trainer/trainer.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Checked, checked, having } from '../checked.ts';

const TORCHRUN = join(PACKAGE_ROOT, '.venv', 'bin', 'torchrun');
const FAULTY = join(PACKAGE_ROOT, 'test', 'torch', 'ranks', 'faulty.py');
const COMMAND = [TORCHRUN, '--nproc-per-node', '2'];
/** Others may be at work on this machine; only a hang takes as long as it may. */
const OP_MILLISECONDS = 30_000;
/** torch is imported meanwhile. */
const WAIT = { timeout: 60_000, interval: 50 };
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

const check = (fault: string, ...ids: string[]): Promise<Checked> =>
  checked(
    [
      ...['--seed', '1', '--cases', '30', '--op-timeout', '30'],
      ...ids.flatMap((id) => ['--only', id]),
      ...['--', ...COMMAND, FAULTY],
    ],
    { env: { FAULT: fault } },
  );

test('the example, as it stands, holds in two processes', async () => {
  const { exitCode, results, out } = await checked(['--seed', '1', '--', ...COMMAND, 'adapter.py'], {
    cwd: join(PACKAGE_ROOT, 'docs', 'example', 'ranks'),
  });
  expect(exitCode, out).toBe(0);
  expect(having(results, 'pass')).toEqual(
    expect.arrayContaining(['loss/independent-of-ranks', 'loss/equals-the-declared-formula']),
  );
});

test.each([
  ['local', 'loss/independent-of-ranks', /^loss changes from \S+ to \S+ when the ranks have other rows/],
  ['summed', 'loss/equals-the-declared-formula', /^The loss is (\S+); the declared formula gives/],
  ['empty', 'loss/finite-on-finite-input', /^loss is NaN, although/],
  ['seed', 'loss/independent-of-ranks', /when each rank has the rows of the next one, \[1 \| 0\]/],
  ['uneven', 'loss/independent-of-ranks', /when the ranks have other rows|when one rank has all rows/],
])('a trainer with fault %s fails %s', async (fault, id, sentence) => {
  const { exitCode, results, out } = await check(fault, id);
  expect(exitCode, out).toBe(1);
  expect(having(results, 'fail'), out).toEqual([id]);
  expect(results.find((result) => result.id === id)?.failure?.finding?.sentence).toMatch(sentence);
});

/** Two rows, one on each rank. */
const ROWS: Args<'loss'> = {
  logprobs: [
    [0, -1, -2],
    [0, -1, -1],
  ],
  old_logprobs: [
    [0, -1, -2],
    [0, -1, -1],
  ],
  ref_logprobs: [
    [0, -1, -2],
    [0, -1, -1],
  ],
  completion_mask: [
    [0, 1, 1],
    [0, 1, 0],
  ],
  prompt_width: 1,
  advantages: [1, 3],
  micro_batches: [[0, 1]],
};

/** Asks the trainer with this fault; afterwards no process of its command may be there. */
async function withFault(
  fault: string,
  body: (trainer: Trainer) => Promise<void>,
  options: Partial<TrainerOptions> = {},
): Promise<void> {
  tellStrays();
  const start = await startTrainer({
    command: [...COMMAND, FAULTY],
    env: { FAULT: fault },
    opMilliseconds: OP_MILLISECONDS,
    ...options,
  });
  if ('failure' in start) throw new Error(`${start.failure.message}\n${start.failure.stderrTail}`);
  try {
    await body(start.trainer);
  } finally {
    await start.trainer.stop();
  }
  expect(left()).toEqual([]);
}

/** [process, command line] of what is left, torchrun's and those of its ranks. */
const alive = (): [number, string][] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid): [number, string] => {
      try {
        return [Number(pid), readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [Number(pid), '']; // it has ended meanwhile
      }
    })
    .filter(([, command]) => command.includes(FAULTY) && !command.includes(MAIN));
const left = (): string[] => alive().map(([, command]) => command);

test('hello says how many ranks there are, every request which rows are whose, and a fresh start works', async () => {
  await withFault('slow', async (trainer) => {
    expect(trainer.hello.ops.loss).toEqual({ ranks: 2 });
    expect(trainer.line('loss', ROWS)).toContain('"ranks":[[0],[1]]');
    const right = { kind: 'ok', ok: { loss: expect.closeTo(-5 / 3, 5) } };
    expect(await trainer.ask('loss', ROWS)).toMatchObject(right);
    await trainer.restart();
    expect(await trainer.ask('loss', { ...ROWS, ranks: [[], [1, 0]] })).toMatchObject(right);
  });
  // All of them ended by themselves.
  expect(tellStrays()).toBeUndefined();
});

test.each([
  ['raise', { kind: 'error', message: "loss raised: KeyError: 'no such row' (on rank 1 of 2 alone)" }],
  ['raise-everywhere', { kind: 'error', message: "loss raised: KeyError: 'no such row'" }],
  [
    'reject',
    {
      kind: 'error',
      message:
        'loss raised: lossproof.Reject("too long") on rank 1 of 2 alone; raise it on every rank, or on none: they would wait for each other',
    },
  ],
])('%s is an error, and what is asked behind it is answered alike', async (fault, failure) => {
  await withFault(fault, async (trainer) => {
    const answers = await Promise.all([trainer.ask('loss', ROWS), trainer.ask('loss', ROWS)]);
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'failure', failure });
  });
});

test.each([
  ['reject-everywhere', { kind: 'reject', why: 'too long' }],
  ['skip-everywhere', { kind: 'skip', why: 'no such mode' }],
])('%s is one answer', async (fault, answer) => {
  await withFault(fault, async (trainer) => {
    expect(await trainer.ask('loss', ROWS)).toEqual(answer);
  });
});

test('a rank that ends is named', async () => {
  await withFault('exit', async (trainer) => {
    const answer = await trainer.ask('loss', ROWS);
    const failure = answer.kind === 'failure' ? answer.failure : undefined;
    expect(failure?.kind).toBe('crash');
    expect(failure?.message).toMatch(/First failure: rank 1 ended with exit code 3 first, says torchrun\./);
  });
});

test('a rank that hangs is a deadline missed, and all of them are ended', async () => {
  const milliseconds = 5_000;
  await withFault(
    'hang',
    async (trainer) => {
      const answer = await trainer.ask('loss', ROWS);
      expect(answer).toMatchObject({ kind: 'failure', failure: { kind: 'hang', reproduced: true } });
    },
    { opMilliseconds: milliseconds },
  );
});

test('a launcher that is killed takes its ranks along', async () => {
  await withFault('hang', async (trainer) => {
    const asked = trainer.ask('loss', ROWS);
    await vi.waitFor(() => expect(left()).toHaveLength(3), WAIT);
    const first = alive();
    for (const [pid, command] of first) if (command.includes(TORCHRUN)) process.kill(pid, 'SIGKILL');
    // Of these three alone: the request is tried in a fresh torchrun as soon as they are gone.
    const pids = new Set(first.map(([pid]) => pid));
    await vi.waitFor(() => expect(alive().filter(([pid]) => pids.has(pid))).toEqual([]), {
      timeout: 5_000,
      interval: 20,
    });
    await trainer.stop();
    await asked;
  });
});

test('Ctrl-C in a check leaves nobody, whatever a rank is at', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof ranks '));
  const words = ['check', '--no-corpus', '--op-timeout', '600', '--only', 'loss/independent-of-ranks'];
  const child = execa(process.execPath, [MAIN, ...words, '--', ...COMMAND, FAULTY], {
    cwd: folder,
    env: { FAULT: 'hang' },
    reject: false,
  });
  await vi.waitFor(() => expect(left()).toHaveLength(3), WAIT);
  child.kill('SIGINT');
  const { exitCode } = await child;
  expect(exitCode).toBe(130);
  // All were killed; the last may still be dying.
  await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 5_000, interval: 20 });
  rmSync(folder, { recursive: true });
});

test('what any rank prints is kept on standard error, and none takes a request', async () => {
  await withFault('print', async (trainer) => {
    for (let times = 0; times < 3; times++)
      expect(await trainer.ask('loss', ROWS)).toMatchObject({ kind: 'ok' });
    // What is printed comes by another pipe than what is answered.
    for (const rank of [0, 1])
      await expect.poll(() => trainer.stderrTail().split(`rank ${rank} of two`)).toHaveLength(4);
  });
});
