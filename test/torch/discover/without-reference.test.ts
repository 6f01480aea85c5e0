// A preference loss that is handed what a reference says, and forgets it: the formula that is left is SimPO's, and no binding.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import type { Json } from '../../cli/discover/found.ts';
import { makeWorld } from '../../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

const loss = (name: string, margin: string): string => `import torch
import torch.nn.functional as F

def ${name}(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    return -F.logsigmoid(beta * (${margin})).mean()
`;

async function foundIn(text: string): Promise<Json> {
  const world = makeWorld(properties);
  world.write('trainer.py', text);
  await world.run('discover', 'trainer.py', '--only', 'preference_loss', '--python', PYTHON, '--json');
  return JSON.parse(world.out()) as Json;
}

test('DPO that reads no reference is shown, with the arguments that it forgets', async () => {
  const { bound, misfits } = await foundIn(loss('dpo_loss', 'chosen - rejected'));
  expect(bound).toEqual([]);
  const sentences = misfits.flatMap(({ broken }) => broken.map(({ sentence }) => sentence));
  expect(sentences.join(' ')).toContain(
    'It takes ref_chosen and ref_rejected, and nothing that it returns depends on them',
  );
});

test.each([
  ['DPO', loss('dpo_loss', 'chosen - rejected - ref_chosen + ref_rejected')],
  // One signature for all losses of a trainer.
  ['SimPO by name', loss('simpo_loss', 'chosen - rejected')],
])('%s is bound', async (_, text) => {
  const { bound, misfits } = await foundIn(text);
  expect(bound.map(({ op }) => op)).toEqual(['preference_loss']);
  expect(misfits).toEqual([]);
});

test('a formula that is none of the known ones: what to declare, and what that does', async () => {
  const { misfits } = await foundIn(loss('dpo_loss', 'chosen - rejected - ref_rejected + ref_chosen'));
  const [sentence] = misfits.flatMap(({ broken }) => broken.map((each) => each.sentence));
  expect(sentence).toContain('If it should be that formula, declare "preference_objective": "dpo", and');
  expect(sentence).not.toContain('If it is meant');
});
