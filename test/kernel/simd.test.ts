// The loop in WebAssembly against the plain one: where it goes through lanes, and where it leaves a row.
import { describe, expect, test } from 'vitest';
import { assembled } from '../../scripts/simd/assembled.ts';
import { cpuKernel, type LogitRows, type RowsInput } from '../../src/kernel/index.ts';
import { SIMD_BYTES } from '../../src/kernel/simd-bytes.ts';
import { expectAgreement } from './agree.ts';
import { EDGES, halved, inputOf } from './inputs.ts';

/** Sums in two lanes are rounded elsewhere. */
const ROUNDING = 1e-12;
const fast = cpuKernel({ threads: 1 });
const plain = cpuKernel({ threads: 1, simd: false });

const float64 = ({ data }: LogitRows): LogitRows => ({ dtype: 'float64', data: Float64Array.from(data) });
const doubled = (input: RowsInput): RowsInput => ({
  ...input,
  policy: float64(input.policy),
  ...(input.reference === undefined ? {} : { reference: float64(input.reference) }),
});

test('the bytes are what wat.ts says: npm run simd', async () => {
  expect(SIMD_BYTES).toBe(await assembled());
});

test('Node runs them here', () => {
  expect([fast.about, plain.about]).toEqual(['one thread', 'one thread, without SIMD']);
});

describe('the loop in WebAssembly', () => {
  test.each(Object.entries(EDGES))('is the plain loop for %s', async (_, make) => {
    await expectAgreement(fast, plain, make(), ROUNDING);
    await expectAgreement(fast, plain, doubled(make()), ROUNDING);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('pads %d logits', async (vocab) => {
    const input = inputOf({ rows: 3, vocab });
    for (const each of [input, doubled(input), halved(input), inputOf({ rows: 3, vocab, alone: true })])
      await expectAgreement(fast, plain, each, ROUNDING);
  });

  test('reads a policy and a reference of different formats', async () => {
    const input = inputOf({ rows: 3, vocab: 777 });
    for (const policy of [halved(input).policy, doubled(input).policy])
      await expectAgreement(fast, plain, { ...input, policy }, ROUNDING);
  });

  test.each([10, 700, 707, 709, 740, 745, 747, 1_000, 1e30])('knows logits %d apart', async (apart) => {
    for (const side of ['policy', 'reference'] as const) {
      const input = inputOf({ rows: 2, vocab: 9 });
      (input[side] as LogitRows).data.fill(-apart, 3, 6);
      await expectAgreement(fast, plain, input, ROUNDING);
      await expectAgreement(fast, plain, doubled(input), ROUNDING);
    }
  });

  test('forgets a long row before a short one', async () => {
    await fast.rows(inputOf({ rows: 2, vocab: 30_000 }));
    await expectAgreement(fast, plain, inputOf({ rows: 2, vocab: 7 }), ROUNDING);
  });
});
