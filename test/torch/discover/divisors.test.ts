// Losses whose divisor the caller counts: which count it is, is an assumption that is printed, and no reason to blame the function.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

interface Loss {
  /** Its last parameter. */
  readonly divisor: string;
  readonly advantages?: string;
  readonly clipped?: string;
  readonly sum?: string;
}

const source = ({
  divisor,
  advantages = 'advantages[:, None]',
  clipped = 'torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)',
  sum = '(-policy * mask).sum()',
}: Loss): string => `import torch


def grpo_loss(logp, old_logp, advantages, mask, ${divisor}, clip=0.2):
    ratio = torch.exp(logp - old_logp)
    adv = ${advantages}
    policy = ${clipped}
    return ${sum} / ${divisor}
`;

async function discovered(loss: Loss): Promise<{ readonly code: number; readonly out: string }> {
  const world = makeWorld(properties);
  world.write('losses.py', source(loss));
  const code = await world.run('discover', 'losses.py', '--python', PYTHON, '--only', 'loss');
  return { code, out: world.out().replaceAll(/\s+/g, ' ') };
}

test.each<[string, Loss]>([
  ['trained tokens', { divisor: 'num_tokens' }],
  ['items, of the name that transformers has for them', { divisor: 'num_items' }],
  ['a denominator, with advantages per token', { divisor: 'denominator', advantages: 'advantages' }],
])('right: %s', async (_, loss) => {
  const { code, out } = await discovered(loss);
  expect(out).toContain('assumed: divided by the number of trained tokens');
  expect(out).toContain('1 bound, 0 nearly');
  expect(code).toBe(0);
});

test.each<[string, Loss]>([
  [
    'the larger of the two surrogates',
    {
      divisor: 'num_tokens',
      clipped: 'torch.max(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)',
    },
  ],
  ['the mask is left out', { divisor: 'num_tokens', sum: '(-policy).sum()' }],
  ['the sign is turned', { divisor: 'num_items', sum: '(policy * mask).sum()' }],
])('wrong, and no divisor explains it: %s', async (_, loss) => {
  const { code, out } = await discovered(loss);
  expect(out).toContain('0 bound, 1 nearly');
  expect(code).toBe(1);
});
