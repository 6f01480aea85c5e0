// Mixtures of experts: the engine in bfloat16, the trainer in float32. Routers choose other experts now and then, which gives few tokens a large
// gap: it is the model's rounding, and blamed on nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const PYTHON = join(process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv'), 'bin', 'python');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'gap', 'experts.py');
const ENV = { PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1' };

const folder = mkdtempSync(join(tmpdir(), 'lossproof gap experts '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['mixtral', '0.25', 0.12],
  ['qwen', '0.1', 0],
])('%s at a scale of %s: router flips are rounding', async (kind, scale, least) => {
  const own = join(folder, kind);
  await execa(PYTHON, [SCRIPT, own, '--kind', kind, '--scale', scale], { env: ENV });
  const command = [MAIN, 'gap', 'rollouts.jsonl', '--json'];
  const options = { cwd: own, env: ENV, reject: false };
  const alone = JSON.parse((await execa('node', command, options)).stdout);
  expect(alone.causes).toEqual([]);
  const { stdout, exitCode } = await execa(
    'node',
    [...command, '--model', 'model', '--python', PYTHON],
    options,
  );
  const { verdict, rms, model } = JSON.parse(stdout);
  expect([exitCode, verdict]).toEqual([0, 'noise']);
  expect(rms).toBeGreaterThan(least);
  expect([model.engine.verdict, model.trainer.verdict]).toEqual(['noise', 'noise']);
  expect(model.router_flips.share).toBeGreaterThan(0.01);
  expect(model.router_flips.rms).toBeGreaterThan(2 * model.router_flips.other_rms);
});
