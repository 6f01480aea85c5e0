// Every command that README and the pages print is one that the program takes: its name, its options and their values. Nothing is run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { makeProgram } from '../cli/commands.ts';

const PAGES = [
  'README.md',
  'README.zh.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(PACKAGE_ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** Lines of blocks that a shell is shown, without what is said beside them. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
  return [...text.matchAll(/^ *```(?:\w*)\n(.*?)^ *```$/gms)]
    .map(([, block = '']) => block.replaceAll('\\\n', ' ').replaceAll(/'\{[^']*'/g, joined))
    .flatMap((block) => block.split('\n'))
    .flatMap((line) => /^ *(?:\$ )?(?:npx )?(lossproof (?!=|0\.)[^\n]*)$/.exec(line)?.[1] ?? []);
}

/** JSON of several lines is one word. */
const joined = (json: string): string => json.replaceAll(/\s+/g, ' ');

/** As a shell splits them, up to a comment, to another command, or to what stands beside it in a column of its own. */
function wordsOf(line: string): string[] {
  const [typed = ''] = line.split(/ {2,}(?=\S+ )(?!-)|\s#|;| &(?: |$)| \|/);
  return [...typed.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '').slice(1);
}

/** What the program says against it; undefined where it takes it. */
async function complaint(words: readonly string[]): Promise<string | undefined> {
  const program = await makeProgram();
  const quiet = (command: Command): void => {
    command.exitOverride().action(() => {});
    for (const each of command.commands) quiet(each);
  };
  for (const each of program.commands) quiet(each);
  const split = words.indexOf('--');
  try {
    await program.parseAsync(split < 0 ? words : words.slice(0, split), { from: 'user' });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

test.each([
  ['chek', /unknown command/],
  ['check --levle must', /unknown option '--levle'/],
  ['check --level most', /most/],
  ['trace --steps -- python train.py', /argument missing/],
])('%s would be told', async (line, said) => {
  expect(await complaint(wordsOf(`lossproof ${line}`))).toMatch(said);
});

describe.each(PAGES.filter((page) => commandsOf(page).length > 0))('%s', (page) => {
  test.each([...new Set(commandsOf(page))])('%s', async (line) => {
    expect(await complaint(wordsOf(line))).toBe(undefined);
  });
});

test('the pages print commands', () => {
  expect(PAGES.flatMap(commandsOf).length).toBeGreaterThan(60);
});
