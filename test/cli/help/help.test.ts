// `--help` of every command: one screen, and nothing of the command out of reach.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { COMMON } from '../../../src/cli/help/common.ts';
import { isAbridged, shownCommands } from '../../../src/cli/help/layout.ts';
import { pathOf, wordsOf } from '../../../src/cli/help/words.ts';
import { buildProgram } from '../../../src/cli/program.ts';
import { splitCommand } from '../../../src/cli/trainer/words.ts';
import { widthOf } from '../../../src/report/text/visible.ts';
import { makeProgram } from '../commands.ts';
import { makeWorld } from '../world.ts';

/** One screen. */
const ROWS = 40;
const COLUMNS = [80, 100, 200];

const everyCommand = (command: Command): readonly Command[] => [
  command,
  ...shownCommands(command).flatMap(everyCommand),
];
const COMMANDS = everyCommand(await makeProgram(true)).map((command) => ({
  command,
  name: ['lossproof', ...pathOf(command)].join(' '),
  path: pathOf(command),
}));

async function helpOf(path: readonly string[], option: string, columns: number): Promise<string> {
  const world = makeWorld([], { columns });
  expect(await world.run(...path, option)).toBe(0);
  expect(world.err()).toBe('');
  return world.out();
}

/** As a terminal wraps them. */
const rowsOf = (text: string, columns: number): number =>
  text
    .trimEnd()
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);

describe.each(COMMANDS)('$name', ({ command, path }) => {
  const flags = command.options.filter(({ hidden }) => !hidden).map((option) => option.flags);

  test.each(COLUMNS)('--help fits one screen of %i columns', async (columns) => {
    expect(rowsOf(await helpOf(path, '--help', columns), columns)).toBeLessThanOrEqual(ROWS);
  });

  test('--help-all has every option, each argument, example and exit code', async () => {
    const help = await helpOf(path, '--help-all', 100);
    for (const each of flags) expect(help).toContain(`  ${each} `);
    for (const { description } of command.registeredArguments)
      expect(help.replaceAll(/\s+/g, ' ')).toContain(description);
    for (const example of wordsOf(command).examples) expect(help).toContain(`  ${example.command}`);
    expect(help.includes('Exit code: 0 ')).toBe(wordsOf(command).exit !== undefined);
  });

  test('what --help leaves out it says how to see', async () => {
    const help = await helpOf(path, '--help', 80);
    const absent = flags.filter((each) => !help.includes(`  ${each} `));
    expect(absent.length > 0).toBe(isAbridged(command));
    expect(help.includes('--help-all')).toBe(isAbridged(command));
    if (isAbridged(command)) expect(help).toContain(`All ${flags.length} options`);
  });
});

test('what is called common is there', () => {
  for (const [name, options] of Object.entries(COMMON)) {
    const command = COMMANDS.find(({ path }) => path.join(' ') === name)?.command;
    expect(command, name).toBeDefined();
    expect(command?.options.map(({ long }) => long)).toEqual(expect.arrayContaining([...options]));
  }
});

test('every command but the groups of commands has an example', () => {
  for (const { command, name } of COMMANDS) expect(wordsOf(command).examples.length, name).toBeGreaterThan(0);
});

const EXAMPLES = COMMANDS.flatMap(({ command }) => wordsOf(command).examples.map((each) => each.command));

test.each([...new Set(EXAMPLES)])('%s is a command that the program takes', async (example) => {
  const [, typed = ''] = /(?:npx )?lossproof (.*)/.exec(example) ?? [];
  // What a shell does with the rest is the shell's: pipes, lists, redirections, what closes a substitution.
  const words = splitCommand(typed.replace(/;.*| > .*|\)"$/, ''));
  if ('problem' in words) throw new Error(words.problem);
  const split = words.indexOf('--');
  const { context } = makeWorld();
  const program = await buildProgram({ context, rest: words.slice(split + 1), finish: () => {} });
  const begun: string[] = [];
  for (const each of everyCommand(program)) each.action(() => void begun.push(pathOf(each).join(' ')));
  await program.parseAsync([...(split < 0 ? words : words.slice(0, split))], { from: 'user' });
  expect(begun).toHaveLength(1);
  expect(typed.startsWith(begun[0] ?? '?')).toBe(true);
});

test('help COMMAND is COMMAND --help', async () => {
  const [one, other] = [makeWorld(), makeWorld()];
  expect(await one.run('help', 'check')).toBe(0);
  await other.run('check', '--help');
  expect(one.out()).toBe(other.out());
});

test('a command that no person types stands in no help', async () => {
  const program = await makeProgram(true);
  program.command('door', { hidden: true }).description('for another program');
  expect(shownCommands(program).map((each) => each.name())).not.toContain('door');
});

test('an unknown option of an abridged command leads to the whole list', async () => {
  const world = makeWorld();
  expect(await world.run('check', '--zzzzzzzzzz')).toBe(2);
  expect(world.err()).toContain('`lossproof check --help-all` lists them');
});

test('--help-all is told from the options of the trainer', async () => {
  const world = makeWorld();
  expect(await world.run('list', '--', 'no-such-program', '--help-all')).toBe(2);
  expect(world.err()).toContain('no-such-program --help-all did not start');
});
