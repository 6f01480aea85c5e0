// How the cost of a run grows: exponents of processor time against cases, tokens per row and vocabulary, the memory of both
// processes once a tenth of the cases is behind, and the time that two workers take of that of one. Exit code 1 above the bounds below.
//   npm run bench:scaling                     200,000 cases for the memory; some minutes
//   npm run bench:scaling -- --million        a million
//   npm run bench:scaling -- --write          into docs/benchmarks.md
//   npm run bench:scaling -- --only cases,memory --rounds 1
//   npm run bench:scaling -- --only workers --write     a table of its own; needs .venv, and a machine that does nothing else
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { writeMeasured } from '../../docs/measured.ts';
import { pythonWithTorch } from '../torch.ts';
import { exponentOf, median, medianOfPairs, mediansOf, type Point } from './exponents.ts';
import type { Cost, Held, Memory } from './measured.ts';
import { ownBytes } from './snapshot.ts';
import { type Pair, pairOf, shareOf, watched } from './workers.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'cases,tokens,vocabulary,workers,memory' },
    /** Of the properties that workers are dealt. */
    level: { type: 'string', default: 'must' },
    million: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const only = values.only.split(',');

/** Above linear by less than what a cache that is too small costs. */
const MOST_EXPONENT = 1.1;
const MOST_GROWTH = 0.05;
/** Of a process, what an allocator takes at once more or less says nothing. */
const LEAST_BYTES = 2e6;
const MEASURED = join(PACKAGE_ROOT, 'dist', 'scripts', 'bench', 'scaling', 'measured.js');
const ONE = 'mask/prompt-is-never-trained';
const ALL = 'all';
/** So many of the catalogue the bundled example can be held to, in round numbers: they share the cases of a run over all. */
const PROPERTIES = 300;
/** Of a property, beside workers: a run that is worth them, in which imports are a few percent. */
const WORKERS_CASES = 600;
/** Runs over the whole catalogue in one process. */
const TIMES = 10;

interface Axis {
  readonly name: string;
  readonly words: string;
  readonly sizes: readonly number[];
  /** Seconds of processor time. */
  readonly measure: (size: number) => Promise<number>;
}

const costOf =
  (axis: string) =>
  async (size: number): Promise<number> => {
    const { engine, trainer } = await measured<Cost>(axis, String(size));
    return engine + trainer;
  };
const AXES: readonly Axis[] = [
  {
    name: 'cases',
    words: 'cases of one property, engine and trainer',
    sizes: [4_000, 8_000, 16_000, 32_000, 64_000],
    measure: costOf('cases'),
  },
  {
    name: 'tokens',
    words: 'tokens per row, engine and trainer',
    sizes: [512, 1_024, 2_048, 4_096, 8_192],
    measure: costOf('tokens'),
  },
  {
    name: 'vocabulary',
    words: 'vocabulary, engine and trainer',
    sizes: [2_048, 4_096, 8_192, 16_384, 32_768],
    measure: costOf('vocabulary'),
  },
];

/** What a row may be held to. */
const BOUND = { data: 'our data', resident: 'our process', trainer: 'trainer' } as const;

const lines: string[] = [];
const problems: string[] = [];

const head = `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; rounds: ${rounds}`;
if (only.some((name) => name !== 'workers')) await growth();
if (only.includes('workers')) await workers();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

async function growth(): Promise<void> {
  print(`${head}.`);
  print('');
  print('| processor time against | sizes | exponent, least squares of medians | median of pairs |');
  print('| --- | --- | --- | --- |');
  for (const axis of AXES.filter(({ name }) => only.includes(name))) await time(axis);

  if (only.includes('memory')) {
    const total = values.million ? 1_000_000 : 200_000;
    print('');
    print(
      '| memory after a tenth of the cases, and behind the last tenth | our data, MB | compiled code, MB | our process, MB | trainer, MB | at most 5 % more |',
    );
    print('| --- | --- | --- | --- | --- | --- |');
    await memory(ONE, total, 1, ['data', 'resident', 'trainer']);
    // In one run over all properties what grows is what each needs that had not come yet: no bound can tell that from what is left
    // of a case. That shows where the catalogue comes again, from the second time on: of the process, what the collector has not
    // given back says nothing there.
    await memory(ALL, Math.round(total / PROPERTIES), 1, []);
    await memory(ALL, Math.round(total / PROPERTIES / TIMES), TIMES, ['data']);
  }

  end('scaling');
}

