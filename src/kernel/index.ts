// Log-probabilities, entropy and exact KL of rows of logits, at any vocabulary, on the CPU or a GPU.

export { type Chosen, chooseKernel, difference, SELF_TEST_BAND, selfTest } from './choose.ts';
export { type CpuOptions, cpuKernel } from './cpu.ts';
export {
  BACKENDS,
  type BackendName,
  type LogitRows,
  numbersOf,
  type RowKernel,
  type RowNumbers,
  type RowPieces,
  type RowsInput,
} from './rows.ts';
export { type TensorFlow, type TfjsOptions, tensorKernel, tfjsKernel } from './tfjs.ts';
export { type WebGpuKernel, type WebGpuOptions, webGpuKernel } from './webgpu.ts';
