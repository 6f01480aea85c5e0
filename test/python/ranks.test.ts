// What several ranks say as one. What needs real processes is in test/torch/ranks/.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const OK = '"ok":{}';
const raised = (message: string, more = {}): string =>
  `"error":${JSON.stringify({ message, traceback: 'x', ...more })}`;

/** By rank; one that is missing has not come back. */
async function agreed(bodies: Readonly<Record<number, string>>, count: number): Promise<unknown> {
  const { stdout } = await execa(
    'python3',
    [
      '-c',
      `import json, sys
from lossproof._ranks import agreed
print("{" + agreed({int(rank): body for rank, body in json.loads(sys.argv[1]).items()}, int(sys.argv[2])) + "}")`,
      JSON.stringify(bodies),
      String(count),
    ],
    { env: { PYTHONPATH: fileURLToPath(new URL('../../src/python', import.meta.url)) } },
  );
  return JSON.parse(stdout);
}

test('where all of them answer, rank 0 speaks', async () => {
  expect(await agreed({ 0: '"ok":{"loss":1.0}', 1: OK }, 2)).toEqual({ ok: { loss: 1 } });
});

test('what all of them raise or decline is said as by one', async () => {
  expect(await agreed({ 0: raised('a'), 1: raised('b') }, 2)).toMatchObject({ error: { message: 'a' } });
  expect(await agreed({ 0: '"reject":"long"', 1: '"reject":"short"' }, 2)).toEqual({ reject: 'long' });
  expect(await agreed({ 0: '"skip":"none"', 1: '"skip":"none"' }, 2)).toEqual({ skip: 'none' });
});

test('what some of them raise is theirs, with the traceback of the first, whether the others are back or not', async () => {
  expect(await agreed({ 0: OK, 1: raised('a'), 2: raised('b') }, 3)).toEqual({
    error: { message: 'a (on ranks 1, 2 of 3 alone)', traceback: 'x' },
  });
  expect(await agreed({ 1: raised('a', { adapter: true }) }, 2)).toEqual({
    error: { message: 'a (on rank 1 of 2 alone)', traceback: 'x', adapter: true },
  });
  expect(await agreed({ 0: raised('a') }, 2)).toMatchObject({
    error: { message: 'a (on rank 0 of 2 alone)' },
  });
});

test('what rank 0 alone returned wrongly is no matter of ranks: nobody else was heard', async () => {
  expect(await agreed({ 0: '"error":{"message":"return a dict"}', 1: OK }, 2)).toEqual({
    error: { message: 'return a dict' },
  });
});

test('to decline on some ranks only is an error', async () => {
  expect(await agreed({ 0: OK, 1: '"skip":"no"' }, 2)).toEqual({
    error: {
      message:
        'lossproof.Skip("no") on rank 1 of 2 alone; raise it on every rank, or on none: they would wait for each other',
    },
  });
});

test('variables that a launcher left behind are named', async () => {
  const PYTHON = fileURLToPath(new URL('../../src/python', import.meta.url));
  const said = await execa(
    'python3',
    [
      '-c',
      `import lossproof, sys
sys.modules["torch"] = None
@lossproof.op
def kl(logprobs, ref_logprobs):
    return {"kl": logprobs}
lossproof.serve(name="alone")`,
    ],
    {
      env: { PYTHONPATH: PYTHON, RANK: '0', LOCAL_RANK: '0', WORLD_SIZE: '2' },
      input: '',
      reject: false,
    },
  );
  expect(said.exitCode).toBe(1);
  expect(said.stderr).toContain(
    'RANK, LOCAL_RANK and WORLD_SIZE say that this is rank 0 of 2; unset them where no launcher has set them',
  );
});
