// `discover` on trainers of torch: a hand-written one is bound whole, each with its variant, and no planted bug is bound as right.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const OWN = fileURLToPath(new URL('own/grpo.py', import.meta.url));
const OTHER = fileURLToPath(new URL('other', import.meta.url));
const FAULTY = fileURLToPath(new URL('faulty', import.meta.url));

interface Json {
  readonly bound: readonly {
    readonly function: string;
    readonly file: string;
    readonly op: string;
    readonly variant: Readonly<Record<string, unknown>>;
  }[];
  readonly misfits: readonly { readonly file: string }[];
  readonly open: readonly { readonly file: string }[];
  readonly uncalled: readonly { readonly file: string; readonly why: string }[];
}

async function found(path: string): Promise<Json> {
  const world = makeWorld(properties);
  await world.run('discover', path, '--python', PYTHON, '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as Json;
}

test('a trainer of 141 lines is bound, each function with its variant', async () => {
  const { bound, misfits, open } = await found(OWN);
  const byName = new Map(bound.map((each) => [each.function, each]));
  expect([...byName].map(([name, { op }]) => `${op} ${name}`).sort()).toEqual([
    'advantages group_advantages',
    'entropy token_entropy',
    'kl kl_k3',
    'logprobs token_logprobs',
    'loss grpo_loss',
    'mask build_batch',
    'overlong_penalty overlong_penalty',
    'sft_loss sft_loss',
  ]);
  expect(byName.get('grpo_loss')?.variant).toMatchObject({
    clip_low: 0.2,
    clip_high: 0.28,
    kl_coef: 0.04,
    loss_aggregation: 'token-mean',
  });
  expect(byName.get('group_advantages')?.variant).toMatchObject({
    advantage_ddof: 1,
    advantage_epsilon: 1e-4,
  });
  expect([...misfits, ...open]).toEqual([]);
});

test('a planted bug is shown or asked about, never bound as right', async () => {
  const { bound, misfits, open } = await found(FAULTY);
  expect(bound.map(({ file, op }) => `${file} ${op}`)).toEqual([]);
  const shown = new Set([...misfits, ...open].map(({ file }) => file.split('/').at(-1)));
  expect([...shown].sort()).toEqual(
    readdirSync(FAULTY)
      .filter((name) => name.endsWith('.py'))
      .sort(),
  );
});

test('a formula of its own, which a plain one is where rows are alike, is never bound as that', async () => {
  const { bound, misfits, uncalled } = await found(OTHER);
  expect(bound.map(({ file, op }) => `${file} ${op}`)).toEqual([]);
  expect(misfits.map(({ file }) => file.split('/').at(-1)).sort()).toEqual([
    'baseline_by_length.py',
    'clipped_scores.py',
    'group_mean_then_tokens.py',
    'whitened_over_tokens.py',
  ]);
  expect(uncalled.map(({ why }) => why)).toEqual([
    "what it returns is none of the op's answers: the tokens of a row have different ones",
  ]);
});

test('a temperature that the op has not: who divides the logits by it is bound, who multiplies or is not called so is not', async () => {
  const sft = (called: string, logits: string): string =>
    `import torch.nn.functional as F\n\n\ndef sft_loss(logits, labels, temperature${called}):\n    logits = ${logits}[:, :-1]\n    return F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)\n`;
  const world = makeWorld(properties);
  world.write('divides.py', sft('', '(logits / temperature)'));
  world.write('by_default.py', sft('=1.0', '(logits / temperature)'));
  world.write('multiplies.py', sft('', '(logits * temperature)'));
  world.write('forgets.py', sft('', 'logits'));
  // Its callers do not shift.
  world.write(
    'flat.py',
    'import torch.nn.functional as F\n\n\ndef flat_loss(logits, labels, temperature):\n    return F.cross_entropy((logits / temperature).flatten(0, 1), labels.flatten(), ignore_index=-100)\n\n\ndef sft_step(logits, labels):\n    return flat_loss(logits, labels, 1.0)\n',
  );
  await world.run('discover', '.', '--python', PYTHON, '--only', 'sft_loss', '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  const { bound, misfits } = parsed.ok as Json;
  const names = (list: readonly { readonly file: string }[]) => list.map(({ file }) => basename(file)).sort();
  expect(names(bound)).toEqual(['by_default.py', 'divides.py']);
  expect(names(misfits)).toEqual(expect.arrayContaining(['forgets.py', 'multiplies.py']));
});
