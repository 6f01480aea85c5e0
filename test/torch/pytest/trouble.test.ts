// What stands in the way of `pytest --lossproof`: no Node, no adapter, a trainer that does not start; and kills, which leave
// neither engine nor trainer.
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
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

test('a pytest that is older than the plugin runs as ever, and says so where it is asked for', async () => {
  const folder = makeFolder();
  const program = `
import inspect, sys, pytest
pytest.__version__ = "6.2.5"
from lossproof_door import pytest_plugin
from lossproof_door.under_pytest import _too_old
for module in (pytest_plugin, _too_old):
    hooks = [getattr(module, name) for name in dir(module) if name.startswith("pytest_") and name != "pytest_plugins"]
    print([str(inspect.signature(hook)) for hook in hooks])
sys.exit(pytest.main(["-p", "lossproof_door.pytest_plugin", *sys.argv[1:]]))`;
  const run = (...argv: string[]) => folder.python(['-c', program, ...argv]);
  folder.write('test_own.py', 'def test_own():\n    pass\n');
  const own = await run('test_own.py');
  expect(own.code, own.out).toBe(0);
  // Nothing that pytest 6 has not.
  expect(own.out).toContain("[]\n['(parser)', '(config)', '(collector, name, obj)']\n");
  const sentence = /lossproof: its plugin needs pytest 7 or later, and this is pytest 6\.2\.5; /;
  folder.write('test_mine.py', 'import lossproof\n\ntest_mine = lossproof.pytest.properties(only="mask")\n');
  folder.write('test_held.py', 'def test_held(lossproof_hold):\n    lossproof_hold("python3 right.py")\n');
  for (const [code, ...argv] of [
    [4, '--lossproof', 'right.py', '--lossproof-only', 'mask'],
    [2, 'test_mine.py'],
    [1, 'test_held.py'],
  ] as const) {
    const asked = await run(...argv);
    expect(asked.code, asked.out).toBe(code);
    expect(asked.out).toMatch(sentence);
    expect(asked.out).not.toMatch(/_too_old\.py:|Traceback/);
  }
  folder.write('pytest.ini', '[pytest]\nlossproof = right.py\n');
  expect((await run('test_own.py')).out).toMatch(sentence);
});

test('what is to be typed next is said as pytest has it', async () => {
  const folder = makeFolder();
  const trainers = { right: { trainer: 'python3 right.py' }, wrong: { trainer: 'python3 wrong.py' } };
  folder.write('lossproof.config.json', JSON.stringify({ trainers }));
  const several = await folder.pytest(['--lossproof', 'lossproof.config.json']);
  expect(several.code, several.out).toBe(2);
  expect(several.out).toContain('has several trainers; --lossproof-trainer NAME means one: "right", "wrong"');
  folder.write('lossproof.config.json', '{"corpus": false}');
  folder.write(
    'test_held.py',
    'def test_held(lossproof_hold):\n    lossproof_hold("python3 wrong.py", "mask/stop-token-is-trained-once")\n',
  );
  folder.write('slow.py', 'import time\n\ntime.sleep(60)\n');
  const slow = [
    '--lossproof',
    'slow.py',
    '--lossproof-hello-timeout',
    '0.5',
    '--continue-on-collection-errors',
  ];
  const { out } = await folder.pytest(['test_held.py', ...slow]);
  expect(out).toMatch(/^ {2}Reproduce {3}pytest --lossproof-seed 7$/m);
  expect(out).toContain('give slow imports more time (--lossproof-hello-timeout).');
  expect(out).not.toMatch(/npx|vitest/);
});

test('a Node that is there and cannot run is one sentence, whoever starts the engine', async () => {
  const folder = makeFolder();
  folder.write('node', 'no program');
  chmodSync(join(folder.path, 'node'), 0o755);
  folder.write('test_doors.py', DOORS);
  const env = { LOSSPROOF_NODE: join(folder.path, 'node') };
  const { code, out } = await folder.pytest(['--lossproof', 'right.py', '--tb=short'], env);
  expect(code, out).toBe(2);
  const sentence = /(.*)\/node cannot be run: Exec format error; name another Node by LOSSPROOF_NODE$/;
  expect(out.split('\n').find((line) => line.startsWith('lossproof: /'))).toMatch(sentence);
  expect(out).not.toMatch(/OSError|Traceback|INTERNALERROR|subprocess\.py/);
  const doors = await folder.pytest(['test_doors.py', '--tb=short'], env);
  expect(doors.code, doors.out).toBe(0);
});

test('a keyword that means nothing is told with the nearest one, before anything is started', async () => {
  const folder = makeFolder();
  folder.write('test_keywords.py', KEYWORDS);
  // No Node is found: whatever starts the engine says that.
  const { code, out } = await folder.pytest(['test_keywords.py', '--tb=short'], {
    LOSSPROOF_NODE: '/nowhere',
  });
  expect(code, out).toBe(1);
  expect(out).toMatch(/ 1 failed, \d+ passed/);
  expect(out).toMatch(/^lossproof_hold has no option 'cass', did you mean 'cases'\?$/m);
});

