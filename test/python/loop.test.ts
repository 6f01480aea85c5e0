import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { adapter, lines, python } from './adapter.ts';

const ECHO = `import lossproof
@lossproof.op
def advantages(rewards): return {"advantages": rewards}
lossproof.serve(name="a")`;

const asked = (count: number, size = 1) =>
  Array.from({ length: count }, (_, at) => ({
    op: 'advantages',
    args: { rewards: Array<number>(size).fill(at), group_ids: [] },
  }));

test('thousands of pipelined requests are answered in order', async () => {
  const { answers } = await python(['-c', ECHO], lines(asked(5000)));
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 5000 }, (_, at) => at + 1));
  expect(answers[4321]?.ok).toEqual({ advantages: [4321] });
});

test('requests longer than a pipe are put together again', async () => {
  const { answers } = await python(['-c', ECHO], lines(asked(3, 100_000)));
  expect(answers.map(({ ok }) => (ok?.advantages as number[] | undefined)?.length)).toEqual([
    100_000, 100_000, 100_000,
  ]);
});

test('a last line without a line end is answered, and the end of input is the end', async () => {
  const { answers, exitCode } = await python(['-c', ECHO], lines(asked(1)).trimEnd());
  expect(answers).toHaveLength(1);
  expect(exitCode).toBe(0);
});

test('a line that is no request is an error without an id, and the next one is answered', async () => {
  const { answers } = await python(['-c', ECHO], `garbage\n${lines(asked(1))}`);
  expect(answers[0]?.id).toBeNull();
  expect(answers[0]?.error?.message).toContain('JSONDecodeError');
  expect(answers[1]?.ok).toEqual({ advantages: [0] });
});

test('a function that reads standard input gets nothing and takes no request away', async () => {
  const { answers } = await adapter(
    `
import sys
@lossproof.op
def advantages(): return {"advantages": [len(sys.stdin.read())]}
lossproof.serve(name="a")`,
    asked(2),
  );
  expect(answers.map(({ ok }) => ok)).toEqual([{ advantages: [0] }, { advantages: [0] }]);
});

test('SIGINT leaves the adapter alone, SIGTERM ends it', async () => {
  const child = execa('python3', ['-c', ECHO], {
    reject: false,
    env: { PYTHONPATH: fileURLToPath(new URL('../../src/python', import.meta.url)) },
  });
  const answer = async (): Promise<string> =>
    new Promise((resolve) => child.stdout?.once('data', (chunk) => resolve(String(chunk))));
  child.stdin?.write(lines(asked(1)));
  expect(await answer()).toContain('"id":1');
  child.kill('SIGINT');
  child.stdin?.write(lines(asked(1)));
  expect(await answer()).toContain('"ok"');
  child.kill('SIGTERM');
  expect((await child).signal).toBe('SIGTERM');
});

test('at a terminal the adapter says in one sentence how to run it', async () => {
  const pty = `
import os, pty, sys
out = []
code = pty.spawn([sys.executable, "-c", ${JSON.stringify(ECHO)}])
sys.exit(os.waitstatus_to_exitcode(code))`;
  const { stdout, exitCode } = await python(['-c', pty], '');
  expect(stdout).toContain('lossproof check -- python');
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(exitCode).toBe(2);
});
