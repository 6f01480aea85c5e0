// The loop against the plain definitions of the reference, and threads against the loop.
import { afterAll, describe, expect, test } from 'vitest';
import { cpuKernel, numbersOf, type RowKernel, type RowsInput } from '../../src/kernel/index.ts';
import { entropyOf, halfValues, logSoftmax } from '../../src/reference/index.ts';
import { expectAgreement } from './agree.ts';
import { EDGES, halved, inputOf } from './inputs.ts';

const EXACT = 1e-10;
const one = cpuKernel({ threads: 1 });
const plain = cpuKernel({ threads: 1, simd: false });
const two = cpuKernel({ threads: 2 });
afterAll(() => two.close());

const rowOf = (input: RowsInput, logits: RowsInput['policy'], row: number): number[] =>
  Array.from(logits.data.subarray(row * input.vocab, (row + 1) * input.vocab), (value) =>
    logits.dtype === 'bfloat16' || logits.dtype === 'float16'
      ? (halfValues(logits.dtype)[value] as number)
      : value,
  );

async function expectDefinitions(kernel: RowKernel, input: RowsInput, rows: number): Promise<void> {
  const numbers = numbersOf(await kernel.rows(input));
  for (let row = 0; row < rows; row++) {
    const scaled = rowOf(input, input.policy, row).map((z) => z / input.temperature);
    const mine = logSoftmax(scaled);
    const other = logSoftmax(
      rowOf(input, input.reference ?? input.policy, row).map((z) => z / input.temperature),
    );
    const target = input.targets[row] as number;
    const kl = mine.reduce(
      (sum, logp, v) => (logp === -Infinity ? sum : sum + Math.exp(logp) * (logp - (other[v] as number))),
      0,
    );
    const isNaNRow = scaled.some(Number.isNaN);
    const near = (observed: number | undefined, expected: number): void => {
      if (isNaNRow) expect(observed).toBeNaN();
      else if (Number.isFinite(expected))
        expect(Math.abs((observed ?? Number.NaN) - expected)).toBeLessThan(
          EXACT * Math.max(1, Math.abs(expected)),
        );
      else expect(observed).toBe(expected);
    };
    near(numbers.logprobs[row], mine[target] as number);
    near(numbers.refLogprobs[row], other[target] as number);
    near(numbers.entropy[row], entropyOf(scaled));
    near(numbers.kl[row], kl);
  }
}

describe.each([
  ['cpu-f64', one],
  ['cpu-f64 without SIMD', plain],
] as const)('%s', (_, kernel) => {
  test.each(Object.entries(EDGES))('is the definition for %s', async (_, make) => {
    const input = make();
    await expectDefinitions(kernel, input, Math.min(input.targets.length, 5));
  });

  test('reads half precision', async () => {
    await expectDefinitions(kernel, halved(inputOf({ rows: 3, vocab: 777 })), 3);
  });

  test('takes the policy for the reference where there is none', async () => {
    const numbers = numbersOf(await kernel.rows(inputOf({ rows: 3, vocab: 300, alone: true })));
    expect([...numbers.kl]).toEqual([0, 0, 0]);
    expect(numbers.refLogprobs).toEqual(numbers.logprobs);
  });

  test('has the exponentials of the library, down to the smallest number', async () => {
    const below = Array.from({ length: 40_000 }, (_, at) => -((at / 40_000) ** 3) * 745.2);
    const edges = [
      -Number.MIN_VALUE,
      -1e-300,
      -Math.LN2 / 512,
      -Math.LN2,
      -708.4,
      -745.1,
      -745.2,
      -746,
      -1e9,
    ];
    const all = [...below.slice(1), ...edges];
    const { dot } = await kernel.rows({
      policy: { dtype: 'float64', data: Float64Array.from(all.flatMap((d) => [0, d])) },
      targets: new Int32Array(all.length),
      vocab: 2,
      temperature: 1,
    });
    for (const [row, d] of all.entries()) {
      const exact = Math.exp(d);
      // Σ e d = 0 + e^d d; a subnormal number has an absolute last place.
      const last = Math.max(2 ** -51 * exact, Number.MIN_VALUE);
      expect(Math.abs((dot[row] as number) / d - exact), `e^${d}`).toBeLessThanOrEqual(last);
    }
  });
});

describe('cpu-f64 on threads', () => {
  test('says the same on threads, also when asked twice at once', async () => {
    const inputs = [1, 2, 3].map((seed) => inputOf({ rows: 9, vocab: 300_000, seed }));
    await Promise.all(inputs.map((input) => expectAgreement(two, one, input, 0)));
  });

  test('leaves its input as it was', async () => {
    const input = inputOf({ rows: 9, vocab: 300_000 });
    const before = input.policy.data.slice();
    await two.rows(input);
    expect(Buffer.compare(new Uint8Array(input.policy.data.buffer), new Uint8Array(before.buffer))).toBe(0);
  });

  test.each([
    ['a target outside of the vocabulary', { targets: Int32Array.of(0, 300, 0) }],
    ['a temperature of 0', { temperature: 0 }],
    ['too few logits', { vocab: 301 }],
  ])('refuses %s', async (_, change) => {
    await expect(one.rows({ ...inputOf({ rows: 3, vocab: 300 }), ...change })).rejects.toMatchObject({
      code: 'ERR_ROWS',
    });
  });
});
