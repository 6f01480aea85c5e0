// The row kernel's backends beside torch on the same machine, in one run: milliseconds, GB/s, ratios to torch and to a plain
// copy of the logits, and errors against torch in float64. All take turns, round by round: a machine is never quiet for long.
// Needs .venv (npm run setup:trainers).
//   npm run bench:reference                   on the CPU, and on whatever adapter WebGPU finds
//   npm run bench:reference -- --write        into docs/benchmarks.md
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  cpuKernel,
  numbersOf,
  type RowKernel,
  type RowsInput,
  tfjsKernel,
  webGpuKernel,
} from '../../src/kernel/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { writeMeasured } from '../docs/measured.ts';

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '9' },
    device: { type: 'string', default: 'cpu' },
    python: { type: 'string', default: join(PACKAGE_ROOT, '.venv', 'bin', 'python') },
  },
});
const rounds = Number(values.rounds);

/** (B, T, V): a small vocabulary and the largest in use. */
const SHAPES = [
  [4, 256, 32_000],
  [2, 128, 151_936],
] as const;
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
}

interface Torch {
  readonly hello: { readonly threads: number; readonly torch: string; readonly errors: readonly number[] };
  go(work: 'copy' | 'float32' | 'float64'): Promise<number>;
  stop(): void;
}

/** Torch in a process of its own, which is asked a line at a time. */
async function startTorch(words: readonly (number | string)[]): Promise<Torch> {
  const script = join(PACKAGE_ROOT, 'scripts', 'bench', 'reference_torch.py');
  const child = spawn(values.python, [script, ...words.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] });
  // One that cannot be started ends without a line, which is told below.
  child.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const read = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${values.python} ended; is torch there? npm run setup:trainers`);
    return value;
  };
  const hello = JSON.parse(await read()) as Torch['hello'];
  return {
    hello,
    async go(work) {
      child.stdin.write(`${work}\n`);
      return Number(await read());
    },
    stop: () => void child.stdin.end(),
  };
}

function errorsOf(observed: readonly Float64Array[], exact: Float64Array, rows: number): number[] {
  return observed.map((track, at) =>
    track.reduce(
      (worst, value, row) => Math.max(worst, Math.abs(value - (exact[at * rows + row] as number))),
      0,
    ),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'lossproof-bench-'));
const threads = availableParallelism() > 1 ? [{ threads: 1 }, {}] : [{ threads: 1 }];
const kernels: RowKernel[] = threads.flatMap((each) => [
  cpuKernel({ ...each, simd: false }),
  cpuKernel(each),
]);
const absent: string[] = [];
for (const opened of [await webGpuKernel({ allowSoftware: true }), await tfjsKernel({ allowSoftware: true })])
  if ('problem' in opened) absent.push(opened.problem);
  else kernels.push(opened);

const output: string[] = [];
const print = (line: string): void => {
  output.push(line);
  console.log(line);
};
print(`Node ${process.version}, ${cpus()[0]?.model.trim() ?? 'CPU'}, ${availableParallelism()} cores.`);
for (const problem of absent) print(`Not measured: ${problem}.`);
try {
  for (const [batch, tokens, vocab] of SHAPES) {
    const rows = batch * tokens;
    const [policy, reference] = [logits(rows, vocab, 1), logits(rows, vocab, 2)];
    const input: RowsInput = {
      policy: { dtype: 'float32', data: policy },
      reference: { dtype: 'float32', data: reference },
      targets: Int32Array.from({ length: rows }, (_, row) => (row * 7) % vocab),
      vocab,
      temperature: TEMPERATURE,
    };
    const files = [join(folder, 'policy'), join(folder, 'reference')] as const;
    writeFileSync(files[0], policy);
    writeFileSync(files[1], reference);
    const out = join(folder, 'exact');
    const torch = await startTorch([...files, rows, vocab, TEMPERATURE, values.device, out]);
    const { hello } = torch;
    const bytes = readFileSync(out);
    const exact = new Float64Array(bytes.buffer, bytes.byteOffset, NUMBERS.length * rows);
    const target = new Float32Array(policy.length);
    const contestants: Contestant[] = [
      {
        name: `torch ${hello.torch} float64, ${values.device}, ${hello.threads} threads`,
        go: () => torch.go('float64'),
      },
      { name: 'torch float32', go: () => torch.go('float32'), errors: hello.errors },
      { name: 'copy of one of the two, torch', go: () => torch.go('copy') },
      { name: 'copy of one of the two, Node', go: () => timed(() => target.set(policy)) },
    ];
    for (const kernel of kernels) {
      const numbers = numbersOf(await kernel.rows(input));
      contestants.push({
        name: `${kernel.name}, ${kernel.about}`,
        go: () => timed(() => kernel.rows(input)),
        errors: errorsOf(
          NUMBERS.map((name) => numbers[name]),
          exact,
          rows,
        ),
      });
    }
    const times: number[][] = contestants.map(() => []);
    // The first round starts threads, compiles and finds memory.
    for (let round = 0; round <= rounds; round++)
      for (const [at, { go }] of contestants.entries()) {
        const milliseconds = await go();
        if (round > 0) times[at]?.push(milliseconds);
      }
    torch.stop();
    const gigabytes = (2 * policy.byteLength) / 1e9;
    print(
      `\n(${batch}, ${tokens}, ${vocab.toLocaleString('en')}), policy and reference float32, ${gigabytes.toFixed(2)} GB, medians of ${rounds} rounds, ratios within a round:\n`,
    );
    print(
      '| backend | ms | GB/s | x torch float64 | x torch float32 | x copy | errors: logprob, ref, entropy, KL |',
    );
    print('| --- | --- | --- | --- | --- | --- | --- |');
    const [float64 = [], float32 = [], copy = []] = times;
    for (const [at, { name, errors }] of contestants.entries()) {
      const mine = times[at] ?? [];
      const milliseconds = median(mine);
      const speed = errors === undefined && name.startsWith('copy') ? gigabytes / 2 : gigabytes;
      const ratios = [float64, float32, copy].map((base) =>
        median(mine.map((time, round) => time / (base[round] as number))).toFixed(2),
      );
      const shown = errors?.map((error) => error.toExponential(1)).join(', ') ?? '';
      print(
        `| ${name} | ${milliseconds.toFixed(0)} | ${((speed * 1000) / milliseconds).toFixed(2)} | ${ratios.join(' | ')} | ${shown} |`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all(kernels.map((kernel) => kernel.close()));
}

if (values.write) writeMeasured('benchmarks.md', 'reference', output);
