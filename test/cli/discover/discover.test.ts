import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';
import { EXAMPLE, found } from './found.ts';
import { foldersOfDiscover, ownTemporaryFolder } from './left-behind.ts';

beforeEach(ownTemporaryFolder);

/** It stops at the one id that it is told, be that the padding as well. */
const ONE_STOP = `def completion_mask(sequences, prompt_width, eos_token_id):
    mask = []
    for row in sequences:
        stop = row.index(eos_token_id, prompt_width) if eos_token_id in row[prompt_width:] else len(row)
        mask.append([int(prompt_width <= at <= stop) for at in range(len(row))])
    return mask
`;

describe('a trainer of functions', () => {
  test('that stops at one id is declared so, and fixed to none', async () => {
    const world = makeWorld(properties);
    world.write('one.py', ONE_STOP);
    expect(await world.run('discover', 'one.py', '--python', 'python3', '--write', 'adapter.py')).toBe(0);
    const adapter = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
    expect(adapter).toContain('@lossproof.op(eos_token_ids=1)');
    expect(adapter).not.toContain('tokens=');
    expect(adapter).not.toContain('Assumed');
  });

  test('is a finding where names say one order of arguments and behaviour another', async () => {
    const world = makeWorld(properties);
    world.write(
      'swapped.py',
      readFileSync(EXAMPLE, 'utf8').replace('ref_logprob - logprob', 'logprob - ref_logprob'),
    );
    const { bound, misfits } = await found(world, 'swapped.py', '--only', 'kl');
    expect(bound).toEqual([]);
    expect(misfits[0]?.broken[0]?.sentence).toContain('if policy and reference are swapped');
    expect(await world.run('discover', 'swapped.py', '--python', 'python3', '--only', 'kl')).toBe(1);
  });

  test('is nothing where there are no functions, or no such op', async () => {
    const world = makeWorld(properties);
    world.write('empty.py', 'x = 1\n');
    expect(await world.run('discover', 'empty.py', '--python', 'python3')).toBe(2);
    expect(world.err()).toContain('there is no function in these files');
    expect(await world.run('discover', 'empty.py', '--only', 'maks')).toBe(2);
    expect(world.err()).toContain('discover proposes no op "maks", did you mean "mask"?');
    expect(await world.run('discover', 'gone.py', '--python', 'python3')).toBe(2);
    expect(world.err()).toContain('gone.py: there is no such file or folder');
    expect(foldersOfDiscover()).toEqual([]);
  });
});

describe('code that does what it may not', () => {
  test('is named in the table where it does not parse', async () => {
    const world = makeWorld(properties);
    world.write('good.py', readFileSync(EXAMPLE, 'utf8'));
    world.write('broken.py', 'def k3(logprobs, ref_logprobs)\n    return logprobs\n');
    const words = ['good.py', 'broken.py', '--python', 'python3', '--only', 'kl'];
    expect(await world.run('discover', ...words)).toBe(0);
    expect(world.out()).toMatch(/Could not be read\n– broken.py: it does not parse: line 1: /);
    expect(world.out()).toMatch(/✓ kl +k3/);
  });
});

describe('init --from, where several functions answer an op', () => {
  const TWO =
    'import math\n\n\ndef kl_k3(logprob, ref_logprob):\n    x = ref_logprob - logprob\n    return math.exp(x) - x - 1\n\n\ndef kl_k2(logprob, ref_logprob):\n    return 0.5 * (ref_logprob - logprob) ** 2\n';
  const words = ['init', '--from', 'trainer.py', '--python', 'python3'];

  test('takes the first and says so, where nobody is there to ask', async () => {
    const world = makeWorld(properties);
    world.write('trainer.py', TWO);
    expect(await world.run(...words)).toBe(0);
    expect(world.out()).toMatch(/Several answer `kl`; taken is the first:\n +1 +(\w+) .*\n +2 +\w+ /);
    const [, first = ''] = /taken is the first:\n +1 +(\w+) /.exec(world.out()) ?? [];
    expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toContain(`trainer.${first}(`);
  });
});
