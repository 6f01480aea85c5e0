// Functions of rewards and values that take no mask, and policy losses with numbers of the caller: right ones are never blamed for
// how they were called, and faulty ones are never bound.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';
import { type Called, GAE, LOSSES } from './own-call.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

interface Flaw {
  readonly property: string;
  readonly answers?: readonly string[];
}

interface Json {
  readonly bound: readonly { readonly assumes: readonly string[]; readonly broken: readonly Flaw[] }[];
  readonly misfits: readonly { readonly assumes: readonly string[]; readonly tried: readonly string[] }[];
}

async function discovered(op: string, source: string): Promise<Json & { readonly code: number }> {
  const world = makeWorld(properties);
  world.write('row.py', source);
  const code = await world.run('discover', 'row.py', '--python', PYTHON, '--only', op, '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return { ...(parsed.ok as Json), code };
}

const CASES = [
  ...GAE.map((each): [string, string, Called] => [each.name, 'gae', each]),
  ...LOSSES.map((each): [string, string, Called] => [each.name, 'loss', each]),
];

test.each(CASES)('%s is bound, with its assumption', async (_, op, { source, assumed }) => {
  const { bound, misfits, code } = await discovered(op, source);
  expect(misfits).toEqual([]);
  expect(bound).toHaveLength(1);
  // Masks with gaps, which it may never see, are a question; it has no bug.
  expect(bound[0]?.broken.filter(({ answers }) => answers === undefined)).toEqual([]);
  expect(bound[0]?.assumes.join()).toContain(assumed);
  expect(code).toBe(0);
});

test.each(CASES)('%s with a bug is not bound', async (_, op, { source, bug: [right, wrong], shown }) => {
  expect(source.split(right)).toHaveLength(2);
  const { bound, misfits, code } = await discovered(op, source.replace(right, wrong));
  expect(bound).toEqual([]);
  expect(misfits).toHaveLength(shown === false ? 0 : 1);
  expect(code).not.toBe(0);
});

test('a ratio to its own detached log-probabilities is left out, and not blamed', async () => {
  const source = `import torch


def policy_loss(logprobs, advantages, mask):
    ratio = torch.exp(logprobs - logprobs.detach())
    return (-ratio * advantages.unsqueeze(-1) * mask).sum() / mask.sum()
`;
  const { misfits } = await discovered('loss', source);
  expect(misfits).toEqual([]);
});

test('what fails says under which other assumptions it fails as well', async () => {
  const { source, bug } = LOSSES[0] as Called;
  const { misfits } = await discovered('loss', source.replace(...bug));
  expect(misfits[0]?.tried.join()).toContain('divided by the number of rows');
});

test.each([
  ['to unit length', 'def l2_normalize(x, eps=1e-8):\n    return x / (x.norm(dim=-1, keepdim=True) + eps)\n'],
  [
    'to a range',
    'def normalize(values):\n    return (values - values.min()) / (values.max() - values.min())\n',
  ],
  ['as whole numbers', 'def normalize_values(values):\n    return torch.as_tensor(values).to(torch.int64)\n'],
])('what normalizes %s is no whitening', async (_, source) => {
  const { bound, misfits } = await discovered('whiten', `import torch\n\n\n${source}`);
  expect({ bound, misfits }).toEqual({ bound: [], misfits: [] });
});

test.each([
  ['bound', '(x - mean) / (var + 1e-8).sqrt()', 1],
  ['not bound where it divides by the variance', '(x - mean) / (var + 1e-8)', 0],
])('what normalizes under a mask is whitening, and %s', async (_, value, count) => {
  const source = `import torch


def masked_normalize(x, mask):
    mean = (x * mask).sum() / mask.sum()
    var = ((x - mean) ** 2 * mask).sum() / mask.sum()
    return ${value}
`;
  const { bound, misfits } = await discovered('whiten', source);
  expect([bound.length, misfits.length]).toEqual([count, 1 - count]);
});
