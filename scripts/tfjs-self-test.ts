// What setup:tfjs has built, tried in a process of its own, which a library of 600 MB may end: a line of JSON.
// Needs LOSSPROOF_TFJS.
import { SELF_TEST_BAND, selfTest } from '../src/kernel/choose.ts';
import { cpuKernel, type RowKernel, type RowsInput, tfjsKernel } from '../src/kernel/index.ts';

const ROWS = 256;
const VOCAB = 32_000;

const begun = performance.now();
const opened = await tfjsKernel({ allowSoftware: true });
if ('problem' in opened) throw new Error(opened.problem);
const loaded = performance.now() - begun;
const off = await selfTest(opened);
const logits = (phase: number): RowsInput['policy'] => ({
  dtype: 'float32',
  data: Float32Array.from({ length: ROWS * VOCAB }, (_, at) => 8 * Math.sin(phase + 12.9898 * at)),
});
const input: RowsInput = {
  policy: logits(0),
  reference: logits(1),
  targets: new Int32Array(ROWS),
  vocab: VOCAB,
  temperature: 1,
};
const cpu = cpuKernel();
const [mine, theirs] = [await quickest(opened), await quickest(cpu)];
await cpu.close();
const { about } = opened;
const shape = [ROWS, VOCAB];
console.log(
  JSON.stringify({ about, off, band: SELF_TEST_BAND, loaded, mine, theirs, shape, cpu: cpu.about }),
);

/** Milliseconds of the best of five: the first starts threads and finds memory. */
async function quickest(kernel: RowKernel): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let go = 0; go < 5; go++) {
    const from = performance.now();
    await kernel.rows(input);
    best = Math.min(best, performance.now() - from);
  }
  return best;
}
