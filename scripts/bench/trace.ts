// What a traced step costs beside the same step, in time and in memory: one script with and without the tracer, in turn, each
// in a process of its own. Exit code 1 above 1.5 times a step, or 2 GB more than the script's own peak.
//   npm run bench:trace                       2 rows of 256 tokens, 0.1 billion parameters, a vocabulary of 150,000; and a small model
//   npm run bench:trace -- --write            into docs/benchmarks.md; only on a machine that does nothing else
//   npm run bench:trace -- --processor        holds processor time to the bound, where others use the machine
//   npm run bench:trace -- --only kept --rows 1 --columns 4096 --mode cheap
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { writeMeasured } from '../docs/measured.ts';

const GIGABYTE = 1e9;
const MOST_RATIO = 1.5;
const MOST_MEMORY = 2 * GIGABYTE;
const SCRIPT = join(PACKAGE_ROOT, 'scripts', 'bench', 'trace_script.py');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '2' },
    columns: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '5' },
    /** The first steps of each process: memory is found, threads are started. */
    dropped: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    mode: { type: 'string', default: 'auto' },
    processor: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const steps = Number(values.steps);
const passes = steps + Number(values.dropped);

interface Case {
  readonly name: string;
  readonly loss: 'kept' | 'chunked';
  readonly size: 'large' | 'small';
  /** Its ratio is shown and held to nothing: of a step of some milliseconds, all that is looked at is a large part. */
  readonly free?: boolean;
}
const CASES: readonly Case[] = [
  { name: 'the model computes the loss and keeps its logits', loss: 'kept', size: 'large' },
  { name: 'a chunked loss over hidden states', loss: 'chunked', size: 'large' },
  { name: 'a small model that keeps its logits', loss: 'kept', size: 'small', free: true },
];

interface Measured {
  /** Of each step. */
  readonly seconds: readonly number[];
  /** Of all threads: what to compare on a machine that others use, too. */
  readonly processor: readonly number[];
  readonly peak: number;
  readonly parameters: number;
  readonly threads: number;
  readonly torch: string;
}

async function measure({ loss, size }: Case, traced: boolean): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-trace-bench-'));
  const python = join(PACKAGE_ROOT, 'src', 'python');
  const env = traced
    ? {
        PYTHONPATH: `${join(python, 'lossproof_trace', 'bootstrap')}:${python}`,
        LOSSPROOF_TRACE: folder,
        LOSSPROOF_TRACE_STEPS: '0',
        LOSSPROOF_TRACE_MODE: values.mode,
      }
    : {};
  const words = [loss, size, values.rows, values.columns, values.steps, values.dropped];
  const { stdout } = await execa(PYTHON, [SCRIPT, ...words], { env, stderr: 'inherit' });
  if (traced) mustHaveSeen(folder);
  rmSync(folder, { recursive: true });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
}

/** A tracer that saw nothing would be quick. */
function mustHaveSeen(folder: string): void {
  const kinds = readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
  const trained = kinds.filter((kind) => kind === 'trained').length;
  if (trained !== passes || kinds.includes('trouble')) throw new Error(`${folder}: ${kinds.join(' ')}`);
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Compared {
  readonly words: string;
  readonly problem: string | undefined;
}

async function compare(each: Case): Promise<Compared> {
  const pairs: { readonly plain: Measured; readonly traced: Measured }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ plain: await measure(each, false), traced: await measure(each, true) });
  const over = (of: 'seconds' | 'processor'): number =>
    median(pairs.map(({ plain, traced }) => median(traced[of]) / median(plain[of])));
  const own = median(pairs.map(({ plain }) => median(plain.seconds)));
  const [wall, processor] = [over('seconds'), over('processor')];
  const [before, behind] = (['plain', 'traced'] as const).map((of) =>
    Math.max(...pairs.map((pair) => pair[of].peak)),
  ) as [number, number];
  const parameters = pairs[0]?.plain.parameters ?? 0;
  const cells = [
    each.name,
    parameters >= 1e8 ? `${(parameters / 1e9).toFixed(2)}e9` : `${(parameters / 1e6).toFixed(1)}e6`,
    `${(own * 1000).toFixed(0)}`,
    wall.toFixed(2),
    processor.toFixed(2),
    (before / GIGABYTE).toFixed(2),
    (behind / GIGABYTE).toFixed(2),
  ];
  const ratio = values.processor ? processor : wall;
  const problem =
    ratio > MOST_RATIO && each.free !== true
      ? `${each.name}: a traced step takes ${ratio.toFixed(2)} times a step, at most ${MOST_RATIO} is allowed`
      : behind - before > MOST_MEMORY
        ? `${each.name}: tracing takes ${((behind - before) / GIGABYTE).toFixed(2)} GB, at most 2 are allowed`
        : undefined;
  return { words: `| ${cells.join(' | ')} |`, problem };
}

const output: string[] = [];
const print = (line: string): void => {
  output.push(line);
  console.log(line);
};
const { stdout: versions } = await execa(PYTHON, [
  '-c',
  'import torch; print(torch.__version__, torch.get_num_threads())',
]);
const [torch, threads] = versions.trim().split(' ');
print(
  `torch ${torch}, ${threads} threads, ${cpus()[0]?.model.trim() ?? 'CPU'}, ${availableParallelism()} cores.\n`,
);
print(
  `(${values.rows}, ${values.columns}) tokens per step, mode ${values.mode}; of ${steps} steps the median, behind ${values.dropped} more; with and without ` +
    `the tracer in turn, of ${rounds} rounds the median of the ratios, and the largest peak:\n`,
);
print(
  '| script | parameters | ms per step | x traced | x traced, processor time | peak GB | peak GB traced |\n| --- | --- | --- | --- | --- | --- | --- |',
);
const problems: string[] = [];
for (const each of CASES.filter(({ name, loss, size }) => `${name} ${loss} ${size}`.includes(values.only))) {
  const { words, problem } = await compare(each);
  print(words);
  if (problem !== undefined) problems.push(problem);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
if (values.write) writeMeasured('benchmarks.md', 'trace', output);