/** In turn, so that the ratio holds where times do not. */
async function workers(): Promise<void> {
  const python = pythonWithTorch(undefined);
  if (python === undefined) throw new Error('no Python with torch; npm run setup:trainers');
  const asked = { python, level: values.level, cases: WORKERS_CASES };
  // Read from disk before it is measured.
  await watched(1, { ...asked, cases: 1 });
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round++) pairs.push(await pairOf(asked));
  const { lines: told, problems: found } = shareOf(pairs);
  const options = `--level ${asked.level} --cases ${asked.cases} --seed 1`;
  print(`${head}; \`check --adapter trl-sft ${options}\`, ${pairs[0]?.[0].runtime}; medians.`);
  for (const line of ['', ...told]) print(line);
  problems.push(...found);
  end('workers');
}

/** A table of its own in the page. */
function end(name: string): void {
  if (values.write) writeMeasured('benchmarks.md', name, lines);
  lines.length = 0;
}

async function time({ words, sizes, measure }: Axis): Promise<void> {
  const all: Point[][] = [];
  for (let round = 0; round < rounds; round++) {
    const points: Point[] = [];
    for (const size of sizes) points.push([size, await measure(size)]);
    all.push(points);
  }
  const [fitted, pairs] = [exponentOf(mediansOf(all)), medianOfPairs(all)];
  const shown = sizes.map((size) => size.toLocaleString('en'));
  print(`| ${words} | ${shown.join('; ')} | ${fitted.toFixed(2)} | ${pairs.toFixed(2)} |`);
  if (Math.min(fitted, pairs) > MOST_EXPONENT)
    problems.push(`${words}: the exponent is ${fitted.toFixed(2)}, at most ${MOST_EXPONENT} is allowed`);
}

/** `bound`: what of it may not grow behind the first tenth; of several runs, behind the second. */
async function memory(
  ids: string,
  cases: number,
  times: number,
  bound: readonly (keyof typeof BOUND)[],
): Promise<void> {
  const { held, snapshots } = await measured<Memory>('memory', ids, String(cases), String(times));
  const tenth = Math.floor(held.length / 10);
  const [second, last] = snapshots.map(ownBytes);
  const of = (name: keyof Held): readonly [number, number] =>
    name === 'data' && second !== undefined && last !== undefined
      ? [second, last]
      : [
          median(held.slice(tenth, 2 * tenth).map((each) => each[name])),
          median(held.slice(-tenth).map((each) => each[name])),
        ];
  const names = ['data', 'code', 'resident', 'trainer'] as const;
  const cells = names.map((name) => {
    const [before, behind] = of(name);
    return `${megabytes(before)} → ${megabytes(behind)} (${percent(behind / before - 1)})`;
  });
  const all = held.at(-1)?.cases ?? 0;
  const which = ids === ALL ? 'all properties' : `\`${ids}\``;
  const run = times === 1 ? which : `${which}, ${times} runs in one process`;
  const kept = bound.map((name) => BOUND[name]).join(', ') || 'nothing';
  print(`| ${run}, ${all.toLocaleString('en')} cases | ${cells.join(' | ')} | ${kept} |`);
  for (const name of bound) {
    const [before, behind] = of(name);
    const counts = name === 'data' || behind - before > LEAST_BYTES;
    if (counts && behind / before - 1 > MOST_GROWTH)
      problems.push(`${run}: ${name} grew by ${percent(behind / before - 1)}, at most 5 % is allowed`);
  }
}

async function measured<T>(...words: readonly string[]): Promise<T> {
  const { stdout } = await execa(process.execPath, [MEASURED, ...words], { stderr: 'inherit' });
  return JSON.parse(stdout) as T;
}

function print(line: string): void {
  lines.push(line);
  console.log(line);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`;
}
