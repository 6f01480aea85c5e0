import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { readRequest } from '../../../src/cli/session/request.ts';
import { ADDS_NOTHING, DROPS_NOTHING, makeWorld, pythonCollate, WRONG } from '../world.ts';

type Line = Readonly<Record<string, unknown>> & { readonly id: number | null };

/** A session in a world of its own with a right and a wrong adapter. */
function startSession() {
  const needing = { ...ADDS_NOTHING, id: 'kl/adds-nothing', ops: ['kl'] as const };
  const world = makeWorld([DROPS_NOTHING, ADDS_NOTHING, needing]);
  world.write('right.py', pythonCollate());
  world.write('wrong.py', pythonCollate(WRONG));
  const input = new PassThrough();
  const code = runProgram(['session'], { ...world.context, input: () => input });
  const lines = (): Line[] =>
    world
      .out()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  const send = (request: object | string): void =>
    void input.write(`${typeof request === 'string' ? request : JSON.stringify(request)}\n`);
  return {
    world,
    code,
    input,
    lines,
    send,
    /** The answer to this request. */
    async ask(request: { readonly id: number; readonly do: string } & Readonly<Record<string, unknown>>) {
      send(request);
      const answers = (): Line[] =>
        lines().filter(({ id, event }) => id === request.id && event === undefined);
      await expect.poll(answers).toHaveLength(1);
      return answers()[0] as Line;
    },
  };
}

const openWrong = { id: 1, do: 'open', command: ['python3', 'wrong.py'], label: 'wrong.py', level: 'should' };

test('a trainer is opened, its properties are told with what is not supported, and a failure is explained', async () => {
  const { ask, input, code, lines, world } = startSession();
  expect((await ask(openWrong)).ok).toEqual({
    of: 1,
    trainer: 'tiny',
    cases: 100,
    strangers: [],
    stages: [
      {
        stage: 'collate',
        properties: [{ id: 'collate/drops-nothing', title: DROPS_NOTHING.title, level: 'must' }],
        unsupported: [],
      },
      {
        stage: 'mask',
        properties: [{ id: 'mask/adds-nothing', title: ADDS_NOTHING.title, level: 'should' }],
        unsupported: [],
      },
      {
        stage: 'kl',
        properties: [],
        unsupported: [
          {
            id: 'kl/adds-nothing',
            title: ADDS_NOTHING.title,
            level: 'should',
            why: expect.stringContaining('no op `kl`'),
          },
        ],
      },
    ],
  });
  const { ok } = await ask({ id: 2, do: 'check', of: 1, property: 'collate/drops-nothing', seed: 7 });
  expect(ok).toMatchObject({
    verdict: 'fail',
    fails: true,
    judged: true,
    sentence: 'In row 0 the ids are others.',
  });
  const { text, failure } = ok as { text: string; failure: { given: unknown } };
  expect((failure.given as number[][]).flat()).toContain(30);
  expect(text).toMatch(/Reproduce {3}npx lossproof replay \w{6}\n/);
  expect(lines().some(({ id, event }) => id === 2 && event !== undefined)).toBe(true);
  // Of several trainers of one test run, each has a folder of cases.
  expect(readdirSync(join(world.folder, '.lossproof', 'cases'))).toEqual(['wrong.py']);
  expect(
    (await ask({ id: 3, do: 'check', of: 1, property: 'mask/adds-nothing', seed: 7, cases: 5 })).ok,
  ).toMatchObject({
    verdict: 'pass',
    fails: false,
    cases: 5,
  });
  expect((await ask({ id: 4, do: 'stop', of: 1 })).ok).toEqual({});
  expect((await ask({ id: 5, do: 'stop', of: 1 })).problem).toBe('no trainer 1 is open');
  input.end();
  expect(await code).toBe(0);
});

