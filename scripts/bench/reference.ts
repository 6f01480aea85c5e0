// The row kernel's backends beside torch on the same machine, in one run: milliseconds, GB/s, ratios to torch and to a plain
// copy of the logits, and errors against torch in float64. All take turns, round by round: a machine is never quiet for long.
// Torch is that of .venv (npm run setup:trainers), of --python, or of python3; where there is none, errors are against the plain loop.
//   npm run bench:reference                   on the CPU, and on whatever adapter WebGPU finds
//   npm run bench:reference -- --write        into docs/benchmarks.md
//   npm run bench:reference -- --device auto --compile --large      torch on its GPU, torch.compile too, and a gigabyte a matrix
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  cpuKernel,
  numbersOf,
  type RowKernel,
  type RowNumbers,
  type RowsInput,
  tfjsKernel,
  webGpuKernel,
} from '../../src/kernel/index.ts';
import { writeMeasured } from '../docs/measured.ts';
import { pythonWithTorch, startTorch } from './torch.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    write: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '9' },
    /** Torch's: cpu, cuda, or auto. */
    device: { type: 'string', default: 'cpu' },
    compile: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    python: { type: 'string' },
  },
});
const rounds = Number(values.rounds);

/** (B, T, V): a small vocabulary and the largest in use. */
const SHAPES = [[4, 256, 32_000] as const, [2, 128, 151_936] as const];
/** What keeps a GPU busy: a gigabyte a matrix. */
const LARGE = [[4, 2_048, 32_000] as const, [2, 896, 151_936] as const];
/** Goes over logits that are on the device, to time one; a software adapter takes seconds each. */
const PASSES = 100;
const SOFTWARE_PASSES = 1;
/** Logits a matrix, above which the CPU would take minutes of a machine that is there for its GPU. */
const MOST_ON_CPU = 2 ** 26;
const TEMPERATURE = 0.7;
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const NUMBERS = ['logprobs', 'refLogprobs', 'entropy', 'kl'] as const;
const MODULUS = 2 ** 32;

if (process.env.VK_DRIVER_FILES === undefined && values.device === 'cpu' && existsSync(SOFTWARE_DRIVER))
  process.env.VK_DRIVER_FILES = SOFTWARE_DRIVER;

/** Logits as a model's: normal, with a few peaks a row. */
function logits(rows: number, vocab: number, seed: number): Float32Array {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / MODULUS;
  };
  // Three uniform numbers are near enough to a normal one, and cost no logarithm each.
  const made = Float32Array.from({ length: rows * vocab }, () => 4 * (next() + next() + next() - 1.5));
  for (let row = 0; row < rows; row++)
    for (let peak = 0; peak < 5; peak++) made[row * vocab + Math.floor(next() * vocab)] = 8 + 8 * next();
  return made;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

interface Contestant {
  readonly name: string;
  /** Milliseconds of one go. */
  readonly go: () => Promise<number>;
  readonly errors?: readonly number[];
  /** Of the logits: a copy is of one of the two. */
  readonly share?: number;
}

function errorsOf(observed: readonly Float64Array[], exact: Float64Array, rows: number): number[] {
  return observed.map((track, at) =>
    track.reduce(
      (worst, value, row) => Math.max(worst, Math.abs(value - (exact[at * rows + row] as number))),
      0,
    ),
  );
}

function errorsAgainst(exact: Float64Array, numbers: RowNumbers, rows: number): number[] {
  return errorsOf(
    NUMBERS.map((name) => numbers[name]),
    exact,
    rows,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'lossproof-bench-'));
const webgpu = await webGpuKernel({ allowSoftware: true });
const tensorFlow = await tfjsKernel({ allowSoftware: true });
const threads = availableParallelism() > 1 ? [{ threads: 1 }, {}] : [{ threads: 1 }];
// On a GPU's machine the two that are compared with it.
const kernels: RowKernel[] = threads.flatMap((each) => [
  ...(values.large ? [] : [cpuKernel({ ...each, simd: false })]),
  cpuKernel(each),
]);
const absent: string[] = [];
for (const opened of [webgpu, tensorFlow])
  if ('problem' in opened) absent.push(opened.problem);
  else kernels.push(opened);
const python = pythonWithTorch(values.python);
if (python === undefined) absent.push('no Python with torch');

const output: string[] = [];
const print = (line: string): void => {
  output.push(line);
  console.log(line);
};
print(`Node ${process.version}, ${cpus()[0]?.model.trim() ?? 'CPU'}, ${availableParallelism()} cores.`);
for (const problem of absent) print(`Not measured: ${problem}.`);
try {
  for (const shape of [...SHAPES, ...(values.large ? LARGE : [])]) await measure(shape);
} finally {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all(kernels.map((kernel) => kernel.close()));
}
if (values.write) writeMeasured('benchmarks.md', 'reference', output);

