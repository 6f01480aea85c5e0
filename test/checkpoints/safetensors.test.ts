// Weights as a file: what was written comes back, and what is not as the format says is named.
import { expect, test } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../src/checkpoints/safetensors.ts';

/** A file of this header and so many bytes of values. */
function fileOf(header: unknown, values: number): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + values);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  return bytes;
}

const tensor = (values: object): object => ({
  dtype: 'F32',
  shape: [4, 4],
  data_offsets: [0, 64],
  ...values,
});

test('what is written is read', () => {
  const tensors = new Map([
    ['a', { shape: [2, 3], data: Float64Array.of(1, 2, 3, -4, 0.5, 6) }],
    ['empty', { shape: [0, 3], data: new Float64Array(0) }],
    ['b', { shape: [], data: Float64Array.of(7) }],
  ]);
  expect(readSafetensors(writeSafetensors(tensors))).toEqual(tensors);
  expect(readSafetensors(fileOf({ __metadata__: { format: 'pt' }, a: tensor({}) }, 64))).toHaveProperty(
    'size',
    1,
  );
});

test.each([
  ['an entry that is null', { a: null }, 64, 'a: its entry is not an object'],
  [
    'ranges that overlap',
    { a: tensor({}), b: tensor({ data_offsets: [32, 96] }) },
    96,
    'b begins at byte 32, inside of a',
  ],
  ['one range for two', { a: tensor({}), b: tensor({}) }, 64, 'b begins at byte 0, inside of a'],
  [
    'negative lengths',
    { a: tensor({ shape: [-4, -4] }) },
    64,
    'a: shape [-4, -4] does not fit bytes 0 to 64: it has a length that is no whole number from 0',
  ],
  [
    'half a length',
    { a: tensor({ shape: [0.5, 32] }) },
    64,
    'it has a length that is no whole number from 0',
  ],
  [
    'a length that is null',
    { a: tensor({ shape: [null, 16] }) },
    64,
    'it has a length that is no whole number from 0',
  ],
  [
    'a length that is a text',
    { a: tensor({ shape: ['16'] }) },
    64,
    'it has a length that is no whole number from 0',
  ],
  [
    'offsets that are texts',
    { a: tensor({ data_offsets: ['0', '64'] }) },
    64,
    'a: data_offsets ["0", "64"] are no range',
  ],
  [
    'offsets that are objects without a text',
    { a: tensor({ data_offsets: [{ toString: 1 }, 64] }) },
    64,
    'a: data_offsets [{"toString":1}, 64] are no range',
  ],
  [
    'a shape of a million lengths',
    { a: tensor({ shape: Array.from({ length: 1_000_000 }, () => 1) }) },
    64,
    '… does not fit bytes 0 to 64: it is no list of lengths',
  ],
  [
    'offsets that run backwards',
    { a: tensor({ data_offsets: [64, 0] }) },
    64,
    'a: data_offsets [64, 0] are no range',
  ],
  [
    'three offsets',
    { a: tensor({ data_offsets: [0, 64, 1] }) },
    64,
    'a: data_offsets [0, 64, 1] are no range',
  ],
  ['bytes behind the last', { a: tensor({}) }, 96, '32 bytes after the last tensor belong to none'],
  [
    'bytes before the first',
    { a: tensor({ data_offsets: [32, 96] }) },
    96,
    'bytes 0 to 32 belong to no tensor',
  ],
  [
    'a shape that promises gigabytes',
    { a: tensor({ shape: [1e9, 1e9] }) },
    64,
    'is 4000000000000000000 bytes, its data has 64',
  ],
  ['rows of nothing', { a: tensor({ shape: [4e9, 0], data_offsets: [0, 0] }) }, 0, 'has too many rows'],
  [
    'a type of the object itself',
    { a: tensor({ dtype: 'constructor' }) },
    64,
    'a: dtype "constructor", expected F64, F32, F16, BF16',
  ],
  [
    'a type that has no text',
    { a: tensor({ dtype: { toString: 1 } }) },
    64,
    'a: dtype {"toString":1}, expected F64, F32, F16, BF16',
  ],
  ['a list for a header', [], 0, 'the header is not an object'],
  [
    'a header nested without end',
    `{"a":${'['.repeat(100_000)}`,
    0,
    'the header is not JSON: nested deeper than 200 levels',
  ],
])('%s is refused', (_, header, values, problem) => {
  const read = readSafetensors(fileOf(header, values));
  expect('problem' in read && read.problem).toContain(problem);
});

test('a header that is longer than the file is refused before it is read', () => {
  const bytes = fileOf({}, 0);
  new DataView(bytes.buffer).setBigUint64(0, 2n ** 63n, true);
  expect(readSafetensors(bytes)).toHaveProperty('problem');
  expect(readSafetensors(new Uint8Array(4))).toEqual({ problem: '4 bytes are too few for a header' });
});
