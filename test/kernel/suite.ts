// What every backend but cpu-f64 must do: agree with it.
import { expect, test } from 'vitest';
import { cpuKernel, type RowKernel } from '../../src/kernel/index.ts';
import { expectAgreement } from './agree.ts';
import { EDGES, halved, inputOf } from './inputs.ts';

/** float32 sums against float64. */
export const BAND = 1e-5;
export const oracle = cpuKernel({ threads: 1 });

/** Tests of one kernel, inside of a `describe`. */
export function testAgreement(kernel: RowKernel): void {
  test.each(Object.entries(EDGES))('agrees with cpu-f64 for %s', async (_, make) => {
    await expectAgreement(kernel, oracle, make(), BAND);
  });

  test('reads bfloat16, an odd number of logits too', async () => {
    await expectAgreement(kernel, oracle, halved(inputOf({ rows: 3, vocab: 777 })), BAND);
  });

  test('reads float16, subnormal and infinite numbers among them', async () => {
    const data = Uint16Array.from({ length: 4 * 300 }, (_, at) => (at * 7_919) & 0x4fff);
    data.set([0x0001, 0x8001, 0x03ff, 0xfc00, 0x7c00, 0x7e00], 3 * 300);
    const logits = { dtype: 'float16', data } as const;
    const input = { ...inputOf({ rows: 4, vocab: 300 }), policy: logits, reference: logits };
    await expectAgreement(kernel, oracle, input, BAND);
  });

  test('reads float64', async () => {
    const input = inputOf({ rows: 3, vocab: 777 });
    const policy = { dtype: 'float64', data: Float64Array.from(input.policy.data) } as const;
    await expectAgreement(kernel, oracle, { ...input, policy }, BAND);
  });

  test('reads a policy and a reference of different formats', async () => {
    const input = inputOf({ rows: 3, vocab: 777 });
    await expectAgreement(kernel, oracle, { ...input, policy: halved(input).policy }, BAND);
  });

  test('takes the policy for the reference where there is none', async () => {
    await expectAgreement(kernel, oracle, inputOf({ rows: 3, vocab: 300, alone: true }), BAND);
  });

  test('says the same when it is asked several times at once', async () => {
    const inputs = [1, 2, 3].map((seed) => inputOf({ rows: 9, vocab: 3_000, seed }));
    await Promise.all(inputs.map((input) => expectAgreement(kernel, oracle, input, BAND)));
  });

  test('refuses a target outside of the vocabulary', async () => {
    const input = { ...inputOf({ rows: 3, vocab: 300 }), targets: Int32Array.of(0, 300, 0) };
    await expect(kernel.rows(input)).rejects.toMatchObject({ code: 'ERR_ROWS' });
  });
}