async function measure([batch, tokens, vocab]: readonly [number, number, number]): Promise<void> {
  const rows = batch * tokens;
  const [policy, reference] = [logits(rows, vocab, 1), logits(rows, vocab, 2)];
  const input: RowsInput = {
    policy: { dtype: 'float32', data: policy },
    reference: { dtype: 'float32', data: reference },
    targets: Int32Array.from({ length: rows }, (_, row) => (row * 7) % vocab),
    vocab,
    temperature: TEMPERATURE,
  };
  const target = new Float32Array(policy.length);
  const contestants: Contestant[] = [];
  let exact: Float64Array;
  let stop: (() => void) | undefined;
  if (python === undefined) {
    const plain = numbersOf(await cpuKernel({ simd: false }).rows(input));
    exact = Float64Array.from(NUMBERS.flatMap((name) => [...plain[name]]));
  } else {
    const files = [join(folder, 'policy'), join(folder, 'reference')] as const;
    writeFileSync(files[0], policy);
    writeFileSync(files[1], reference);
    const out = join(folder, 'exact');
    const asked = values.compile ? 'compile' : 'eager';
    const torch = await startTorch(python, [
      ...[...files, rows, vocab],
      ...[TEMPERATURE, values.device, out, asked],
    ]);
    const { about, errors, compiled } = torch.hello;
    const bytes = readFileSync(out);
    exact = new Float64Array(bytes.buffer, bytes.byteOffset, NUMBERS.length * rows);
    contestants.push(
      { name: `${about}, float64`, go: () => torch.go('float64') },
      { name: 'torch float32', go: () => torch.go('float32'), errors },
      { name: 'copy of one of the two, torch', go: () => torch.go('copy'), share: 1 / 2 },
    );
    if (compiled === null)
      contestants.push({ name: 'torch.compile, float32', go: () => torch.go('compiled') });
    else if (values.compile) print(`\nNot measured: torch.compile (${compiled}).`);
    stop = torch.stop;
  }
  contestants.push({
    name: 'copy of one of the two, Node',
    go: () => timed(() => target.set(policy)),
    share: 1 / 2,
  });
  for (const kernel of kernels.filter(({ name }) => rows * vocab <= MOST_ON_CPU || name !== 'cpu-f64')) {
    const numbers = numbersOf(await kernel.rows(input));
    contestants.push({
      name: `${kernel.name}, ${kernel.about}`,
      go: () => timed(() => kernel.rows(input)),
      errors: errorsAgainst(exact, numbers, rows),
    });
  }
  if (!('problem' in webgpu)) {
    const passes = /swiftshader|llvmpipe/i.test(webgpu.about) ? SOFTWARE_PASSES : PASSES;
    const { rows: sent } = await webgpu.onDevice(input, passes);
    contestants.push({
      name: 'webgpu, logits on the device',
      go: async () => (await webgpu.onDevice(input, passes)).milliseconds,
      share: sent / rows,
    });
  }
  const times: number[][] = contestants.map(() => []);
  // The first round starts threads, compiles and finds memory.
  for (let round = 0; round <= rounds; round++)
    for (const [at, { go }] of contestants.entries()) {
      const milliseconds = await go();
      if (round > 0) times[at]?.push(milliseconds);
    }
  stop?.();
  show([batch, tokens, vocab], contestants, times);
}

function show(
  [batch, tokens, vocab]: readonly [number, number, number],
  contestants: readonly Contestant[],
  times: readonly (readonly number[])[],
): void {
  const gigabytes = (2 * batch * tokens * vocab * Float32Array.BYTES_PER_ELEMENT) / 1e9;
  const of = (name: string): number => contestants.findIndex((each) => each.name.includes(name));
  const bases = [
    ['torch float64', of(', float64')],
    ['torch float32', of('torch float32')],
    ['copy', Math.max(of('two, torch'), 0) || of('two, Node')],
  ] as const;
  const shown = bases.filter(([, at]) => at >= 0);
  print(
    `\n(${batch}, ${tokens}, ${vocab.toLocaleString('en')}), policy and reference float32, ${gigabytes.toFixed(2)} GB, medians of ${rounds} rounds, ratios within a round:\n`,
  );
  const heads = ['backend', 'ms', 'GB/s', ...shown.map(([name]) => `x ${name}`)];
  print(`| ${heads.join(' | ')} | errors: logprob, ref, entropy, KL |`);
  print(`| ${heads.map(() => '---').join(' | ')} | --- |`);
  for (const [at, { name, errors, share = 1 }] of contestants.entries()) {
    const mine = times[at] ?? [];
    const milliseconds = median(mine);
    // What takes a part of the logits is compared by what it would take for all of them.
    const whole = share === 1 || name.startsWith('copy') ? 1 : share;
    const ratios = shown.map(([, base]) =>
      median(mine.map((time, round) => time / whole / (times[base]?.[round] ?? Number.NaN))).toFixed(2),
    );
    print(
      `| ${name} | ${digits(milliseconds / whole)} | ${((share * gigabytes * 1000) / milliseconds).toFixed(2)} | ${ratios.join(' | ')} | ${errors?.map((error) => error.toExponential(1)).join(', ') ?? ''} |`,
    );
  }
}

function digits(milliseconds: number): string {
  return milliseconds < 10 ? milliseconds.toPrecision(2) : milliseconds.toFixed(0);
}
