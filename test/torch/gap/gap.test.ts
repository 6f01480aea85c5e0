// `gap --model` with a real tiny Llama: which side is wrong, and by which cause. The engine samples token by token with a cache, the
// trainer scores in one forward pass, both in bf16.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const PYTHON = join(process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv'), 'bin', 'python');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'gap', 'rollouts.py');
const ENV = { PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1' };

const folder = mkdtempSync(join(tmpdir(), 'lossproof gap ü '));
beforeAll(() => execa(PYTHON, [SCRIPT, folder], { env: ENV }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Side {
  readonly verdict: string;
  readonly rms: number;
  readonly causes: readonly {
    readonly cause: string;
    readonly sentence: string;
    readonly parameters: Readonly<Record<string, number>>;
  }[];
}
interface Told {
  readonly verdict: string;
  readonly model: {
    readonly sentence: string;
    readonly dtype: string;
    readonly rows: number;
    readonly rounding_rms: number;
    readonly engine: Side;
    readonly trainer: Side;
  };
}

async function gap(name: string): Promise<{ readonly code: number | undefined; readonly told: Told }> {
  const { stdout, exitCode } = await execa(
    'node',
    [MAIN, 'gap', `${name}.jsonl`, '--model', 'model', '--python', PYTHON, '--json'],
    { cwd: folder, env: ENV, reject: false },
  );
  return { code: exitCode, told: JSON.parse(stdout) as Told };
}

test('an engine at temperature 0.7 departs, and the trainer agrees', async () => {
  const { code, told } = await gap('temperature');
  expect(code).toBe(1);
  const { engine, trainer, sentence } = told.model;
  expect(sentence).toBe('The engine departs from the model; the trainer agrees with it.');
  expect(engine.causes[0]?.cause).toBe('temperature');
  expect(Math.abs((engine.causes[0]?.parameters.temperature ?? 0) - 0.7)).toBeLessThan(0.05);
  expect(trainer).toMatchObject({ verdict: 'noise', causes: [] });
});

test('a trainer that is shifted by one departs, and the engine agrees', async () => {
  const { code, told } = await gap('shift');
  expect(code).toBe(1);
  const { engine, trainer, sentence } = told.model;
  expect(sentence).toBe('The trainer departs from the model; the engine agrees with it.');
  expect(trainer.causes[0]).toMatchObject({ cause: 'shift', parameters: { shift: -1 } });
  expect(trainer.causes[0]?.sentence).toContain(
    "the model's log-probability of a token stands where the trainer",
  );
  expect(engine).toMatchObject({ verdict: 'noise', causes: [] });
});

test('two sides that are right are noise, of the size that bf16 has in this model', async () => {
  const { code, told } = await gap('noise');
  expect(code).toBe(0);
  const { engine, trainer, dtype, rows, rounding_rms: rounding } = told.model;
  expect([told.verdict, engine.verdict, trainer.verdict]).toEqual(['noise', 'noise', 'noise']);
  expect([dtype, rows]).toEqual(['bfloat16', 60]);
  for (const { rms } of [engine, trainer]) {
    expect(rms).toBeLessThan(1.5 * rounding);
    expect(rms).toBeGreaterThan(rounding / 1.5);
  }
});

test('rows scored in pieces and in batches are those of one forward pass', async () => {
  const check = `
import sys
import lossproof_gap._score as score
own = score.Scorer(sys.argv[1], "float32")
rows = [([1, 2, 3], [4, 5, 6, 7]), ([9] * 20, [8, 7, 6]), ([5], list(range(60)))]
whole = own.rows(rows)
score.MOST_LOGITS = own.vocab * 7
pieces = own.rows(rows)
ids = own.torch.tensor([[1, 2, 3, 4, 5, 6, 7]])
alone = own.model(input_ids=ids).logits[0].log_softmax(-1)
alone = [alone[2 + at, token].item() for at, token in enumerate(rows[0][1])]
print([len(each) for each in pieces])
print(max(abs(a - b) for one, other in zip(whole, pieces) for a, b in zip(one, other)) < 1e-3)
print(max(abs(a - b) for a, b in zip(whole[0], alone)) < 1e-3)
`;
  const { stdout } = await execa(PYTHON, ['-c', check, join(folder, 'model')], {
    env: { ...ENV, PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') },
  });
  expect(stdout.split('\n')).toEqual(['[4, 3, 60]', 'True', 'True']);
});
