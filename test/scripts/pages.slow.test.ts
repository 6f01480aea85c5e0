// The pages that people follow, followed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { properties } from '../../properties/index.ts';
import { pythonEnvironment } from '../../scripts/python.ts';
import { LOOKS } from '../../src/report/verdict.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { makeWorld } from '../cli/world.ts';

const page = (name: string): string => readFileSync(join(PACKAGE_ROOT, 'docs', name), 'utf8');

/** Fenced blocks of a language, without their fences. */
function blocks(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code);
}

test('the five-minute start does what it says: a failure as printed, and mended', async () => {
  const text = page('start.md');
  const [trainer = '', adapter = '', mended = ''] = blocks(text, 'python');
  const printed = blocks(text, '');
  const world = makeWorld(properties);
  const trainerFile = world.write('trainer.py', trainer);
  world.write('adapter.py', adapter);
  expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain('1 op declared, 1 tried, 0 with a complaint.');

  expect(await world.run('check', '--seed', '1', '--', 'python3', 'adapter.py')).toBe(1);
  const failure = printed.find((block) => block.startsWith('✗'));
  expect(world.out()).toContain(failure?.trimEnd());
  expect(world.out()).toContain('5 fail');

  const faulty = /^ *start = .*\n/m;
  expect(trainer).toMatch(faulty);
  world.write('trainer.py', readFileSync(trainerFile, 'utf8').replace(faulty, mended));
  expect(await world.run('check', '--seed', '1', '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain(printed.find((block) => block.startsWith('✓ holds'))?.trimEnd());
});

test('the page of failures shows failures as they are printed, and tells every verdict', async () => {
  const text = page('failures.md');
  for (const { glyph, word } of Object.values(LOOKS)) expect(text).toContain(`| ${glyph} | ${word} |`);
  // The mutants are found as anybody's own trainer is.
  for (const [name, value] of Object.entries(pythonEnvironment())) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const shown = [
    ['mask/prompt-is-never-trained', 'lossproof.examples.faulty', 'mask-for-right-padding'],
    ['advantages/equal-the-declared-formula', 'mutants', 'advantages-running-mean'],
  ] as const;
  for (const [at, [id, module, name]] of shown.entries()) {
    const world = makeWorld(properties);
    const command = ['python3', '-m', module, name];
    expect(await world.run('check', '--seed', '7', '--only', id, '--', ...command)).toBe(1);
    // How to reproduce it depends on the folder and is told with an adapter's name.
    const [told = ''] = (blocks(text, '')[at] ?? '').split('\n  Reproduce');
    expect(world.out()).toContain(told.trimEnd());
  }
});
