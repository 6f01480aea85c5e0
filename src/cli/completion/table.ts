// What can be typed, as plain data: commands, options and what stands behind them. Made from the program when the package
// is built, because the program takes most of a second to load, and TAB should take none.
import type { Argument, Command, Option } from 'commander';
import { argumentWord, HELP_ALL, isAbridged, optionDescription, shownCommands } from '../help/layout.ts';
import { pathOf } from '../help/words.ts';
import { collect } from '../options.ts';

export interface Table {
  readonly root: CommandEntry;
  readonly lists: Lists;
}

/** Names, each with what it is. */
export type Names = Readonly<Record<string, string>>;
export type Lists = Readonly<Record<ListName, Names>>;

/** What is known before anything is typed. Ids are listed by stage first. */
export const LISTS = ['properties', 'traced', 'rules', 'golden', 'every', 'adapters', 'presets'] as const;
export type ListName = (typeof LISTS)[number];

/** What may stand in a place. */
export type Kind =
  | { readonly of: 'files' | 'folders' | 'nothing' | 'trainers' | 'cases' | 'commands' }
  | { readonly of: 'values'; readonly values: readonly string[] }
  | { readonly of: 'list'; readonly list: ListName; readonly separated?: boolean };

export interface CommandEntry {
  readonly name: string;
  readonly says: string;
  readonly commands: readonly CommandEntry[];
  readonly options: readonly OptionEntry[];
  readonly arguments: readonly ArgumentEntry[];
  /** A trainer's or script's command stands behind --. */
  readonly takesCommand: boolean;
}

export interface OptionEntry {
  /** `--seed`; all of them. */
  readonly names: readonly string[];
  readonly says: string;
  readonly repeatable: boolean;
  /** Absent: a flag, behind which stands nothing of its own. */
  readonly value?: Kind;
  /** The value may be left out. */
  readonly isOptional?: boolean;
}

export interface ArgumentEntry {
  readonly kind: Kind;
  readonly variadic: boolean;
}

export function tableOf(program: Command, lists: Lists): Table {
  return { root: commandEntry(program), lists };
}

// --- helpers ---

function commandEntry(command: Command): CommandEntry {
  const isRoot = command.parent === null;
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => optionEntry(option, command));
  return {
    name: command.name(),
    says: command.description(),
    commands: [...shownCommands(command).map(commandEntry), ...(isRoot ? [HELP] : [])],
    options: [
      ...options,
      { names: ['--help', '-h'], says: 'print help', repeatable: false },
      ...(isAbridged(command)
        ? [{ names: [HELP_ALL], says: 'print help with every option', repeatable: false }]
        : []),
    ],
    arguments: command.registeredArguments.map((argument) => ({
      kind: argumentKind(argument, command),
      variadic: argument.variadic,
    })),
    takesCommand: command.usage().includes('-- '),
  };
}

const HELP: CommandEntry = {
  name: 'help',
  says: 'print the help of a command',
  commands: [],
  options: [],
  arguments: [{ kind: { of: 'commands' }, variadic: false }],
  takesCommand: false,
};

function optionEntry(option: Option, command: Command): OptionEntry {
  const isFlag = !option.required && !option.optional;
  return {
    names: [option.long, option.short].filter((name) => name !== undefined),
    says: optionDescription(option),
    repeatable: option.parseArg === (collect as Option['parseArg']),
    ...(isFlag ? {} : { value: valueKind(option, command), isOptional: option.optional }),
  };
}

/** Of options whose placeholder does not tell. */
const VALUES: Readonly<Record<string, Kind>> = {
  '--level': { of: 'values', values: ['must', 'should', 'may'] },
  '--backend': { of: 'values', values: ['auto', 'cpu-f64', 'webgpu', 'tfjs-node-gpu'] },
  '--ray': { of: 'values', values: ['auto'] },
  '--trainer': { of: 'trainers' },
  '--adapter': { of: 'list', list: 'adapters' },
  '--preset': { of: 'list', list: 'presets' },
  '--semantics': { of: 'files' },
  '--marks': { of: 'files' },
};

/** What --only chooses from, where it is not the properties of a trainer. */
const CHOSEN_FROM: Readonly<Record<string, ListName>> = {
  trace: 'traced',
  monitor: 'rules',
  list: 'every',
  'golden check': 'golden',
};

function valueKind({ long = '', flags, argChoices }: Option, command: Command): Kind {
  if (argChoices !== undefined) return { of: 'values', values: argChoices };
  if (long === '--only')
    return { of: 'list', list: CHOSEN_FROM[pathOf(command).join(' ')] ?? 'properties', separated: true };
  return VALUES[long] ?? placeKind(/[<[](\S+?)[\]>]/.exec(flags)?.[1] ?? '');
}

function placeKind(placeholder: string): Kind {
  if (/^(?:file|path)s?$/.test(placeholder)) return { of: 'files' };
  if (/^(?:dir|folder)$/.test(placeholder)) return { of: 'folders' };
  return { of: 'nothing' };
}

function argumentKind(argument: Argument, command: Command): Kind {
  if (argument.argChoices !== undefined) return { of: 'values', values: argument.argChoices };
  switch (`${pathOf(command).join(' ')} ${argumentWord(argument)}`) {
    case 'explain <id...>':
      return { of: 'list', list: 'every' };
    case 'golden accept [ids...]':
      return { of: 'list', list: 'golden' };
    case 'replay <case>':
      return { of: 'cases' };
    case 'completion [shell]':
      return { of: 'values', values: argument.description.split(', ') };
    default:
      return FILES.test(argument.name()) ? { of: 'files' } : { of: 'nothing' };
  }
}

const FILES = /^(?:files?|paths?|data)$/;
