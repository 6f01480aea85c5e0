// A script that does everything at the top of its file, and cannot run here: its functions are looked at all the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const SCRIPT = readFileSync(fileURLToPath(new URL('whole/grpo_script.py', import.meta.url)), 'utf8');

interface Named {
  readonly function: string;
}
interface Json {
  readonly in_part: readonly { readonly without: readonly string[] }[];
  readonly bound: readonly Named[];
  readonly misfits: readonly Named[];
}

async function discovered(text: string): Promise<Json> {
  const world = makeWorld(properties);
  world.write('train.py', text);
  await world.run('discover', 'train.py', '--python', PYTHON, '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as Json;
}

const names = (found: readonly Named[]): string[] => found.map((each) => each.function).sort();
const ALL = ['get_per_token_logps', 'group_advantages', 'grpo_loss'];

test('all of its functions are bound, and what failed is listed', async () => {
  const { bound, misfits, in_part: parts } = await discovered(SCRIPT);
  expect(names(bound)).toEqual(ALL);
  expect(misfits).toEqual([]);
  expect(parts[0]?.without[0]).toMatch(/^train\.py:15 exits the process/);
});

test.each([
  ['grpo_loss', 'd = ref_logps - logps', 'd = logps - ref_logps'],
  ['grpo_loss', '-torch.min(', '-torch.max('],
  ['group_advantages', 'r.mean(1, keepdim=True)', 'r.mean()'],
  ['get_per_token_logps', 'input_ids[:, 1:]', 'input_ids[:, :-1]'],
])('%s with %s as %s is not bound', async (name, right, wrong) => {
  expect(SCRIPT.split(right)).toHaveLength(2);
  const { bound } = await discovered(SCRIPT.replace(right, wrong));
  expect(names(bound)).toEqual(ALL.filter((each) => each !== name));
});
