// A trainer in one piece, whose imports are not installed: attached by slices of its method, everything holds; with one fault
// planted in a copy, the property of that fault fails.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Checked, checked } from '../checked.ts';

const FOLDER = join(PACKAGE_ROOT, 'docs', 'example', 'fused');
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

/** The run on a copy in which `from`, which stands there once, is `to`. */
async function check(from: string, to: string, ...options: string[]): Promise<Checked> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof fused '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(FOLDER, folder, { recursive: true });
  const trainer = join(folder, 'trainer.py');
  const text = readFileSync(trainer, 'utf8');
  expect(text.split(from)).toHaveLength(2);
  writeFileSync(trainer, text.replace(from, to));
  return checked(['--seed', '1', ...options, '--', PYTHON, 'adapter.py'], {
    cwd: folder,
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
}

test('as it is, everything holds, with an adapter of at most fifty lines', async () => {
  const { exitCode, results, out } = await check('import logging', 'import logging');
  expect(exitCode, out).toBe(0);
  expect(results.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThanOrEqual(40);
  const lines = (name: string): number =>
    readFileSync(join(FOLDER, name), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '').length;
  expect(lines('adapter.py')).toBeLessThanOrEqual(50);
  expect(lines('trainer.py')).toBeGreaterThan(90);
});

test.each([
  [
    'in_answer = columns >= prompt_width',
    'in_answer = columns >= prompt_width - 1',
    'mask/prompt-is-never-trained',
  ],
  ['grouped.mean(dim=1, keepdim=True)', 'grouped.mean()', 'advantages/equal-the-declared-formula'],
  ['targets = sequences[:, 1:]', 'targets = sequences[:, :-1]', 'logprobs/equal-the-reference'],
  ['-torch.min(ratio', '-torch.max(ratio', 'loss/equals-the-declared-formula'],
])('%s, written as %s, fails at %s', async (from, to, id) => {
  const [stage = ''] = id.split('/');
  const { exitCode, results, out } = await check(from, to, '--cases', '40', '--only', stage);
  expect(exitCode, out).toBe(1);
  expect(
    results.filter(({ verdict }) => FAILING.includes(verdict)).map((result) => result.id),
    out,
  ).toContain(id);
  expect(
    results.filter(({ verdict }) => verdict === 'error'),
    out,
  ).toEqual([]);
});

test('a line that is no longer there is said before the first case', async () => {
  const { exitCode, out } = await check(
    'grouped = rewards.float()',
    'by_group = rewards.float()',
    '--only',
    'mask',
  );
  expect(exitCode).not.toBe(0);
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    'Trainer.train has no line `grouped = rewards` any more; nearest is line 76, `by_group = rewards.float()',
  );
});
