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

interface Json {
  readonly bound: readonly { readonly assumes: readonly string[]; readonly broken: readonly unknown[] }[];
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
  expect(bound[0]?.broken).toEqual([]);
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
