// A file of the user's that is called like a library comes before that library: the adapter says which file, and what to do.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checked } from '../checked.ts';
import { trainersPython } from './ask.ts';

test.each([
  ['trl', 'trl.py'],
  ['trl', 'trl/__init__.py'],
  ['transformers', 'transformers.py'],
  ['torch', 'torch.py'],
])('`import %s` that finds %s of the user', async (library, file) => {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof shadow ü '));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(dirname(join(cwd, file)), { recursive: true });
  writeFileSync(join(cwd, file), 'def train():\n    pass\n');
  const words = ['--adapter', 'trl-sft', '--python', trainersPython(), '--only', 'mask', '--cases', '1'];
  const { exitCode, out } = await checked(words, { cwd });
  expect(exitCode, out).toBe(2);
  // The report wraps what the adapter said, and has a line beside it.
  expect(out.replaceAll(/\s+(│\s+)?/g, ' ')).toContain(
    `\`import ${library}\` finds ${join(cwd, file)}, which is not that library; rename it`,
  );
  expect(out).not.toContain('Traceback');
});
