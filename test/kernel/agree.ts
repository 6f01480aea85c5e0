// How far two kernels are apart.
import { expect } from 'vitest';
import { numbersOf, type RowKernel, type RowNumbers, type RowsInput } from '../../src/kernel/index.ts';

/** Every number of every row within `band`, absolute below 1 nat and relative above; NaN and infinities equal. */
export async function expectAgreement(
  kernel: RowKernel,
  oracle: RowKernel,
  input: RowsInput,
  band: number,
): Promise<void> {
  const [observed, expected] = [numbersOf(await kernel.rows(input)), numbersOf(await oracle.rows(input))];
  for (const name of Object.keys(expected) as (keyof RowNumbers)[])
    for (const [row, value] of expected[name].entries()) {
      const other = observed[name][row] as number;
      if (Object.is(value, other) || value === other) continue;
      const off = Math.abs(other - value) / Math.max(1, Math.abs(value));
      if (!(off <= band)) expect.fail(`${name} of row ${row} is ${other}, expected ${value}`);
    }
}
