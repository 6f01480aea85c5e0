// One measurement in a process of its own, printed as JSON: what a size costs, or how much memory a run holds as it goes on.
//   node measured.js cases|tokens|vocabulary SIZE
//   node measured.js memory ID|all CASES TIMES: cases per property, and how often that is run
import '../../../src/cli/heap.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapCodeStatistics, setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { properties } from '../../../properties/index.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { type Property, run, startTrainer } from '../../../src/index.ts';
import { residentBytes } from '../../../src/trainer/processes/memory.ts';
import { trainersOf } from './processes.ts';
import { type Sized, tokensARow, vocabulary } from './sized.ts';

/** What a run holds after so many cases, in bytes. */
export interface Held {
  readonly cases: number;
  /** Of our own process, what is reached, compiled code aside: that grows with the properties that have run, up to its end. */
  readonly data: number;
  readonly code: number;
  readonly resident: number;
  /** Of the trainer. */
  readonly trainer: number;
}

export interface Memory {
  readonly held: readonly Held[];
  /** Where there are several runs: files of the heap behind the second and behind the last. */
  readonly snapshots: readonly string[];
}

/** Seconds of processor time of both processes. */
export interface Cost {
  readonly engine: number;
  readonly trainer: number;
}

const MASK = 'mask/prompt-is-never-trained';
/** Compiled before it is measured. */
const WARM_CASES = 3_000;
const LOOKS = 100;

const [what = '', first = '', second = '', third = ''] = process.argv.slice(2);
const output =
  what === 'memory' ? await memory(first, Number(second), Number(third)) : await cost(what, Number(first));
process.stdout.write(`${JSON.stringify(output)}\n`);

async function cost(axis: string, size: number): Promise<Cost> {
  const started = await startTrainer({ command: ['python3', '-m', 'lossproof.examples.left_padded'] });
  if ('failure' in started) throw new Error(started.failure.message);
  const { trainer } = started;
  const checked = async ({ property, cases }: Sized, seed: number): Promise<void> => {
    const options = { trainer, tokenizer: undefined, properties: [property], command: 'bench' };
    const [result] = await run({ ...options, seed, cases }, () => undefined);
    if (result?.verdict !== 'pass' || result.cases !== cases)
      throw new Error(`${property.id}: ${result?.verdict} ${result?.reason ?? ''}`);
  };
  const chosen = sizedFor(axis, size);
  await checked({ property: named(MASK), cases: WARM_CASES }, 1);
  await checked({ ...chosen, cases: Math.min(chosen.cases, WARM_CASES) }, 1);
  const before = spent();
  await checked(chosen, 2);
  const after = spent();
  await trainer.stop();
  return { engine: after.engine - before.engine, trainer: after.trainer - before.trainer };
}

function sizedFor(axis: string, size: number): Sized {
  if (axis === 'cases') return { property: named(MASK), cases: size };
  if (axis === 'tokens') return tokensARow(named(MASK), size);
  if (axis === 'vocabulary') return vocabulary(named('logprobs/equal-the-reference'), size);
  throw new Error(axis);
}

function named(id: string): Property {
  const property = properties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property is called ${id}`);
  return property;
}

function spent(): Cost {
  const { user, system } = process.cpuUsage();
  const trainers = trainersOf(process.pid).reduce((all, { seconds }) => all + seconds, 0);
  return { engine: (user + system) / 1e6, trainer: trainers };
}

/** The command as users have it, looked at from within one hundred times. */
async function memory(ids: string, cases: number, times: number): Promise<Memory> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const chosen = properties.filter(({ id }) => ids === 'all' || id === ids);
  const every = Math.max(1, Math.round((cases * chosen.length * times) / LOOKS));
  const held: Held[] = [];
  let done = 0;
  const look = (): void => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const { code_and_metadata_size: machine, bytecode_and_metadata_size: bytes } = getHeapCodeStatistics();
    const code = machine + bytes;
    const trainer = trainersOf(process.pid).reduce((all, { pid }) => all + (residentBytes(pid) ?? 0), 0);
    held.push({ cases: done, data: heapUsed + external - code, code, resident: rss, trainer });
  };
  const counted = chosen.map(
    (property): Property => ({
      ...property,
      check(subject, given) {
        done += 1;
        if (done % every === 0) look();
        return property.check(subject, given);
      },
    }),
  );
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-scaling-'));
  const silent = { write: () => undefined, isTty: false, columns: 100 };
  const checked = async (count: number, seen: readonly Property[], seed = 1): Promise<void> => {
    const argv = ['check', '--bundled', '--level', 'may', '--seed', String(seed), '--cases', String(count)];
    await runProgram([...argv, '--events', 'events.ndjson'], {
      cwd: folder,
      env: process.env,
      out: silent,
      err: { ...silent, write: (text) => void process.stderr.write(text) },
      properties: async () => seen,
      onInterrupt: () => () => undefined,
      exitNow: (code) => process.exit(code),
    });
  };
  // Of many properties each is compiled as it comes, which is no growth with the cases.
  if (chosen.length > 1) await checked(LOOKS, chosen);
  const snapshots: string[] = [];
  for (let time = 1; time <= times; time++) {
    await checked(cases, counted, time);
    // The first may still bring what a property needs.
    if (times === 1 || (time !== 2 && time !== times)) continue;
    collect();
    snapshots.push(
      writeHeapSnapshot(join(tmpdir(), `lossproof-scaling-${process.pid}-${time}.heapsnapshot`)),
    );
  }
  rmSync(folder, { recursive: true });
  return { held, snapshots };
}
