// The tokenizers and the number formats of the conventions, against the library and against Node's own.
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { familyFolder } from '../../src/tokenizers/families.ts';
import { bytes } from './adapter.ts';

const SEED = 21;
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(' the', 'token', ' Loss', "'S", '12345', ' ...', 'mask_', 'e\u0301'),
  },
  { weight: 3, arbitrary: fc.constantFrom(' ', '  ', '\n', '\r\n', '\t', '\n\n', '\u00a0', '\u2028') },
  { weight: 2, arbitrary: fc.constantFrom('<|im_end|>', '<end_of_turn>', 'é', '日本', '²', '👩‍👩', '▁') },
  { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
);
const texts = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));

/** What the lines of Python print of the sample on their standard input, as JSON. */
async function python(sample: unknown, ...lines: readonly string[]): Promise<unknown> {
  const script = [
    'import json, sys',
    'from lossproof import _channel',
    'given = json.load(sys.stdin)',
    ...lines,
  ];
  const { stdout } = await bytes(
    ['-c', [...script, '_channel.write(json.dumps(answer))'].join('\n')],
    JSON.stringify(sample),
  );
  return JSON.parse(stdout);
}

test.each(['qwen', 'gemma'])('the pure Python tokenizer of %s gives the ids of the library', async (name) => {
  const read = (file: string): unknown => JSON.parse(readFileSync(`${familyFolder(name)}/${file}`, 'utf8'));
  const library = new Tokenizer(read('tokenizer.json') as object, read('tokenizer_config.json') as object);
  const sample = fc.sample(texts, { numRuns: 1000, seed: SEED });
  const ids = await python(
    sample,
    'from conformance.conventions.text import MAKERS',
    `family = MAKERS["${name}"]()`,
    'answer = [family.encode(text) for text in given]',
  );
  const differing = sample.filter(
    (text, at) =>
      JSON.stringify(library.encode(text, { add_special_tokens: false }).ids) !==
      JSON.stringify((ids as number[][])[at]),
  );
  expect(differing).toEqual([]);
});

test('float32 rounds as Math.fround does, and bfloat16 keeps its upper half, rounded to even', async () => {
  const numbers = fc.tuple(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: -40, max: 40 }), fc.boolean());
  const sample = fc
    .sample(numbers, { numRuns: 500, seed: SEED })
    .map(([digits, power, negative]) => (negative ? -1 : 1) * digits * 2 ** power);
  const answer = (await python(
    sample,
    'from conformance.conventions.numbers import bfloat16, float32',
    'answer = [[float32(value), bfloat16(value)] for value in given]',
  )) as [number, number][];
  expect(answer.map(([single]) => single)).toEqual(sample.map(Math.fround));
  const unit = (value: number): number => 2 ** (Math.floor(Math.log2(Math.abs(value))) - 7);
  answer.forEach(([single, half]) => {
    const least = Math.max(unit(single), 2 ** -133);
    expect(Math.abs(half - single)).toBeLessThanOrEqual(least / 2);
    expect(Number.isInteger(half / least)).toBe(true);
  });
  expect(
    await python(
      [1.00390625, 1.01171875, 3.3e38, 1e39],
      'from conformance.conventions.numbers import bfloat16',
      'answer = [str(bfloat16(value)) for value in given]',
    ),
  ).toEqual(['1.0', '1.015625', expect.any(String), 'inf']);
});