const KEYWORDS = `
import inspect

import lossproof
import pytest


def mask(prompt_ids):
    return {}


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: lossproof.check({"mask": mask}, op_timout=3), r"^lossproof\\.check has no option 'op_timout', did you mean 'op_timeout'\\?$"),
        (lambda: lossproof.check("python3 a.py", op_timout=3), "did you mean 'op_timeout'"),
        (lambda: lossproof.check("python3 a.py", layout={}), "^layout is for functions; a command says it itself"),
        (lambda: lossproof.check({"mask": mask}, layuot={}), "did you mean 'layout'"),
        (lambda: lossproof.check({"mask": mask}, xyz=1), "^lossproof.check has no option 'xyz', it has only, level, "),
        (lambda: lossproof.check(mask), 'function mask.* is none of these\\. .* as {"mask": mask}$'),
        (lambda: lossproof.check(3), '^lossproof.check takes {"op": function}, a command as text or words, or nothing'),
        (lambda: lossproof.pytest.properties(onyl="mask"), "^lossproof.pytest.properties has no option 'onyl', did you mean 'only'"),
        (lambda: lossproof.pytest.trace("train.py", trainon="last"), "^lossproof.pytest.trace has no option 'trainon', did you mean 'train_on'"),
    ],
)
def test_call(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


def test_hold(lossproof_hold):
    lossproof_hold("python3 right.py", "mask", cass=3)


def test_names_are_those_of_serve():
    from lossproof_door._declared import SERVE

    assert set(SERVE) == set(inspect.signature(lossproof.serve).parameters) - {"name", "ops"}
`;

const DOORS = `
import lossproof
import pytest
from lossproof_door._node import NoNode


@pytest.mark.parametrize(
    "door",
    [
        lambda: lossproof.check({"mask": lambda prompt_ids: {}}),
        lambda: lossproof.check("python3 right.py"),
        lambda: lossproof.view([{"text": "a"}]),
        lambda: lossproof.pytest.trace("train.py"),
    ],
)
def test_door(door):
    with pytest.raises(NoNode, match="node cannot be run: Exec format error; name another Node by LOSSPROOF_NODE$"):
        door()


def test_no_such_folder():
    with pytest.raises(FileNotFoundError, match="gone"):
        lossproof.pytest.trace("train.py", cwd="gone")
`;

test('an adapter that does not start is an error of collection, with its own last words', async () => {
  const folder = makeFolder();
  folder.write('broken.py', 'import nothing_here\n');
  const { code, out } = await folder.pytest(['--lossproof', 'broken.py']);
  expect(code).toBe(2);
  expect(out).toMatch(/^ERROR broken\.py/m);
  expect(out).toContain("ModuleNotFoundError: No module named 'nothing_here'");
  expect(out).not.toContain('INTERNALERROR');
});

test('an adapter that pytest imports is told in one sentence, and has taken nothing', async () => {
  const folder = makeFolder();
  for (const name of ['right.py', 'wrong.py']) rmSync(join(folder.path, name));
  const adapter = 'import lossproof\n\n\n@lossproof.op\ndef mask(prompt_ids):\n    pass\n\n\n';
  folder.write('test_adapter.py', `${adapter}lossproof.serve(name="mine")\n`);
  folder.write('mine.py', `${adapter}lossproof.serve(name="mine")\n`);
  folder.write('guarded.py', `${adapter}if __name__ == "__main__":\n    lossproof.serve(name="mine")\n`);
  folder.write('test_taken.py', TAKEN);
  const { code, out } = await folder.pytest(['--doctest-modules', '--continue-on-collection-errors', '-v']);
  expect(code, out).toBe(1);
  expect(
    out.match(/^lossproof\.serve\(\) answers a harness .* and here pytest has imported it;/gm),
  ).toHaveLength(3);
  expect(out).toMatch(/^ERROR test_adapter\.py/m);
  expect(out).toMatch(/^ERROR mine\.py/m);
  expect(out).toContain('test_taken.py::test_taken PASSED');
  expect(out).not.toMatch(/Traceback|INTERNALERROR|guarded\.py - /);
});

/** Ctrl-C is as it was, and an adapter that a test starts by hand still answers. */
const TAKEN = `
import signal, subprocess, sys


def test_taken():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    asked = b'{"id": 1, "op": "hello", "args": {}}\\n'
    assert b'"name":"mine"' in subprocess.run([sys.executable, "mine.py"], input=asked, stdout=subprocess.PIPE).stdout
`;

test('an adapter that is named is not imported for doctests', async () => {
  const asked = ['--lossproof', 'right.py', '--lossproof-only', 'mask/is-zero-or-one', 'right.py', '-v'];
  const folder = makeFolder();
  const right = readFileSync(join(folder.path, 'right.py'), 'utf8');
  folder.write('right.py', `if __name__ != "__main__":\n    open("imported", "w").close()\n${right}`);
  const { code, out } = await folder.pytest([...asked, '--doctest-modules']);
  expect(code, out).toBe(0);
  expect(out).toContain('1 passed');
  expect(existsSync(join(folder.path, 'imported'))).toBe(false);
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
