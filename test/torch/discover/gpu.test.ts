// What needs a GPU is told so: none is shown to code under `discover`.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

test('a function that needs a GPU is named, with what it raised', async () => {
  const world = makeWorld(properties, { columns: 300 });
  const lines = ['import torch', '', '', 'def k3(logprobs, ref_logprobs):', '    return logprobs.cuda()'];
  world.write('needs.py', `${lines.join('\n')}\n`);
  const python = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
  expect(await world.run('discover', 'needs.py', '--python', python, '--only', 'kl')).toBe(2);
  expect(world.out()).toMatch(/– it needs a GPU, and none is shown to it: .*CUDA.*: k3 needs.py:4/);
});