test('all of it as one run: verdicts, the text of a terminal, and a piece of a page whose styles stay inside', async () => {
  const { ask, input, code, world } = startSession();
  await ask({ ...openWrong, keep: false });
  const { ok } = await ask({ id: 2, do: 'run', of: 1, seed: 7, cases: 30 });
  const { verdicts, text, html } = ok as { verdicts: { verdict: string }[]; text: string; html: string };
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['fail', 'pass', 'unsupported']);
  expect(text).toContain('In row 0 the ids are others.');
  expect(html).toContain('class="sentence">In row 0 the ids are others.');
  expect(html).toMatch(/^<div class="lossproof-cell"><style>\.lossproof-cell \{/);
  expect(html).not.toMatch(/<script|<html|<body|:root|(?:^|\n)\s*(?:body|html)[\s,]/);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
  input.end();
  await code;
});

test('a strict request is judged strictly, and a wait for answers is one that a timer can hold', () => {
  const started = { command: 'python3 right.py', strict: true, op_timeout: 5, hello_timeout: 0.5 };
  for (const request of [
    { id: 1, do: 'open', ...started },
    { id: 1, do: 'hold', seed: 7, ...started },
  ])
    expect(readRequest(JSON.stringify(request))).not.toHaveProperty('problem');
  expect(readRequest('{"id": 1, "do": "open", "strict": 1}')).toMatchObject({
    problem: 'strict must be true or false',
  });
  expect(readRequest('{"id": 1, "do": "open", "op_timeout": 3000000}')).toMatchObject({
    problem: 'op_timeout must be a number above 0, and at most 2000000',
  });
});

test('an assertion: holds, broken, or nothing is known', async () => {
  const { ask, input, code } = startSession();
  const held = (id: number, command: string, what: readonly string[]) =>
    ask({ id, do: 'hold', command, what, seed: 7, cases: 60, keep: false });
  expect((await held(1, 'python3 right.py', ['collate/*'])).ok).toMatchObject({ kind: 'holds' });
  expect((await held(2, 'python3 wrong.py', ['collate/*'])).ok).toMatchObject({
    kind: 'broken',
    words: expect.stringContaining('the ids are others'),
  });
  const unclear = await held(3, 'python3 right.py', ['collate/*', 'kl/adds-nothing']);
  expect(unclear.ok).toMatchObject({
    kind: 'unclear',
    words: expect.stringContaining('Nothing was checked of kl'),
  });
  input.end();
  await code;
});

test('what cannot be done is answered with a sentence, and the session goes on', async () => {
  const { ask, send, lines, input, code } = startSession();
  expect((await ask({ id: 1, do: 'open', command: 'python3 gone.py' })).problem).toContain('did not start');
  expect((await ask({ id: 2, do: 'open' })).problem).toContain('no trainer is named');
  expect((await ask({ id: 3, do: 'open', command: 'python3 right.py', only: ['colate'] })).problem).toContain(
    'collate',
  );
  await ask({ ...openWrong, id: 4 });
  const unsupported = await ask({ id: 5, do: 'check', of: 1, property: 'kl/adds-nothing', seed: 1 });
  expect(unsupported.problem).toBe(
    'kl/adds-nothing is none of the properties that this trainer is tested for',
  );
  send('{"id": 6');
  await expect
    .poll(() => lines().at(-1))
    .toEqual({ id: null, problem: 'this is not a line of JSON: {"id": 6' });
  input.end();
  expect(await code).toBe(0);
});

test.each([
  ['[]', 'a request is a JSON object'],
  ['{"do":"stop"}', 'a request has a number as its id'],
  ['{"id":1,"do":"chek"}', 'do is "chek"; it is one of open, check, run, hold, stop'],
  ['{"id":1,"do":"open","levl":"must"}', 'open has no levl, did you mean "level"?'],
  ['{"id":1,"do":"hold","__proto__":1}', 'hold has no __proto__'],
  ['{"id":1,"do":"open","level":"most"}', 'level must be must, should, may'],
  ['{"id":1,"do":"check","of":1,"property":"a/b"}', 'check needs seed'],
  [
    '{"id":1,"do":"check","of":1,"property":"a/b","seed":-1}',
    'seed must be a whole number from 0 to 2147483647',
  ],
])('%s is refused', (line, problem) => {
  expect(readRequest(line)).toMatchObject({ problem });
});
