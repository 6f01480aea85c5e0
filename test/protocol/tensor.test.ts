import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeTensor, encodeTensor, TENSOR_DTYPES } from '../../src/protocol/tensor.ts';

describe('tensors', () => {
  test('float32 of 1, -2 is the bytes that numpy writes', () => {
    expect(encodeTensor([1, -2], 'float32')).toEqual({ dtype: 'float32', shape: [2], data: 'AACAPwAAAMA=' });
  });

  test.each(TENSOR_DTYPES)('%s matrices and cubes come back as they went', (dtype) => {
    const number = dtype.startsWith('int') ? fc.integer() : dtype === 'float32' ? fc.float() : fc.double();
    const side = fc.integer({ min: 1, max: 4 });
    const cube = fc.tuple(side, side, side).chain(([b, t, v]) => {
      const list = <T>(item: fc.Arbitrary<T>, n: number) => fc.array(item, { minLength: n, maxLength: n });
      return list(list(list(number, v), t), b);
    });
    fc.assert(
      fc.property(cube, (value) => {
        expect(decodeTensor(encodeTensor(value, dtype))).toEqual({ ok: value });
        expect(decodeTensor(encodeTensor(value[0] ?? [], dtype))).toEqual({ ok: value[0] });
      }),
    );
  });

  test.each([
    [
      { dtype: 'bfloat16', shape: [1], data: '' },
      'has dtype "bfloat16", expected float32, float64, int64, int32 (half precision travels as float32)',
    ],
    [{ dtype: 'float32', shape: [2, -1], data: '' }, 'has shape [2,-1], expected a list of 1 to 3 lengths'],
    [{ dtype: 'float32', shape: [3], data: 'AACAPw==' }, 'shape [3] of float32 is 12 bytes, its data has 4'],
    [{ dtype: 'int64', shape: [1], data: '/////////38=' }, 'element 0 is beyond 2**53'],
  ])('%j is refused with both facts', (value, complaint) => {
    expect(decodeTensor(value)).toEqual({ complaint });
  });
});
