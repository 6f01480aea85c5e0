// What docs/failures.md shows is what is printed. Its commands are typed by test/docs/pages/.
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
