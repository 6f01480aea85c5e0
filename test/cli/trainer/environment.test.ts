// A broken Python environment is told as one, whoever named it.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentTrouble } from '../../../src/cli/trainer/environment.ts';
import { makeWorld } from '../world.ts';

function broken(folder: string): void {
  mkdirSync(join(folder, '.venv/bin'), { recursive: true });
  writeFileSync(join(folder, '.venv/pyvenv.cfg'), '');
  symlinkSync('python3', join(folder, '.venv/bin/python'));
  symlinkSync('/gone/python3.9', join(folder, '.venv/bin/python3'));
}

test('a link to a base that is gone, through links', () => {
  const { folder } = makeWorld();
  broken(folder);
  for (const command of [
    ['.venv/bin/python', 'a.py'],
    ['env', 'A=b', join(folder, '.venv/bin/python')],
  ]) {
    const trouble = environmentTrouble(command, folder);
    expect(trouble?.message).toBe(
      `The environment ${join(folder, '.venv')} is broken: its Python is a link to /gone/python3.9, which is gone.`,
    );
    expect(trouble?.advice).toContain('-m venv --clear');
  }
});

test('an environment without a Python; and what is no environment', () => {
  const { folder } = makeWorld();
  mkdirSync(join(folder, '.venv'));
  writeFileSync(join(folder, '.venv/pyvenv.cfg'), '');
  expect(environmentTrouble(['.venv/bin/python'], folder)?.message).toContain('it has no .venv/bin/python');
  for (const command of [['python3'], ['nowhere/bin/python'], [process.execPath]])
    expect(environmentTrouble(command, folder)).toBeUndefined();
});

test('check, doctor and trace say so, and end without a verdict', async () => {
  for (const words of [
    ['check', '--adapter', 'trl-sft'],
    ['doctor', '--', '.venv/bin/python', 'adapter.py'],
    ['trace', '--', '.venv/bin/python', 'train.py'],
  ]) {
    const world = makeWorld();
    broken(world.folder);
    expect(await world.run(...words), words.join(' ')).toBe(2);
    expect(world.err() + world.out(), words.join(' ')).toMatch(/\/gone\/python3\.9,\s+which is gone/);
  }
});
