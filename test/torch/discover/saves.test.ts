// torch writes its files in C++, of which no audit event tells: the system keeps it to the temporary folder.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

test('what is saved elsewhere is refused, and nothing is left behind', async () => {
  const world = makeWorld(properties);
  const left = join(world.folder, 'left.pt');
  const kl = (path: string): string =>
    `import torch\n\n\ndef kl_k3(logprobs, ref_logprobs):\n    torch.save({"x": torch.zeros(2)}, ${JSON.stringify(path)})\n    ratio = ref_logprobs - logprobs\n    return ratio.exp() - ratio - 1\n`;
  world.write('elsewhere.py', kl(left));
  world.write('inside.py', kl('own.pt'));
  await world.run(
    'discover',
    '.',
    '--python',
    join(PACKAGE_ROOT, '.venv/bin/python'),
    '--json',
    '--only',
    'kl',
  );
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  const { bound, uncalled } = parsed.ok as Record<'bound' | 'uncalled', readonly { readonly file: string }[]>;
  expect(bound.map(({ file }) => file)).toEqual([join(world.folder, 'inside.py')]);
  expect(uncalled.map(({ file }) => file)).toEqual([join(world.folder, 'elsewhere.py')]);
  expect(existsSync(left)).toBe(false);
});
