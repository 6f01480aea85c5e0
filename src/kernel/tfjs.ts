// The backend for whoever has TensorFlow.js for Node: the same sums in tensor operations, float32 on the device. The package is
// not installed with lossproof: its own installation wants CUDA 11. `npm run setup:tfjs` builds it against a TensorFlow of today.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import util from 'node:util';
import { PACKAGE_ROOT } from '../version.ts';
import {
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

/** What of TensorFlow.js is used. Operations are functions: chained ones are not registered everywhere. */
export interface TensorFlow {
  tensor2d(values: Float32Array, shape: [number, number]): Tensor;
  scalar(value: number): Tensor;
  max(x: Tensor, axis: number, keepDims: boolean): Tensor;
  sum(x: Tensor, axis: number): Tensor;
  sub(a: Tensor, b: Tensor): Tensor;
  mul(a: Tensor, b: Tensor): Tensor;
  exp(x: Tensor): Tensor;
  greater(a: Tensor, b: Tensor): Tensor;
  where(condition: Tensor, a: Tensor, b: Tensor): Tensor;
  zerosLike(x: Tensor): Tensor;
  stack(tensors: Tensor[]): Tensor;
  tidy(work: () => Tensor): Tensor;
  getBackend(): string;
}

export interface Tensor {
  data(): Promise<Float32Array | Int32Array | Uint8Array>;
  dispose(): void;
}

export interface TfjsOptions {
  /** TensorFlow on the CPU, where it finds no GPU: for tests, and where the user names the backend. */
  readonly allowSoftware: boolean;
  /** Where it was built; default: LOSSPROOF_TFJS, or .tfjs beside this package. */
  readonly folder?: string;
}

/** Loads the optional package, or says in words why it cannot. */
export async function tfjsKernel(options: TfjsOptions): Promise<RowKernel | { readonly problem: string }> {
  // Removed from Node 23 on, and still called by the package's last release.
  const shimmed = util as { isNullOrUndefined?: (value: unknown) => boolean };
  shimmed.isNullOrUndefined ??= (value) => value === null || value === undefined;
  // Else TensorFlow begins with lines about the processor, and calls it an error that there is no GPU. `setup:tfjs` shows them.
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '3';
  // Else it takes all memory of the GPU, which may be the trainer's.
  process.env.TF_FORCE_GPU_ALLOW_GROWTH ??= 'true';
  const folder = options.folder ?? (process.env.LOSSPROOF_TFJS || join(PACKAGE_ROOT, '.tfjs'));
  let tf: TensorFlow & NodeTensorFlow;
  try {
    tf = load(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return {
      problem: `${PACKAGE} does not load (${reason}); \`npm run setup:tfjs\` builds it, with --prefix node_modules/lossproof where that is installed`,
    };
  }
  const { isUsingGpuDevice, binding } = tf.backend();
  const about = `TensorFlow ${binding.TF_Version} on the ${isUsingGpuDevice ? 'GPU' : 'CPU'}`;
  if (!isUsingGpuDevice && !options.allowSoftware) return { problem: `${about}, which is no GPU` };
  return tensorKernel(tf, about);
}

/** The kernel over any TensorFlow.js that is there. */
export function tensorKernel(tf: TensorFlow, about: string): RowKernel {
  return {
    name: 'tfjs-node-gpu',
    about,
    async rows(input) {
      const complaint = inputComplaint(input);
      if (complaint !== undefined) throw Object.assign(new RangeError(complaint), { code: 'ERR_ROWS' });
      const pieces = emptyPieces(input.targets.length);
      const perChunk = Math.max(1, Math.floor(CHUNK_LOGITS / input.vocab));
      for (let from = 0; from < input.targets.length; from += perChunk) {
        const to = Math.min(input.targets.length, from + perChunk);
        await fillChunk(tf, rowsBetween(input, from, to), from, pieces, input);
      }
      return pieces;
    },
    async close() {
      // Tensors are freed with each chunk.
    },
  };
}

// --- helpers ---

const PACKAGE = '@tensorflow/tfjs-node-gpu';

/** What only TensorFlow.js for Node knows. */
interface NodeTensorFlow {
  backend(): { readonly isUsingGpuDevice: boolean; readonly binding: { readonly TF_Version: string } };
}

/** What was built comes before a package that an installation of its own may have left half done. */
function load(folder: string): TensorFlow & NodeTensorFlow {
  const built = createRequire(join(folder, 'package.json'));
  let path: string;
  try {
    path = built.resolve(PACKAGE);
  } catch {
    path = createRequire(import.meta.url).resolve(PACKAGE);
  }
  return built(path) as TensorFlow & NodeTensorFlow;
}

/** Some ten tensors of a chunk's size live at a time: 640 MB. */
const CHUNK_LOGITS = 2 ** 24;
/** Sums of a row: most, sum, dot, and the reference's most and sum, and cross. */
const SUMS = 6;

async function fillChunk(
  tf: TensorFlow,
  chunk: RowsInput,
  from: number,
  pieces: RowPieces,
  input: RowsInput,
): Promise<void> {
  const { policy, reference, targets, vocab, temperature } = chunk;
  const rows = targets.length;
  const stacked = tf.tidy(() => {
    const inverse = tf.scalar(1 / temperature);
    const zero = tf.scalar(0);
    const reduce = (logits: LogitRows): { most: Tensor; d: Tensor; e: Tensor } => {
      const z = tf.tensor2d(single(logits), [rows, vocab]);
      const most = tf.max(z, 1, true);
      const d = tf.mul(tf.sub(z, most), inverse);
      return { most, d, e: tf.exp(d) };
    };
    const mine = reduce(policy);
    const other = reference === undefined ? mine : reduce(reference);
    // An impossible token adds nothing, and 0 * -Infinity would be NaN.
    const weighted = (d: Tensor): Tensor =>
      tf.sum(tf.where(tf.greater(mine.e, zero), tf.mul(mine.e, d), tf.zerosLike(d)), 1);
    const one = (x: Tensor): Tensor => tf.sum(x, 1);
    return tf.stack([
      one(mine.most),
      one(mine.e),
      weighted(mine.d),
      one(other.most),
      one(other.e),
      weighted(other.d),
    ]);
  });
  const sums = await stacked.data();
  stacked.dispose();
  for (let row = 0; row < rows; row++) {
    const [most, sum, dot, otherMost, otherSum, cross] = Array.from(
      { length: SUMS },
      (_, at) => sums[at * rows + row] as number,
    ) as [number, number, number, number, number, number];
    // NaN and infinities: the loop knows what they mean.
    if (![most, sum, dot, otherMost, otherSum, cross].every(Number.isFinite)) {
      fillPieces(input, pieces, from + row, from + row + 1);
      continue;
    }
    const index = row * vocab + (targets[row] as number);
    pieces.sum[from + row] = sum;
    pieces.dot[from + row] = dot;
    pieces.referenceSum[from + row] = otherSum;
    pieces.cross[from + row] = cross;
    pieces.target[from + row] = (Math.fround(logitAt(policy, index)) - most) / temperature;
    pieces.referenceTarget[from + row] =
      (Math.fround(logitAt(reference ?? policy, index)) - otherMost) / temperature;
  }
}

function single(logits: LogitRows): Float32Array {
  return logits.dtype === 'float32'
    ? logits.data
    : Float32Array.from(logits.data, (_, index) => logitAt(logits, index));
}
