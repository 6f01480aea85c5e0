// What TAB offers, of the real command line.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lists } from '../../../scripts/command-line/lists.ts';
import { wholeProgram } from '../../../scripts/command-line/program.ts';
import { answerTo, type Place } from '../../../src/cli/completion/candidates.ts';
import { completionLines } from '../../../src/cli/completion/complete.ts';
import { type CommandEntry, tableOf } from '../../../src/cli/completion/table.ts';
import { shownCommands } from '../../../src/cli/help/layout.ts';
import { makeWorld } from '../world.ts';

const program = wholeProgram();
const table = tableOf(program, lists());
const PLACE: Place = { trainers: () => ['grpo', 'my sft'], cases: () => ['7f3a9c'] };

/** The words that are offered where the last of these is being typed. */
const offered = (...words: readonly string[]): readonly string[] =>
  answerTo(words, table, PLACE).candidates.map(({ word }) => word);
const beside = (...words: readonly string[]) => answerTo(words, table, PLACE).also;

test('every command is offered, and what it is', () => {
  const { candidates } = answerTo([''], table, PLACE);
  expect(candidates.map(({ word }) => word)).toEqual([
    ...shownCommands(program).map((each) => each.name()),
    'help',
  ]);
  expect(candidates.every(({ says }) => says !== '')).toBe(true);
  expect(offered('m')).toEqual(['mutate', 'monitor', 'merge']);
  expect(offered('golden', '')).toEqual(['record', 'check', 'accept']);
  expect(offered('help', 'gol')).toEqual(['golden']);
});

test('every option of every command is offered', () => {
  const walk = (command: typeof program, path: readonly string[]): void => {
    const words = offered(...path, '--');
    for (const { long } of command.options) expect(words, path.join(' ')).toContain(long);
    for (const each of shownCommands(command)) walk(each, [...path, each.name()]);
  };
  walk(program, []);
});

test.each([
  [['check', '--lev'], ['--level']],
  [
    ['check', '--level', ''],
    ['must', 'should', 'may'],
  ],
  [
    ['check', '--level=m'],
    ['--level=must', '--level=may'],
  ],
  [['check', '--adapter', 'trl-g'], ['trl-grpo']],
  [['check', '--trainer', 'm'], ['my sft']],
  [['check', '--trainer', 'grpo', '--trainer', 'gr'], ['grpo']],
  [['check', '--backend', 'cpu'], ['cpu-f64']],
  [['check', '--only', 'mask/prompt'], ['mask/prompt-is-never-trained']],
  [['check', '--only', 'kl,mask/prompt'], ['kl,mask/prompt-is-never-trained']],
  [['check', '--seed', ''], []],
  [['check', '--bail', '--see'], ['--seed']],
  [['check', '--seed', '7', '--see'], []],
  [['check', '--only', 'kl', '--onl'], ['--only']],
  [['check', '--no-such', '--qui'], ['--quiet']],
  [
    ['trace', '--mode', ''],
    ['auto', 'exact', 'cheap'],
  ],
  [['monitor', '--preset', 'too'], ['tools']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['replay', ''], ['7f3a9c']],
  [['explain', 'MSK-01'], ['MSK-01']],
  [['explain', 'MSK-01', 'MSK-02'], ['MSK-02']],
  [['init', 'x'], []],
  [['no-such', ''], []],
])('lossproof %j is finished as %j', (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

test('of hundreds of ids the stages, and the ids of the one that is meant', () => {
  const stages = offered('check', '--only', '');
  expect(stages.length).toBeLessThan(60);
  expect(stages).toContain('mask');
  expect(stages.some((word) => word.includes('/'))).toBe(false);
  const ids = offered('check', '--only', 'mas');
  expect(ids).toContain('mask');
  expect(ids).toContain('mask/prompt-is-never-trained');
});

test('rules of monitor are for monitor, entries of a golden file for golden', () => {
  expect(offered('monitor', '--only', 'monitor/finite-t')).toEqual(['monitor/finite-training']);
  expect(offered('check', '--only', 'monitor/fin')).toEqual([]);
  expect(offered('golden', 'accept', 'mask/several')).toContain('mask/several-stops');
});

test('files and folders are left to the shell', () => {
  expect(beside('check', '--html', '')).toBe('files');
  expect(beside('check', '--html=')).toBe('files');
  expect(beside('check', '--tokenizer', '')).toBe('folders');
  expect(beside('view', '')).toBe('files');
  expect(beside('monitor', 'runs', '')).toBe('files');
  expect(beside('replay', '')).toBe('files');
  expect(beside('check', '--seed', '')).toBe('nothing');
});

test('where nothing else can stand, options are offered, and -- where a command may follow', () => {
  expect(offered('check', '')).toContain('--');
  expect(offered('check', '')).toContain('--only');
  expect(offered('dataset', '--')).not.toContain('--');
});

test('what is offered of commands takes a value only where the program takes one', () => {
  const entries = (entry: CommandEntry): readonly CommandEntry[] => [
    entry,
    ...entry.commands.flatMap(entries),
  ];
  const flags = entries(table.root).flatMap(({ options }) => options);
  expect(flags.find(({ names }) => names.includes('--quiet'))?.value).toBeUndefined();
  expect(flags.find(({ names }) => names.includes('--seed'))?.value).toEqual({ of: 'nothing' });
});

// --- the folder in which it is typed ---

function folderWith(config: string, text: string): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof tab ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, config), text);
  const file = join(folder, 'table.json');
  writeFileSync(file, JSON.stringify(table));
  return { folder, file };
}

