// Manual pages, one a command, out of the same program as its help: plain roff with the macros of man(7).
import type { Command, Option } from 'commander';
import { argumentWord, optionDescription, shownCommands } from './layout.ts';
import { pathOf, wordsOf } from './words.ts';

export interface ManPage {
  /** `lossproof-golden-check.1` */
  readonly file: string;
  readonly text: string;
}

/** The page of the program, then those of its commands and theirs. */
export function manPages(program: Command, version: string): readonly ManPage[] {
  return [program, ...shownCommands(program).flatMap((each) => [each, ...shownCommands(each)])].map(
    (command) => ({
      file: `${pageOf(command)}.1`,
      text: page(command, version),
    }),
  );
}

// --- helpers ---

function pageOf(command: Command): string {
  return ['lossproof', ...pathOf(command)].join('-');
}

function page(command: Command, version: string): string {
  const lines = [
    `.TH ${pageOf(command).toUpperCase()} 1 "" "lossproof ${version}" "lossproof"`,
    // No word is cut or stretched: a reader copies them.
    '.nh',
    '.ad l',
    ...section('NAME', [`${roff(pageOf(command))} \\- ${roff(bare(command.description()))}`]),
    ...section('SYNOPSIS', [`.B ${roff(nameOf(command))}`, roff(command.usage())]),
    ...section('DESCRIPTION', descriptionLines(command)),
    ...section('COMMANDS', shownCommands(command).flatMap(commandLines)),
    ...section('ARGUMENTS', argumentLines(command)),
    ...optionSections(command),
    ...section('EXAMPLES', exampleLines(command)),
    ...section('EXIT STATUS', exitLines(command)),
    ...section('FILES', command.parent === null ? FILES.flatMap(([file, says]) => item(file, says)) : []),
    ...section('SEE ALSO', seeAlso(command)),
  ];
  return `${lines.join('\n')}\n`;
}

const nameOf = (command: Command): string => ['lossproof', ...pathOf(command)].join(' ');

/** What the documents write for those who have it from npm; whoever reads a manual has the command. */
const bare = (text: string): string => text.replaceAll('npx lossproof', 'lossproof');

/** Nothing in it is a request, and every hyphen is the one that is typed. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll(
      /[^\0-\x7f]/gu,
      (letter) => `\\[u${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/^\./gm, '\\&.');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function item(term: string, says: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(bare(says)) || '\\&'];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function descriptionLines(command: Command): string[] {
  const { notes = [], listing } = wordsOf(command);
  return [
    roff(bare(sentence(command.description()))),
    ...notes.flatMap((note) => ['.PP', roff(bare(note))]),
    ...(listing === undefined ? [] : ['.PP', roff(listing.heading), '.PP', ...asTyped(listing.lines)]),
  ];
}

function asTyped(lines: readonly string[]): string[] {
  return ['.RS 4', '.nf', ...lines.map((line) => roff(line)), '.fi', '.RE'];
}

function commandLines(command: Command): string[] {
  return ['.TP', `.BR ${roff(pageOf(command))} (1)`, roff(sentence(bare(command.description())))];
}

function argumentLines(command: Command): string[] {
  return command.registeredArguments
    .filter(({ description }) => description !== '')
    .flatMap((argument) => item(argumentWord(argument), argument.description));
}

/** The group that has no name of its own comes first. */
function optionSections(command: Command): string[] {
  const groups = new Map<string, Option[]>();
  for (const option of command.createHelp().visibleOptions(command)) {
    const title = option.helpGroupHeading?.replace(/:$/, '') ?? '';
    groups.set(title, [...(groups.get(title) ?? []), option]);
  }
  return section(
    'OPTIONS',
    [...groups].flatMap(([title, options]) => [
      ...(title === '' ? [] : [`.SS ${roff(title)}`]),
      ...options.flatMap((option) => item(option.flags, optionDescription(option))),
    ]),
  );
}

function exampleLines(command: Command): string[] {
  return wordsOf(command).examples.flatMap(({ command: typed, does }, at) => [
    ...(at === 0 ? [] : ['.PP']),
    ...(does === undefined ? [] : [roff(bare(sentence(does))), '.PP']),
    ...asTyped([bare(typed)]),
  ]);
}

function exitLines(command: Command): string[] {
  return Object.entries(wordsOf(command).exit ?? {}).flatMap(([code, says]) => item(code, sentence(says)));
}

const FILES: readonly (readonly [file: string, says: string])[] = [
  [
    'lossproof.config.json',
    'The configuration, or .ts, .js, .mjs: the nearest one upward of the working folder.',
  ],
  ['.lossproof/cases', 'Failing cases, run first the next time and removed when they hold.'],
  ['.lossproof/last-run.ndjson', 'The last run, which lossproof report shows.'],
];

function seeAlso(command: Command): string[] {
  const pages =
    command.parent === null ? shownCommands(command) : [command.parent, ...shownCommands(command)];
  return pages.map((each, at) => `.BR ${roff(pageOf(each))} (1)${at === pages.length - 1 ? '' : ','}`);
}
