// Functions that sample, penalise and cut are proposed; with a bug they are shown, and what does something else is left alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld, type World } from '../../cli/world.ts';
import { CUTS, type Decoding, OTHERS, PENALTIES, SAMPLERS } from './decoding.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const OPS = 'sampling,penalties,truncate';

interface Json {
  readonly bound: readonly { readonly op: string; readonly assumes: readonly string[] }[];
  readonly misfits: readonly { readonly op: string }[];
}

async function discovered(world: World, source: string): Promise<Json> {
  world.write('row.py', source);
  await world.run('discover', 'row.py', '--python', PYTHON, '--only', OPS, '--json', '--write', 'adapter.py');
  const out = world.out();
  const parsed = parseStrict(out.slice(out.indexOf('{')));
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as Json;
}

const CASES = [...SAMPLERS, ...PENALTIES, ...CUTS].map((each): [string, Decoding] => [each.name, each]);

test.each(CASES)('%s is bound, and its adapter holds', async (_, { op, source, called }) => {
  const world = makeWorld(properties);
  const { bound, misfits } = await discovered(world, source);
  expect(misfits).toEqual([]);
  expect(bound.map((each) => each.op)).toEqual([op]);
  const adapter = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
  expect(adapter).toContain(called);
  // That it writes into its logits is asked about, as of every trainer.
  const meant = `lossproof.serve(semantics={"in_place": ["${op}"]}, `;
  world.write('adapter.py', adapter.replace('lossproof.serve(', meant));
  const check = ['check', '--cases', '20', '--no-corpus', '--', PYTHON, 'adapter.py'];
  expect(await world.run(...check), world.both()).toBe(0);
});

test.each(CASES)('%s with a bug is shown', async (_, { op, source, bug: [right, wrong] }) => {
  expect(source.split(right)).toHaveLength(2);
  const { bound, misfits } = await discovered(makeWorld(properties), source.replace(right, wrong));
  expect(bound).toEqual([]);
  expect(misfits.map((each) => each.op)).toEqual([op]);
});

test.each(OTHERS)('%s is left alone', async (_, source) => {
  const { bound, misfits } = await discovered(makeWorld(properties), source);
  expect({ bound, misfits }).toEqual({ bound: [], misfits: [] });
});

test('a processor of transformers that counts the prompt is shown', async () => {
  const source = `import torch


class PresencePenalty:
    def __init__(self, penalty):
        self.penalty = penalty

    def __call__(self, input_ids, scores):
        seen = torch.zeros_like(scores).scatter(1, input_ids, 1.0)
        return scores - self.penalty * seen
`;
  const { bound, misfits } = await discovered(makeWorld(properties), source);
  expect(bound).toEqual([]);
  expect(misfits.map(({ op }) => op)).toEqual(['penalties']);
});

test('that only generated tokens are handed over is said where no name says so', async () => {
  const source = (PENALTIES[0] as Decoding).source.replaceAll('generated_ids', 'token_ids');
  const { bound } = await discovered(makeWorld(properties), source);
  expect(bound[0]?.assumes).toEqual(['what was generated is handed over, without its prompt']);
});