test('trainers are those of the nearest configuration, cases those that are saved, in folders of trainers too', () => {
  const { folder, file } = folderWith('lossproof.config.json', '{"trainers": {"one": {}, "two": {}}}');
  const inner = join(folder, 'deep', 'er');
  mkdirSync(inner, { recursive: true });
  expect(completionLines(['check', '--trainer', ''], inner, file)).toEqual([
    ':nothing',
    'one\tof the configuration',
    'two\tof the configuration',
  ]);
  mkdirSync(join(inner, '.lossproof', 'cases', 'one'), { recursive: true });
  writeFileSync(join(inner, '.lossproof', 'cases', 'abc123.json'), '{}');
  writeFileSync(join(inner, '.lossproof', 'cases', 'one', 'def456.json'), '{}');
  expect(completionLines(['replay', ''], inner, file).slice(1).sort()).toEqual([
    'abc123\tsaved here',
    'def456\tsaved here',
  ]);
});

test('TAB runs no configuration, and is silent about one that cannot be read', () => {
  const code = 'import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); export default {}';
  const { folder, file } = folderWith('lossproof.config.mjs', code);
  expect(completionLines(['check', '--trainer', ''], folder, file)).toEqual([':nothing']);
  const broken = folderWith('lossproof.config.json', '{"trainers": ');
  expect(completionLines(['check', '--trainer', ''], broken.folder, broken.file)).toEqual([':nothing']);
  expect(completionLines(['check', ''], broken.folder, 'no such table')).toEqual([':files']);
});

test('a name that would move the cursor is not offered', () => {
  const names = JSON.stringify({ trainers: { 'a\nb': {}, '\u001b[2J': {}, '\u202eab': {}, good: {} } });
  const { folder, file } = folderWith('lossproof.config.json', names);
  expect(completionLines(['check', '--trainer', ''], folder, file).slice(1)).toEqual([
    'good\tof the configuration',
  ]);
});

// --- the command that prints a script ---

test.each(['bash', 'zsh', 'fish'])('completion %s prints what that shell loads', async (shell) => {
  const world = makeWorld();
  expect(await world.run('completion', shell)).toBe(0);
  expect(world.out()).toContain(`${shell} completion for lossproof`);
  expect(world.out()).toContain('__complete');
  expect(world.err()).toBe('');
});

test.each([
  [['completion', 'zhs'], 'no completion is written for the shell "zhs", did you mean "zsh"?'],
  [
    ['completion', 'powershell'],
    'no completion is written for the shell "powershell", there are bash, zsh, fish',
  ],
  [['completion'], 'name the shell, bash, zsh, fish, as in `lossproof completion bash`'],
])('lossproof %j is refused in one line', async (argv, line) => {
  const world = makeWorld();
  expect(await world.run(...argv)).toBe(2);
  expect(world.err()).toBe(`lossproof: ${line}\n`);
  expect(world.out()).toBe('');
});
