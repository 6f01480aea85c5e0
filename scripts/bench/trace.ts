// What tracing two steps costs, in time and in memory: the same script with and without the tracer, in turn, each in a
// process of its own. `npm run bench:trace -- --tokens 4096 --repeat 2 --loss kept|chunked --mode cheap|exact`.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';

const GIGABYTE = 2 ** 30;
const SCRIPT = join(PACKAGE_ROOT, 'scripts', 'bench', 'trace_script.py');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');

interface Measured {
  readonly seconds: readonly number[];
  /** Of all threads: what to compare on a machine that others use, too. */
  readonly processor: readonly number[];
  readonly peak: number;
  readonly parameters: number;
}

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '1024' },
    repeat: { type: 'string', default: '1' },
    loss: { type: 'string', multiple: true, default: ['kept', 'chunked'] },
    mode: { type: 'string', default: 'cheap' },
  },
});

async function measure(loss: string, traced: boolean): Promise<Measured> {
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
  const { stdout } = await execa(PYTHON, [SCRIPT, loss, values.tokens], { env, stderr: 'inherit' });
  if (traced) {
    const kinds = readdirSync(folder)
      .filter((name) => name.endsWith('.ndjson'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    const trained = kinds.filter((kind) => kind === 'trained').length;
    if (trained !== 2 || kinds.includes('trouble')) throw new Error(`${folder}: ${kinds.join(' ')}`);
  }
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
}

/** Of the two steps, of the fastest run. */
const total = (runs: readonly Measured[], of: 'seconds' | 'processor'): number =>
  Math.min(...runs.map((run) => run[of].reduce((sum, value) => sum + value, 0)));

for (const loss of values.loss) {
  const plain: Measured[] = [];
  const traced: Measured[] = [];
  for (let round = 0; round < Number(values.repeat); round++) {
    plain.push(await measure(loss, false));
    traced.push(await measure(loss, true));
  }
  const memory = Math.max(...traced.map(({ peak }) => peak)) - Math.max(...plain.map(({ peak }) => peak));
  console.log(
    `${loss}: ${values.tokens} tokens a step, ${((plain[0]?.parameters ?? 0) / 1e9).toFixed(2)}e9 parameters, ${values.mode}: ` +
      `two steps ${total(plain, 'seconds').toFixed(1)} s, traced ${total(traced, 'seconds').toFixed(1)} s, ` +
      `ratio ${(total(traced, 'seconds') / total(plain, 'seconds')).toFixed(2)}, ` +
      `of processor time ${(total(traced, 'processor') / total(plain, 'processor')).toFixed(2)}; ` +
      `peak memory ${(memory / GIGABYTE).toFixed(2)} GB above the script's own`,
  );
}
