import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withoutEnv } from '../../src/trainer/child.ts';
import { patienceAfter, startTrainer } from '../../src/trainer/process.ts';
import { FOLDER, startFailure } from './misbehave.ts';

test.each([
  ['at once', 100, 10_000],
  ['in a while', 8_200, 25_000],
  ['after minutes', 600_000, 120_000],
])('an op of a trainer that starts %s is waited for accordingly', (_, start, milliseconds) => {
  expect(patienceAfter(start)).toBe(milliseconds);
});

describe('a trainer that does not start', () => {
  test('a command that is not there is named, with what to check', async () => {
    const start = await startTrainer({ command: ['no-such-python', 'adapter.py'] });
    expect(start).toEqual({
      failure: {
        kind: 'start',
        message: 'The command "no-such-python" was not found.',
        advice: 'Check the spelling, activate the environment that has it, or write its full path.',
      },
    });
  });

  test('a file that is not executable says how to run it', async () => {
    const file = join(FOLDER, 'plain.py');
    const start = await startTrainer({ command: [file] });
    expect(start).toMatchObject({
      failure: {
        kind: 'start',
        message: `The file "${file}" is not executable.`,
        advice: `Run it through its interpreter (python ${file}), or make it executable (chmod +x ${file}).`,
      },
    });
  });

  test('a working folder that is not there is told apart from a missing command', async () => {
    const start = await startTrainer({ command: ['python3', '-V'], cwd: '/no/such/folder' });
    expect(start).toMatchObject({
      failure: { kind: 'start', message: 'The working folder of the trainer does not exist.' },
    });
  });

  test('no command at all is a failure, not an exception', async () => {
    const start = await startTrainer({ command: [] });
    expect(start).toMatchObject({ failure: { kind: 'start', message: 'No trainer command was given.' } });
  });

  test('a trainer that exits at once is said to have exited, without waiting for the deadline', async () => {
    expect(await startFailure('hello/exits_at_once')).toMatchObject({
      kind: 'start',
      exitCode: 0,
      message: 'The trainer exited (code 0) before it said hello.',
      advice:
        'End the adapter with lossproof.serve(name="my-trainer"), outside of every condition; without the SDK, with a loop over sys.stdin.',
    });
  });

  test('a trainer that dies at import shows the end of its traceback', async () => {
    const failure = await startFailure('hello/dies_at_import');
    expect(failure).toMatchObject({
      kind: 'start',
      exitCode: 1,
      message:
        "The trainer exited with code 1 before it said hello. Its last words: ModuleNotFoundError: No module named 'a_package_that_nobody_has'",
      advice: expect.stringMatching(
        /^python3 has no module a_package_that_nobody_has\. Name the Python that you train with .*PYTHONPATH\.$/,
      ),
    });
    expect(failure.traceback).toMatch(/^Traceback .*\n.*dies_at_import.py", line 5/);
    expect(failure.stderrTail).toContain('FutureWarning');
  });

  test('a file that is not there is left to what Python says of it', async () => {
    const start = await startTrainer({ command: ['python3', 'no-such-adapter.py'] });
    expect(start).toMatchObject({
      failure: {
        kind: 'start',
        advice: 'Correct what its last lines say; `lossproof doctor` tries it again.',
        stderrTail: expect.stringContaining('no-such-adapter.py'),
      },
    });
  });

  test('a ready-made adapter without its packages names --python and the packages', async () => {
    const code = "import sys; print('lossproof: trl is not installed.', file=sys.stderr); sys.exit(2)";
    const start = await startTrainer({ command: ['python3', '-c', code, 'lossproof.adapters.trl.grpo'] });
    expect(start).toMatchObject({
      failure: { advice: expect.stringMatching(/--python.*torch transformers trl/) },
    });
  });

  test('another protocol version is refused with a full sentence', async () => {
    expect(await startFailure('hello/wrong_protocol')).toMatchObject({
      kind: 'shape',
      message:
        'The trainer\'s hello is wrong: the trainer speaks protocol 2, this harness speaks protocol 1: answer hello with "protocol": 1, or use the lossproof release that speaks the trainer\'s.',
    });
  });

  test('a hello without ops says what is missing', async () => {
    expect(await startFailure('hello/no_ops')).toMatchObject({
      kind: 'shape',
      message: "The trainer's hello is wrong: hello.ops is missing.",
    });
  });

  test('a print before hello is quoted, with the way out', async () => {
    expect(await startFailure('hello/prints_first')).toMatchObject({
      kind: 'garbage',
      message: 'The trainer printed a line that is no answer where hello was due: Loading the model...',
      advice:
        'Put `import lossproof` at the top of the adapter, before what prints: from there on every print goes to stderr. In another language print to stderr.',
    });
  });
});

test('where there is no `env`, its words are variables of the process', () => {
  const command = ['env', 'LOSSPROOF_TOKENIZER=C:\\my tok=1', 'A=', 'python.exe', '-m', 'x=y'];
  expect(withoutEnv(command, true)).toEqual({
    words: ['python.exe', '-m', 'x=y'],
    variables: { LOSSPROOF_TOKENIZER: 'C:\\my tok=1', A: '' },
  });
  expect(withoutEnv(command, false)).toEqual({ words: command, variables: {} });
  expect(withoutEnv(['python', 'A=b'], true)).toEqual({ words: ['python', 'A=b'], variables: {} });
});

test.each([
  [
    'import lossproof\n@lossproof.mask\ndef mask(**batch): ...\n',
    'an op is a function of its name under @lossproof.op',
  ],
  ['from lossproof import serv\n', "cannot import name 'serv'"],
  ['import lossproof\nlossproof.serv()\n', "did you mean 'serve'?"],
])('a name that our package lacks is not taken for another package: %j', async (adapter, words) => {
  const folder = mkdtempSync(join(tmpdir(), 'a slip ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'adapter.py'), adapter);
  const start = await startTrainer({ command: ['python3', 'adapter.py'], cwd: folder });
  const failure = 'failure' in start ? start.failure : undefined;
  expect(failure?.message).toContain(words);
  expect(failure?.advice).toContain('correct what the traceback says');
});

test('a file of the user that is called as our package is is named as the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'called lossproof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'lossproof.py'), '');
  writeFileSync(join(folder, 'adapter.py'), 'import lossproof\nlossproof.serve(name="x")\n');
  for (const command of [
    ['python3', 'adapter.py'],
    ['python3', '-m', 'lossproof.adapters.trl.grpo'],
  ]) {
    const start = await startTrainer({ command, cwd: folder });
    expect('failure' in start ? start.failure : start, command.join(' ')).toMatchObject({
      kind: 'start',
      advice: expect.stringContaining('rename a file or folder called lossproof'),
    });
  }
});
