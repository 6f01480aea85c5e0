// `gap` on the folder of a traced run of TRL's GRPO: generate() samples at 0.6, the loss is at the same temperature or at another.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const PYTHON = join(process.env.LOSSPROOF_VENV ?? join(PACKAGE_ROOT, '.venv'), 'bin', 'python');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'gap', 'grpo.py');

const folder = mkdtempSync(join(tmpdir(), 'lossproof gap traced '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function gap(name: string, ...more: readonly string[]) {
  const command = [PYTHON, SCRIPT, '--output', join(folder, `${name}-model`), ...more];
  const options = { cwd: folder, env: { PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1' }, reject: false };
  await execa('node', [MAIN, 'trace', '--out', name, '--quiet', '--', ...command], options);
  const { stdout, stderr, exitCode } = await execa('node', [MAIN, 'gap', name, '--json'], options);
  expect(stderr).toBe('');
  return { exitCode, told: JSON.parse(stdout) };
}

test('a trainer that scores at the temperature that it samples at is exact', async () => {
  const { exitCode, told } = await gap('right');
  expect(exitCode).toBe(0);
  expect(told).toMatchObject({
    verdict: 'noise',
    fields: { sampling: 'generate()', trainer: 'the backward pass' },
  });
  // One completion per group may have no weight, so that nothing is read of it.
  expect(told.rows).toBeGreaterThan(50);
  expect(told.rms).toBeLessThan(1e-4);
});

test('a trainer that scores at another is told by the temperature', async () => {
  const { exitCode, told } = await gap('wrong', '--scored-at', '1.0');
  expect(exitCode).toBe(1);
  expect(told.causes[0].cause).toBe('temperature');
  expect(Math.abs(told.causes[0].parameters.temperature - 0.6)).toBeLessThan(0.05);
});
