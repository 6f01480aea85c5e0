// How help is laid out. `--help` fits one screen; `--help-all` shows everything there is.
import { type Argument, type Command, Help, type Option } from 'commander';
import { widthOf, wrap } from '../../report/text/visible.ts';
import { COMMON } from './common.ts';
import { pathOf, type Words, wordsOf } from './words.ts';

export const HELP_ALL = '--help-all';

/** What `--help` shows of many. */
const SHOWN_EXAMPLES = 4;
/** Wider lines are hard to read. */
const WIDEST = 100;

/** Called once, before any command is added: commands inherit it. */
export function layHelpOut(program: Command, isWhole: boolean): void {
  let isShort = false;
  program.configureHelp({
    visibleOptions(command) {
      const all = Help.prototype.visibleOptions.call(this, command);
      return isWhole ? all : all.filter((option) => isCommon(command, option));
    },
    optionDescription: (option) =>
      isShort ? firstClause(optionDescription(option)) : optionDescription(option),
    subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(argumentWord)].join(' '),
    formatHelp(command, helper) {
      const width = Math.min(helper.helpWidth ?? WIDEST, WIDEST);
      helper.helpWidth = width;
      isShort = !isWhole && isAbridged(command);
      const head = Help.prototype.formatHelp.call(this, command, helper).trimEnd();
      const words = wordsOf(command);
      const more = isShort ? shortLines(command, words, width) : wordLines(words, width);
      return `${[head, ...more].join('\n')}\n`;
    },
  });
}

/** Those that are for people: no door for another program, and not `help`, which commander adds. */
export function shownCommands(command: Command): readonly Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => command.commands.includes(each));
}

/** Whether `--help` leaves something out. */
export function isAbridged(command: Command): boolean {
  return COMMON[keyOf(command)] !== undefined;
}

/** What an option does, with the values that it takes and the one that it has of itself. */
function optionDescription({ description, argChoices, defaultValue, presetArg }: Option): string {
  const usual = presetArg === undefined && typeof defaultValue !== 'boolean' ? defaultValue : undefined;
  if (argChoices !== undefined)
    return `${description}: ${argChoices.map((value) => (value === usual ? `${value} (default)` : value)).join(', ')}`;
  return usual === undefined ? description : `${description} (default: ${String(usual)})`;
}

// --- helpers ---

/** What follows a semicolon is for `--help-all`. */
const firstClause = (text: string): string => text.split('; ', 1)[0] ?? text;

const keyOf = (command: Command): string => pathOf(command).join(' ');

function isCommon(command: Command, { long }: Option): boolean {
  const common = COMMON[keyOf(command)];
  return common === undefined || long === '--help' || common.includes(long ?? '');
}

function argumentWord(argument: Argument): string {
  const word = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${word}>` : `[${word}]`;
}

function shortLines(command: Command, words: Words, width: number): string[] {
  const path = `lossproof ${keyOf(command)}`;
  const options = command.options.filter(({ hidden }) => !hidden).length;
  return [
    ...exampleLines(words.examples.slice(0, SHOWN_EXAMPLES), width),
    ...exitLines(words, width),
    '',
    ...wrap(`All ${options} options, examples and notes: ${path} ${HELP_ALL}`, width),
  ];
}

function wordLines(words: Words, width: number): string[] {
  const { examples, listing, notes = [] } = words;
  return [
    ...(listing === undefined ? [] : ['', listing.heading, ...listing.lines.map((line) => `  ${line}`)]),
    ...exampleLines(examples, width),
    ...notes.flatMap((note) => ['', ...wrap(note, width)]),
    ...exitLines(words, width),
  ];
}

/** What an example does stands beside it where there is room, or else above it. */
export function exampleLines(examples: Words['examples'], width: number, heading = 'Examples:'): string[] {
  if (examples.length === 0) return [];
  const beside = examples.filter(({ does }) => does !== undefined);
  const column = Math.max(0, ...beside.map(({ command }) => widthOf(command))) + 2;
  const hasRoom = beside.every(({ does = '' }) => 2 + column + widthOf(does) <= width);
  return [
    '',
    heading,
    ...examples.flatMap(({ command, does }) => {
      if (does === undefined) return [`  ${command}`];
      return hasRoom ? [`  ${command.padEnd(column)}${does}`] : [`  # ${does}`, `  ${command}`];
    }),
  ];
}

function exitLines({ exit }: Words, width: number): string[] {
  if (exit === undefined) return [];
  const codes = Object.entries(exit).map(([code, says]) => `${code} ${says}`);
  return ['', ...wrap(`Exit code: ${codes.join('; ')}.`, width)];
}
