// Log-probabilities, entropy and exact KL of rows of logits, at any vocabulary, on the CPU or a GPU.

export { type Chosen, chooseKernel, difference, SELF_TEST_BAND } from './choose.ts';
export { cpuKernel } from './cpu.ts';
export {
  BACKENDS,
  type BackendName,
  type LogitRows,
  numbersOf,
  type RowKernel,
  type RowNumbers,
  type RowsInput,
} from './rows.ts';
export { type TensorFlow, tensorKernel, tfjsKernel } from './tfjs.ts';
export { webGpuKernel } from './webgpu.ts';
