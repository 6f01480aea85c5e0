// Which backend computes: the one that is named, or the best that is there and agrees with the plain loop on a small
// input that holds what goes wrong first.
import { cpuKernel } from './cpu.ts';
import { type BackendName, numbersOf, type RowKernel, type RowNumbers, type RowsInput } from './rows.ts';
import { tfjsKernel } from './tfjs.ts';
import { webGpuKernel } from './webgpu.ts';

export interface Chosen {
  readonly kernel: RowKernel;
  /** One sentence: which backend, and why not another. */
  readonly why: string;
}

/**
 * `auto` takes a GPU only if it is one and agrees with `cpu-f64`. A backend that is named is taken, software adapters
 * too, or the problem says why it cannot be.
 */
export async function chooseKernel(
  backend: BackendName | 'auto',
): Promise<Chosen | { readonly problem: string }> {
  if (backend === 'cpu-f64') return { kernel: cpuKernel(), why: 'cpu-f64, as asked' };
  if (backend !== 'auto') {
    const opened = await checked(backend, true);
    return 'problem' in opened
      ? { problem: `--backend ${backend}: ${opened.problem}` }
      : { kernel: opened, why: `${backend} on ${opened.about}, as asked` };
  }
  const reasons: string[] = [];
  for (const name of ['webgpu', 'tfjs-node-gpu'] as const) {
    const opened = await checked(name, false);
    if (!('problem' in opened))
      return { kernel: opened, why: `${name} on ${opened.about}, which agrees with cpu-f64` };
    reasons.push(`${name}: ${opened.problem}`);
  }
  return { kernel: cpuKernel(), why: `cpu-f64 (${reasons.join('; ')})` };
}

/** Nats; float32 sums over the self-test's vocabulary stay ten times below. */
export const SELF_TEST_BAND = 1e-5;

/** The largest difference from `cpu-f64` on the self-test, in nats. */
export async function selfTest(kernel: RowKernel): Promise<number> {
  let worst = 0;
  for (const input of selfTestInputs()) worst = Math.max(worst, await difference(kernel, input));
  return worst;
}

/** From `cpu-f64` on one input, in nats, relative above 1; infinite where only one of them has a number. */
export async function difference(kernel: RowKernel, input: RowsInput): Promise<number> {
  const expected = numbersOf(await cpuKernel({ threads: 1 }).rows(input));
  const observed = numbersOf(await kernel.rows(input));
  let worst = 0;
  for (const name of Object.keys(expected) as (keyof RowNumbers)[])
    for (const [row, value] of expected[name].entries()) {
      const other = observed[name][row] as number;
      if (Object.is(value, other) || value === other) continue;
      const off = Math.abs(value - other) / Math.max(1, Math.abs(value));
      worst = Number.isNaN(off) ? Number.POSITIVE_INFINITY : Math.max(worst, off);
    }
  return worst;
}

// --- helpers ---

/** Just above what one workgroup takes at a time, and not a multiple of it. */
const SELF_TEST_VOCAB = 1_031;
const SELF_TEST_ROWS = 6;

async function checked(
  name: Exclude<BackendName, 'cpu-f64'>,
  allowSoftware: boolean,
): Promise<RowKernel | { readonly problem: string }> {
  const opened = await (name === 'webgpu' ? webGpuKernel : tfjsKernel)({ allowSoftware });
  if ('problem' in opened) return opened;
  let off: number;
  try {
    off = await selfTest(opened);
  } catch (error) {
    await opened.close();
    return { problem: `its self-test failed: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (off <= SELF_TEST_BAND) return opened;
  await opened.close();
  return { problem: `its self-test is off by ${off.toPrecision(2)} nats (${opened.about})` };
}

/** Rows that are flat, peaked and holed, in float32 and at two temperatures. */
function selfTestInputs(): RowsInput[] {
  const size = SELF_TEST_ROWS * SELF_TEST_VOCAB;
  const wave = (phase: number): Float32Array =>
    Float32Array.from({ length: size }, (_, at) => {
      const [row, v] = [Math.floor(at / SELF_TEST_VOCAB), at % SELF_TEST_VOCAB];
      if (row === 3 && v % 3 === 1) return Number.NEGATIVE_INFINITY;
      return Math.sin(phase + 12.9898 * at) * (row === 2 ? 30 : row);
    });
  const targets = Int32Array.from({ length: SELF_TEST_ROWS }, (_, row) => 300 * (row % 3));
  return [1, 0.7].map((temperature) => ({
    policy: { dtype: 'float32', data: wave(0) },
    reference: { dtype: 'float32', data: wave(1) },
    targets,
    vocab: SELF_TEST_VOCAB,
    temperature,
  }));
}
