// The manual pages: what is said of each command, in roff that formatters take.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wholeProgram } from '../../../scripts/command-line/program.ts';
import { shownCommands } from '../../../src/cli/help/layout.ts';
import { manPages } from '../../../src/cli/help/man.ts';
import { pathOf, wordsOf } from '../../../src/cli/help/words.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const program = wholeProgram();
const pages = manPages(program, '1.2.3');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lossproof-man-'));
  for (const { file, text } of pages) writeFileSync(join(folder, file), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As it is read, hyphens and quotes as they are typed. */
const shown = (text: string): string =>
  text.replaceAll('\\-', '-').replaceAll('\\(aq', "'").replaceAll('\\(ga', '`').replaceAll('\\e', '\\');

const commands: readonly Command[] = [
  program,
  ...shownCommands(program).flatMap((each) => [each, ...shownCommands(each)]),
];

test.each(commands.map((command) => [['lossproof', ...pathOf(command)].join('-'), command] as const))(
  '%s has every option, example and exit code',
  (name, command) => {
    const page = shown(pages.find(({ file }) => file === `${name}.1`)?.text ?? '');
    for (const { flags } of command.options) expect(page).toContain(`\n.B ${flags}\n`);
    for (const each of wordsOf(command).examples)
      expect(page).toContain(each.command.replaceAll('npx lossproof', 'lossproof').replaceAll('~', '\\(ti'));
    for (const code of Object.keys(wordsOf(command).exit ?? {})) expect(page).toContain(`\n.B ${code}\n`);
    expect(page).toMatch(new RegExp(`^\\.TH ${name.toUpperCase()} 1 .*1\\.2\\.3`));
  },
);

test('npm links every page, and only pages that there are', () => {
  const { man } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
    readonly man: readonly string[];
  };
  expect(man).toEqual(pages.map(({ file }) => `dist/man/${file}`).sort());
});

test('they are read by who has the command, not npx', () => {
  for (const { text } of pages) expect(text).not.toContain('npx lossproof');
});

test('no line is a request by accident, and all of it is ASCII', () => {
  for (const { file, text } of pages)
    for (const line of text.trimEnd().split('\n')) {
      expect(line, file).toMatch(/^[\x20-\x7e]+$/);
      if (/^[.']/.test(line)) expect(line, file).toMatch(/^\.(TH|SH|SS|PP|TP|B|BR|RS|RE|nf|fi|nh|ad)\b/);
    }
});

test.for([
  // A date would make each build another one.
  ['mandoc', ['-T', 'lint', '-W', 'warning'], /missing date/],
  ['groff', ['-ww', '-z', '-man', '-Tutf8'], undefined],
] as const)('%s has nothing to say against them', ([formatter, argv, but], context) => {
  const files = pages.map(({ file }) => join(folder, file));
  const { error, stdout, stderr } = spawnSync(formatter, [...argv, ...files], { encoding: 'utf8' });
  if (error !== undefined) return context.skip(`${formatter} is not installed`);
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && but?.test(line) !== true);
  expect(said).toEqual([]);
});
