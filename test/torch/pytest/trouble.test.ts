// What stands in the way of `pytest --lossproof`: no Node, no adapter, a trainer that does not start; and kills, which leave
// neither engine nor trainer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../trainer/misbehave.ts';
import { makeFolder } from './pytest.ts';

test.each([
  [['--lossproof', 'right.py'], { PATH: '/nowhere' }, /^ERROR: lossproof: .*Node 20\.19 or later/m],
  [['--lossproof', 'nope.py'], {}, /^ERROR: --lossproof nope\.py: there is no such file in /m],
  [['--lossproof', '.'], {}, /^ERROR: --lossproof \.: this is a folder; name the file of your adapter/m],
  [['--lossproof', 'docker run x'], {}, /^ERROR: .*no file of yours stands in this command/m],
  [['--lossproof'], {}, /^ERROR: --lossproof names no trainer, and no lossproof\.config\.\* stands in /m],
  [
    ['--lossproof', 'right.py'],
    { LOSSPROOF_SEED: 'x' },
    /^ERROR: LOSSPROOF_SEED is 'x'; it must be a whole/m,
  ],
  [['--lossproof', 'right.py', '--lossproof-cases', '0'], {}, /^ERROR: --lossproof-cases must be a whole/m],
])('pytest %j %j is a usage error in one sentence', async (argv, env, sentence) => {
  const { code, out } = await makeFolder().pytest(argv, env);
  expect(code).toBe(4);
  expect(out).toMatch(sentence);
  expect(out).not.toMatch(/Traceback|INTERNALERROR/);
});

test('an adapter that does not start is an error of collection, with its own last words', async () => {
  const folder = makeFolder();
  folder.write('broken.py', 'import nothing_here\n');
  const { code, out } = await folder.pytest(['--lossproof', 'broken.py']);
  expect(code).toBe(2);
  expect(out).toMatch(/^ERROR broken\.py/m);
  expect(out).toContain("ModuleNotFoundError: No module named 'nothing_here'");
  expect(out).not.toContain('INTERNALERROR');
});

test('an adapter that dies fails its properties, and pytest goes on', async () => {
  const folder = makeFolder();
  folder.write(
    'dies.py',
    'import os\nimport lossproof\n\n\n@lossproof.op\ndef mask(prompt_ids):\n    os._exit(3)\n\n\nlossproof.serve(name="dies")\n',
  );
  const { code, out } = await folder.pytest([
    '--lossproof',
    'dies.py',
    '--lossproof-only',
    'mask',
    '--tb=line',
  ]);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAILED dies\.py::mask::is-zero-or-one - error: /m);
});

test.each([
  ['SIGKILL', []],
  ['SIGTERM', []],
  ['SIGINT', []],
  ['SIGKILL', ['-n', '2']],
] as const)('%s with %j leaves neither engine nor trainer', async (signal, more) => {
  const folder = makeFolder();
  folder.write('slow.py', SLOW);
  const asked = ['--lossproof', 'slow.py', '--lossproof-only', 'kl', '-q', ...more];
  const run = folder.start(asked, { PIDS: join(folder.path, 'pids') });
  await expect.poll(() => pidsIn(folder.path).length, { timeout: 120_000 }).toBe(more.length === 0 ? 2 : 4);
  const pids = pidsIn(folder.path);
  expect(pids.every(isAlive)).toBe(true);
  run.kill(signal);
  await expect.poll(() => pids.filter(isAlive), { timeout: 60_000 }).toEqual([]);
  await run.ran;
});

/** Asked for a KL, it writes down its own process and the engine's, and never answers. */
const SLOW = `
import os, time
import lossproof


@lossproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    with open(os.environ["PIDS"], "a") as file:
        file.write("%d %d\\n" % (os.getpid(), os.getppid()))
    time.sleep(600)


lossproof.serve(name="slow", layout={"alignment": "token", "span": "row"})
`;

function pidsIn(folder: string): number[] {
  try {
    return [...readFileSync(join(folder, 'pids'), 'utf8').matchAll(/\d+/g)].map(Number);
  } catch {
    return [];
  }
}
