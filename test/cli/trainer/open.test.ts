import { expect, test } from 'vitest';
import { openTrainer } from '../../../src/cli/test-runner/setting.ts';
import { makeWorld, pythonCollate } from '../world.ts';

test('a folder and an environment are enough to open a trainer, as in `npm test`', async () => {
  const world = makeWorld();
  world.write('my adapter.py', pythonCollate());
  world.write('lossproof.config.json', '{"semantics": {"kl_estimator": "k3"}}');
  const trainer = await openTrainer(undefined, {
    cwd: world.folder,
    env: { LOSSPROOF_TRAINER: "python3 'my adapter.py'" },
  });
  await trainer.stop();
  expect(trainer.hello.name).toBe('tiny');
  expect(trainer.setting.semantics).toEqual({ kl_estimator: 'k3' });
  expect(trainer.setting.tokenizer).toBeUndefined();
});

test('a trainer that does not start is an error that names it and what to do', async () => {
  const world = makeWorld();
  const opening = openTrainer(undefined, {
    cwd: world.folder,
    env: { LOSSPROOF_TRAINER: 'no-such-program' },
  });
  await expect(opening).rejects.toMatchObject({
    code: 'ERR_TRAINER_OPEN',
    message: expect.stringMatching(/^no-such-program did not start\n.+\n.+/),
  });
});

test('in a folder that names no trainer there is none: the bundled example is not the trainer of the user', async () => {
  const world = makeWorld();
  await expect(openTrainer(undefined, { cwd: world.folder, env: {} })).rejects.toThrow(
    'no trainer is named: `npx lossproof init` writes lossproof.config.json',
  );
});

test('a command is typed as one text or as words, and its quotes must close', async () => {
  const world = makeWorld();
  world.write('my adapter.py', pythonCollate());
  for (const command of ["python3 'my adapter.py'", ['python3', 'my adapter.py']]) {
    const trainer = await openTrainer(command, { cwd: world.folder, env: {} });
    await trainer.stop();
    expect(trainer.hello.name).toBe('tiny');
  }
  await expect(openTrainer("python3 'my", { cwd: world.folder, env: {} })).rejects.toThrow('not closed');
});

test('a tokenizer folder without a tokenizer.json is one line and exit 2', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', '--tokenizer', '.', '--', 'python3', 'adapter.py')).toBe(2);
  expect(world.err()).toMatch(/^lossproof: .*tokenizer\.json.*\n$/);
});
