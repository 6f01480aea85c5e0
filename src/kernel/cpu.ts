// The backend that is always there: float64 on the CPU, over worker threads where the input is large.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { fillPieces } from './loop.ts';
import {
  emptyPieces,
  halvesOf,
  inputComplaint,
  type RowKernel,
  type RowPieces,
  type RowsInput,
  rowsBetween,
} from './rows.ts';

export interface CpuOptions {
  /** Threads for large inputs; default: as many as there are cores, at most eight. */
  readonly threads?: number;
}

/** @throws RangeError with code ERR_ROWS for an input whose parts do not fit each other. */
export function cpuKernel(options: CpuOptions = {}): RowKernel {
  const threads = options.threads ?? Math.min(availableParallelism(), MOST_THREADS);
  const pool = threads > 1 ? workers(threads) : undefined;
  return {
    name: 'cpu-f64',
    about: threads > 1 ? `${threads} threads` : 'one thread',
    async rows(input) {
      const complaint = inputComplaint(input);
      if (complaint !== undefined) throw Object.assign(new RangeError(complaint), { code: 'ERR_ROWS' });
      const rows = input.targets.length;
      if (pool === undefined || rows < 2 || rows * input.vocab < LEAST_FOR_THREADS) {
        const pieces = emptyPieces(rows);
        fillPieces(input, pieces, 0, rows, halvesOf(input));
        return pieces;
      }
      return joined(await Promise.all(parts(input, threads).map((part, at) => pool.run(at, part))));
    },
    async close() {
      await pool?.close();
    },
  };
}

// --- helpers ---

/** Beyond this memory is the limit, not arithmetic. */
const MOST_THREADS = 8;
/** Logits; below, starting a thread costs more than it saves: about 20 ms of exponentials. */
const LEAST_FOR_THREADS = 2 ** 21;

function parts(input: RowsInput, count: number): RowsInput[] {
  const rows = input.targets.length;
  const size = Math.ceil(rows / count);
  return Array.from({ length: Math.ceil(rows / size) }, (_, at) =>
    rowsBetween(input, at * size, Math.min(rows, (at + 1) * size)),
  );
}

function joined(all: readonly RowPieces[]): RowPieces {
  const pieces = emptyPieces(all.reduce((rows, { sum }) => rows + sum.length, 0));
  let at = 0;
  for (const part of all) {
    for (const key of Object.keys(pieces) as (keyof RowPieces)[]) pieces[key].set(part[key], at);
    at += part.sum.length;
  }
  return pieces;
}

interface Pool {
  run(thread: number, input: RowsInput): Promise<RowPieces>;
  close(): Promise<void>;
}

/** A thread is started when it is first needed. It is given its part as a copy, so that the caller keeps its arrays. */
function workers(count: number): Pool {
  const started: (Worker | undefined)[] = Array.from({ length: count });
  const workerAt = (thread: number): Worker => {
    const known = started[thread];
    if (known !== undefined) return known;
    const worker = new Worker(WORKER, { eval: true });
    // A thread that waits for work must not keep the process alive.
    worker.unref();
    started[thread] = worker;
    return worker;
  };
  /** One question at a time a thread: an answer does not say whose it is. */
  const ask = async (thread: number, input: RowsInput): Promise<RowPieces> => {
    const worker = workerAt(thread);
    const copied = copyOf(input);
    worker.ref();
    try {
      const answer = once(worker, 'message');
      worker.postMessage({ input: copied, halves: halvesOf(input) }, buffersOf(copied));
      return (await answer)[0] as RowPieces;
    } catch (error) {
      started[thread] = undefined;
      throw error;
    } finally {
      worker.unref();
    }
  };
  const last: Promise<unknown>[] = Array.from({ length: count }, () => Promise.resolve());
  return {
    run(thread, input) {
      const answer = (last[thread] as Promise<unknown>).then(() => ask(thread, input));
      last[thread] = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      await Promise.all(started.map((worker) => worker?.terminate()));
      started.fill(undefined);
    },
  };
}

function copyOf(input: RowsInput): RowsInput {
  const copy = (logits: RowsInput['policy']): RowsInput['policy'] =>
    ({ dtype: logits.dtype, data: logits.data.slice() }) as RowsInput['policy'];
  return {
    ...input,
    policy: copy(input.policy),
    ...(input.reference === undefined ? {} : { reference: copy(input.reference) }),
    targets: input.targets.slice(),
  };
}

function buffersOf({ policy, reference, targets }: RowsInput): ArrayBuffer[] {
  return [policy.data, reference?.data, targets].flatMap((array) =>
    array === undefined ? [] : [array.buffer as ArrayBuffer],
  );
}

/** What a thread runs: the loop's own text, so that no file has to be found at run time, whatever bundled this. */
const WORKER = `
const { parentPort } = require('node:worker_threads');
const fillPieces = ${fillPieces.toString()};
parentPort.on('message', ({ input, halves }) => {
  const rows = input.targets.length;
  const zeros = () => new Float64Array(rows);
  const pieces = { sum: zeros(), dot: zeros(), target: zeros(), referenceSum: zeros(), referenceTarget: zeros(), cross: zeros() };
  fillPieces(input, pieces, 0, rows, halves);
  parentPort.postMessage(pieces, Object.values(pieces).map((array) => array.buffer));
});
`;
