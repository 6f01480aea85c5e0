// The backend that is always there: float64 on the CPU, over worker threads where the input is large.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { rowLoop } from './loop.ts';
import {
  emptyPieces,
  inputComplaint,
  type LogitRows,
  type RowKernel,
  type RowPieces,
  type RowsInput,
  rowsBetween,
} from './rows.ts';
import { type SimdModule, simdLoop } from './simd.ts';
import { fillPieces, plainPieces, simdModule, tables } from './tables.ts';

export interface CpuOptions {
  /** Threads for large inputs; default: as many as there are cores, at most eight. */
  readonly threads?: number;
  /** Default: two lanes at a time, where Node can. Without it every row goes through the plain loop. */
  readonly simd?: boolean;
}

/** @throws RangeError with code ERR_ROWS for an input whose parts do not fit each other. */
export function cpuKernel(options: CpuOptions = {}): RowKernel {
  const threads = options.threads ?? Math.min(availableParallelism(), MOST_THREADS);
  const module = options.simd === false ? undefined : simdModule();
  const fill = module === undefined ? plainPieces : fillPieces;
  const pool = threads > 1 ? workers(threads, module) : undefined;
  return {
    name: 'cpu-f64',
    about: `${threads > 1 ? `${threads} threads` : 'one thread'}${module === undefined ? ', without SIMD' : ''}`,
    async rows(input) {
      const complaint = inputComplaint(input);
      if (complaint !== undefined) throw Object.assign(new RangeError(complaint), { code: 'ERR_ROWS' });
      const rows = input.targets.length;
      const pieces = emptyPieces(rows);
      if (pool === undefined || rows < 2 || rows * input.vocab < LEAST_FOR_THREADS)
        fill(input, pieces, 0, rows);
      else await divided(input, pieces, threads, pool);
      return pieces;
    },
    async close() {
      await pool?.close();
    },
  };
}

// --- helpers ---

/** Beyond this memory is the limit, not arithmetic. */
const MOST_THREADS = 8;
/** Logits; below, starting a thread costs more than it saves. */
const LEAST_FOR_THREADS = 2 ** 21;
/** Logits of the policy that a thread is handed at once: little memory, and no thread waits long for the last one. */
const CHUNK = 2 ** 20;

/** Each thread takes the next rows when it is done with its last. */
async function divided(input: RowsInput, pieces: RowPieces, threads: number, pool: Pool): Promise<void> {
  const rows = input.targets.length;
  const size = Math.max(1, Math.min(Math.floor(CHUNK / input.vocab), Math.ceil(rows / threads)));
  let next = 0;
  const work = async (_: unknown, thread: number): Promise<void> => {
    while (next < rows) {
      const from = next;
      next += size;
      const part = await pool.run(thread, rowsBetween(input, from, Math.min(rows, from + size)));
      for (const key of Object.keys(pieces) as (keyof RowPieces)[]) pieces[key].set(part[key], from);
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
}

interface Pool {
  run(thread: number, input: RowsInput): Promise<RowPieces>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  /** Memory that both sides see, one block for the policy's logits and one for the reference's. */
  readonly blocks: SharedArrayBuffer[];
}

/** A thread is started when it is first needed. Its rows are copied for it, so that the caller keeps its arrays. */
function workers(count: number, module: SimdModule | undefined): Pool {
  const started: (Thread | undefined)[] = Array.from({ length: count });
  const threadAt = (at: number): Thread => {
    const known = started[at];
    if (known !== undefined) return known;
    const worker = new Worker(WORKER, { eval: true, workerData: { tables: tables(), module } });
    // A thread that waits for work must not keep the process alive.
    worker.unref();
    const thread = { worker, blocks: [] };
    started[at] = thread;
    return thread;
  };
  /** One question at a time a thread: an answer does not say whose it is. */
  const ask = async (at: number, input: RowsInput): Promise<RowPieces> => {
    const { worker, blocks } = threadAt(at);
    worker.ref();
    try {
      const answer = once(worker, 'message');
      worker.postMessage(sharedCopy(input, blocks));
      return (await answer)[0] as RowPieces;
    } catch (error) {
      started[at] = undefined;
      throw error;
    } finally {
      worker.unref();
    }
  };
  const last: Promise<unknown>[] = Array.from({ length: count }, () => Promise.resolve());
  return {
    run(at, input) {
      const answer = (last[at] as Promise<unknown>).then(() => ask(at, input));
      last[at] = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      await Promise.all(started.map((thread) => thread?.worker.terminate()));
      started.fill(undefined);
    },
  };
}

function sharedCopy(input: RowsInput, blocks: SharedArrayBuffer[]): RowsInput {
  const copy = ({ dtype, data }: LogitRows, block: number): LogitRows => {
    if ((blocks[block]?.byteLength ?? 0) < data.byteLength)
      blocks[block] = new SharedArrayBuffer(data.byteLength);
    const Type = data.constructor as new (
      buffer: SharedArrayBuffer,
      at: number,
      length: number,
    ) => typeof data;
    const shared = new Type(blocks[block] as SharedArrayBuffer, 0, data.length);
    shared.set(data);
    return { dtype, data: shared } as LogitRows;
  };
  return {
    ...input,
    policy: copy(input.policy, 0),
    ...(input.reference === undefined ? {} : { reference: copy(input.reference, 1) }),
    targets: input.targets.slice(),
  };
}

/** What a thread runs: the loops' own text, so that no file has to be found at run time, whatever bundled this. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { tables, module } = workerData;
const plainPieces = (${rowLoop.toString()})(tables);
const fillPieces = module === undefined ? plainPieces : (${simdLoop.toString()})(plainPieces, tables, module);
parentPort.on('message', (input) => {
  const rows = input.targets.length;
  const zeros = () => new Float64Array(rows);
  const pieces = { sum: zeros(), dot: zeros(), target: zeros(), referenceSum: zeros(), referenceTarget: zeros(), cross: zeros() };
  fillPieces(input, pieces, 0, rows);
  parentPort.postMessage(pieces, Object.values(pieces).map((array) => array.buffer));
});
`;
