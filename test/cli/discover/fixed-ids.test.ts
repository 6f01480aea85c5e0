// Special ids that a function does not take, but reads: constants of its module, or attributes of a tokenizer there. A mask that is
// right with them is bound and stays right under `check`; one that is wrong with them is not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';
import { found } from './found.ts';

/** Lists in, lists out; `end` says whether a token ends its row. */
const mask = (constants: string, end: string, reach = '1'): string => `${constants}

def ends(token):
    return ${end}

def completion_mask(sequences, prompt_width):
    masks = []
    for row in sequences:
        completion = row[prompt_width:]
        first = next((i for i, token in enumerate(completion) if ends(token)), len(completion))
        masks.append([int(i < first + ${reach}) for i in range(len(completion))])
    return masks
`;

const TOKENIZER = `class Tokenizer:
    eos_token_id = 7
    pad_token_id = 7
    pad_to_multiple_of = 8

tok = Tokenizer()`;

test('init that binds nothing of a training script names the command that judges a script', async () => {
  const world = makeWorld(properties);
  world.write('train.py', 'import torch\n\ndef main(model):\n    model(1).loss.backward()\n    return 0\n');
  expect(await world.run('init', '--from', 'train.py', '--python', 'python3')).toBe(2);
  expect(world.out()).toContain('npx lossproof trace -- python train.py');
  world.write('other.py', 'def main(model):\n    return 1\n');
  const before = world.out().length;
  expect(await world.run('init', '--from', 'other.py', '--python', 'python3')).toBe(2);
  expect(world.out().slice(before)).not.toContain('trace --');
});

describe('a function with special ids of its own', () => {
  test.each([
    [
      'constants',
      mask('PAD, EOS = 0, 1', 'token == EOS'),
      '{"vocab_size": 32, "pad_token_id": 0, "eos_token_ids": [1]}',
    ],
    [
      'several stops',
      mask('STOP_TOKENS = (5, 40)', 'token in STOP_TOKENS'),
      '{"vocab_size": 41, "pad_token_id": 0, "eos_token_ids": [5, 40]}',
    ],
    [
      'a tokenizer',
      mask(TOKENIZER, 'token == tok.eos_token_id'),
      '{"vocab_size": 32, "pad_token_id": 7, "eos_token_ids": [7]}',
    ],
  ])('%s: it is bound, and check passes', async (_, text, tokens) => {
    const world = makeWorld(properties);
    world.write('own.py', text);
    expect(await world.run('init', '--from', 'own.py', '--python', 'python3'), world.both()).toBe(0);
    expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toContain(`tokens=${tokens},`);
    expect(await world.run('check', '--level', 'must'), world.both()).toBe(0);
  });

  test.each([
    ['the stop token is left out of some rows', mask('PAD, EOS = 0, 1', 'token == EOS', '(len(masks) % 2)')],
    ['one token too many', mask('PAD, EOS = 0, 1', 'token == EOS', '2')],
    ['PAD alone, and EOS is the same', mask('PAD = 1\nEOS = 1', 'token == PAD', 'int(len(masks) == 0)')],
  ])('%s: it is not bound', async (_, text) => {
    const world = makeWorld(properties);
    world.write('own.py', text);
    const { bound, misfits } = await found(world, 'own.py');
    expect(bound).toEqual([]);
    expect(misfits.map((each) => each.function)).toEqual(['completion_mask']);
  });
});
