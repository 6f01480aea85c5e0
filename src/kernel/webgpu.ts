// The backend for GPUs: one fused shader over Dawn, which the npm package `webgpu` brings. Device sums are float32; what
// needs more (the target's distance from the maximum, rows with infinities) is done here from the logits themselves.
import {
  BYTES,
  emptyPieces,
  inputComplaint,
  type LogitRows,
  logitAt,
  type RowKernel,
  type RowPieces,
  type RowsInput,
  rowsBetween,
} from './rows.ts';
import { fillPieces } from './tables.ts';
import { type Constants, Engine, STAGE_BYTES, WORD } from './webgpu-engine.ts';
import { OUTPUTS } from './wgsl.ts';

export interface WebGpuOptions {
  /** Adapters that compute on the CPU: for tests, and where the user names the backend. */
  readonly allowSoftware: boolean;
  /** Passed to Dawn, as `adapter=NVIDIA`. */
  readonly flags?: readonly string[];
  /** Bytes of logits on the device at a time; default: what the adapter takes in one binding, 256 MiB at most. */
  readonly chunkBytes?: number;
  /** Bytes that are written in one go on their way to the device, in whole words; for tests. */
  readonly stageBytes?: number;
}

export interface WebGpuKernel extends RowKernel {
  /**
   * Of the first rows, as many as are on the device at a time: milliseconds of one go over logits that are already there,
   * the mean of `passes`. For benches: a trainer's logits have to be sent.
   */
  onDevice(
    input: RowsInput,
    passes: number,
  ): Promise<{ readonly rows: number; readonly milliseconds: number }>;
}

/** Opens the device, or says in words why there is none. */
export async function webGpuKernel(
  options: WebGpuOptions,
): Promise<WebGpuKernel | { readonly problem: string }> {
  let dawn: typeof import('webgpu');
  try {
    dawn = await import('webgpu');
  } catch (error) {
    return {
      problem: `the package webgpu is not installed or does not load (${messageOf(error)}); npm install webgpu`,
    };
  }
  let gpu: GPU;
  let adapter: GPUAdapter | null;
  try {
    gpu = dawn.create([...(options.flags ?? [])]);
    adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  } catch (error) {
    return { problem: `no adapter: ${messageOf(error)}` };
  }
  if (adapter === null)
    return { problem: 'no adapter: there is no Vulkan, Metal or Direct3D driver that Dawn takes' };
  const { info } = adapter;
  const about = [info.vendor, info.architecture, info.description || info.device].filter(Boolean).join(' ');
  // Dawn's null backend has no name and computes nothing.
  if (about === '') return { problem: 'the adapter does not say what it is' };
  if (info.isFallbackAdapter && !options.allowSoftware)
    return { problem: `the only adapter is a software one (${about}), which is no faster than the CPU` };
  const binding = Math.min(adapter.limits.maxStorageBufferBindingSize, adapter.limits.maxBufferSize);
  const device = await adapter.requestDevice({
    requiredLimits: {
      maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
      maxBufferSize: adapter.limits.maxBufferSize,
    },
  });
  // What browsers have as globals.
  const constants = dawn.globals as unknown as Constants;
  const engine = new Engine(gpu, device, constants, options.stageBytes ?? STAGE_BYTES);
  const chunkBytes = Math.min(options.chunkBytes ?? MOST_CHUNK_BYTES, binding);
  // There is one set of buffers: who asks while another is answered waits for it.
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = before.then(work);
    before = mine.catch(() => {});
    return mine;
  };
  return {
    name: 'webgpu',
    about,
    rows: (input) =>
      inTurn(async () => {
        const complaint = inputComplaint(input);
        if (complaint !== undefined) throw Object.assign(new RangeError(complaint), { code: 'ERR_ROWS' });
        const narrow = narrowed(input);
        const perChunk = rowsPerChunk(narrow, chunkBytes);
        const pieces = emptyPieces(input.targets.length);
        for (let from = 0; from < input.targets.length; from += perChunk) {
          const to = Math.min(input.targets.length, from + perChunk);
          finish(input, pieces, from, await engine.run(await engine.send(rowsBetween(narrow, from, to))));
        }
        return pieces;
      }),
    onDevice: (input, passes) =>
      inTurn(async () => {
        const narrow = narrowed(input);
        const rows = Math.min(input.targets.length, rowsPerChunk(narrow, chunkBytes));
        const sent = await engine.send(rowsBetween(narrow, 0, rows));
        await engine.run(sent);
        const [one, more] = [
          await timed(() => engine.run(sent)),
          await timed(() => engine.run(sent, 1 + passes)),
        ];
        return { rows, milliseconds: (more - one) / passes };
      }),
    async close() {
      engine.close();
    },
  };
}

// --- helpers ---

/** More would not be faster, and has to be there twice, for policy and reference. */
const MOST_CHUNK_BYTES = 2 ** 28;

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

/** The shader has no float64. */
function narrowed(input: RowsInput): RowsInput {
  const { policy, reference } = input;
  return {
    ...input,
    policy: single(policy),
    ...(reference === undefined ? {} : { reference: single(reference) }),
  };
}

function single(logits: LogitRows): LogitRows {
  return logits.dtype === 'float64' ? { dtype: 'float32', data: Float32Array.from(logits.data) } : logits;
}

function rowsPerChunk({ policy, reference, vocab }: RowsInput, bytes: number): number {
  const widest = Math.max(BYTES[policy.dtype], reference === undefined ? 0 : BYTES[reference.dtype]);
  return Math.max(1, Math.floor((bytes - WORD) / (vocab * widest)));
}

/**
 * Device sums to pieces, from row `from` on. The target's distance is taken from the logits in float64; rows that the
 * device flagged are computed here.
 */
function finish(input: RowsInput, pieces: RowPieces, from: number, sums: Float32Array): void {
  const { policy, reference, targets, vocab, temperature } = input;
  for (let at = 0; at < sums.length / OUTPUTS; at++) {
    const row = from + at;
    const [most, sum, dot, other, otherSum, cross, flag] = sums.subarray(at * OUTPUTS);
    if (flag !== 0) {
      fillPieces(input, pieces, row, row + 1);
      continue;
    }
    const index = row * vocab + (targets[row] as number);
    pieces.sum[row] = sum as number;
    pieces.dot[row] = dot as number;
    pieces.referenceSum[row] = otherSum as number;
    pieces.cross[row] = cross as number;
    pieces.target[row] = (seen(policy, index) - (most as number)) / temperature;
    pieces.referenceTarget[row] = (seen(reference ?? policy, index) - (other as number)) / temperature;
  }
}

/** As the device had it. */
function seen(logits: LogitRows, index: number): number {
  const value = logitAt(logits, index);
  return logits.dtype === 'float64' ? Math.fround(value) : value;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
