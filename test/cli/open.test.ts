import { expect, test } from 'vitest';
import { isProblem } from '../../src/cli/context.ts';
import { openHere } from '../../src/cli/open.ts';
import { makeWorld, pythonCollate } from './world.ts';

test('a folder and an environment are enough to open a trainer, as in `npm test`', async () => {
  const world = makeWorld();
  world.write('my adapter.py', pythonCollate());
  world.write('trainproof.config.json', '{"semantics": {"kl_estimator": "k3"}}');
  const opened = await openHere({
    cwd: world.folder,
    env: { TRAINPROOF_TRAINER: "python3 'my adapter.py'" },
  });
  if (isProblem(opened)) throw new Error(opened.problem);
  await opened.trainer.stop();
  expect(opened.trainer.hello.name).toBe('tiny');
  expect(opened.semantics).toEqual({ kl_estimator: 'k3' });
  expect(opened.tokenizer).toBeUndefined();
});

test('a trainer that does not start is a problem that names it and what to do', async () => {
  const world = makeWorld();
  const opened = await openHere({ cwd: world.folder, env: { TRAINPROOF_TRAINER: 'no-such-program' } });
  expect(opened).toEqual({ problem: expect.stringMatching(/^no-such-program did not start\n.+\n.+/) });
});

test('a tokenizer folder without a tokenizer.json is one line and exit 2', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', '--tokenizer', '.', '--', 'python3', 'adapter.py')).toBe(2);
  expect(world.err()).toMatch(/^trainproof: .*tokenizer\.json.*\n$/);
});
