// Which words may stand where TAB was pressed: a pure function of the table, what is typed so far, and what is found
// where it is typed.
import type { CommandEntry, Kind, OptionEntry, Table } from './table.ts';

export interface Answer {
  /** In the order in which they are best read. */
  readonly candidates: readonly Candidate[];
  /** What the shell finishes beside them. */
  readonly also: 'nothing' | 'files' | 'folders';
}

export interface Candidate {
  readonly word: string;
  readonly says: string;
}

/** Looked up only where a candidate depends on it. */
export interface Place {
  /** Names of the trainers in the configuration, by default the nearest one. */
  readonly trainers: (config: string | undefined) => readonly string[];
  readonly cases: () => readonly string[];
}

/** `words` are those behind `lossproof`; the last is the one to finish, and may be empty. */
export function answerTo(words: readonly string[], table: Table, place: Place): Answer {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const at = standing(before, table.root);
  const told = { table, place, config: lastValue('--config', before) };
  if (before.includes('--')) return { candidates: [], also: 'files' };
  if (at.awaiting !== undefined && !(at.awaiting.isOptional && typed.startsWith('-')))
    return ofKind(at.awaiting.kind, typed, told);
  const [, name = '', value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  const assigned = at.command.options.find(({ names }) => names.includes(name))?.value;
  if (value !== undefined) {
    if (assigned === undefined) return NOTHING;
    const { candidates, also } = ofKind(assigned, value, told);
    return { candidates: candidates.map(({ word, says }) => ({ word: `${name}=${word}`, says })), also };
  }
  if (typed.startsWith('-')) return { candidates: optionsOf(at, typed), also: 'nothing' };
  const commands = at.command.commands.filter(({ name: each }) => each.startsWith(typed));
  if (at.command.commands.length > 0)
    return { candidates: commands.map(({ name: word, says }) => ({ word, says })), also: 'nothing' };
  const args = at.command.arguments;
  const next = args[at.count] ?? (args.at(-1)?.variadic === true ? args.at(-1) : undefined);
  if (next !== undefined) return ofKind(next.kind, typed, told);
  return { candidates: typed === '' ? optionsOf(at, '') : [], also: 'nothing' };
}

// --- helpers ---

const NOTHING: Answer = { candidates: [], also: 'nothing' };

const UNKNOWN: CommandEntry = {
  name: '',
  says: '',
  commands: [],
  options: [],
  arguments: [],
  takesCommand: false,
};

interface Standing {
  readonly command: CommandEntry;
  /** Arguments that stand already. */
  readonly count: number;
  readonly used: ReadonlySet<OptionEntry>;
  /** The option whose value is next. */
  readonly awaiting: { readonly kind: Kind; readonly isOptional: boolean } | undefined;
}

function standing(before: readonly string[], root: CommandEntry): Standing {
  let command = root;
  let count = 0;
  let awaiting: Standing['awaiting'];
  const used = new Set<OptionEntry>();
  for (const word of before) {
    if (awaiting !== undefined && !(awaiting.isOptional && word.startsWith('-'))) {
      awaiting = undefined;
      continue;
    }
    awaiting = undefined;
    if (word.startsWith('-') && word.length > 1) {
      const [name = ''] = word.split('=', 1);
      const option = command.options.find(({ names }) => names.includes(name));
      if (option === undefined) continue;
      used.add(option);
      if (option.value !== undefined && name === word)
        awaiting = { kind: option.value, isOptional: option.isOptional === true };
      continue;
    }
    if (command.commands.length === 0) count++;
    else command = command.commands.find(({ name }) => name === word) ?? UNKNOWN;
  }
  return { command, count, used, awaiting };
}

function optionsOf({ command, used }: Standing, typed: string): Candidate[] {
  const open = command.options.filter((option) => option.repeatable || !used.has(option));
  const words = open.map(({ names: [word = ''], says }) => ({ word, says }));
  const behind = { word: '--', says: "the trainer's or the script's command, word by word" };
  return [...words, ...(command.takesCommand ? [behind] : [])].filter(({ word }) => word.startsWith(typed));
}

interface Told {
  readonly table: Table;
  readonly place: Place;
  readonly config: string | undefined;
}

function ofKind(kind: Kind, typed: string, { table, place, config }: Told): Answer {
  const named = (words: readonly string[], says = ''): Answer['candidates'] =>
    words.filter((word) => word.startsWith(typed)).map((word) => ({ word, says }));
  switch (kind.of) {
    case 'files':
    case 'folders':
      return { candidates: [], also: kind.of };
    case 'nothing':
      return NOTHING;
    case 'values':
      return { candidates: named(kind.values), also: 'nothing' };
    case 'trainers':
      return { candidates: named(place.trainers(config), 'of the configuration'), also: 'nothing' };
    case 'cases':
      return { candidates: named(place.cases(), 'saved here'), also: 'files' };
    case 'commands':
      return {
        candidates: table.root.commands
          .filter(({ name }) => name !== 'help' && name.startsWith(typed))
          .map(({ name: word, says }) => ({ word, says })),
        also: 'nothing',
      };
    case 'list':
      return {
        candidates: fromList(table.lists[kind.list], typed, kind.separated === true),
        also: 'nothing',
      };
  }
}

/** Of hundreds of ids their stages, until one is chosen. `mask,kl/` is finished as `mask,kl/...`. */
function fromList(list: Readonly<Record<string, string>>, typed: string, isSeparated: boolean): Candidate[] {
  const cut = isSeparated ? typed.lastIndexOf(',') + 1 : 0;
  const [lead, last] = [typed.slice(0, cut), typed.slice(cut)];
  const fitting = Object.entries(list).filter(([id]) => id.startsWith(last));
  const stages = [
    ...new Set(fitting.flatMap(([id]) => (id.includes('/') ? [id.split('/', 1)[0] ?? ''] : []))),
  ];
  const whole = last.includes('/') ? [] : stages.map((stage) => [stage, 'every one of this stage'] as const);
  const ids = whole.length > 1 ? fitting.filter(([id]) => !id.includes('/')) : fitting;
  return [...whole, ...ids].map(([word, says]) => ({ word: lead + word, says }));
}

function lastValue(name: string, words: readonly string[]): string | undefined {
  const at = words.lastIndexOf(name);
  return at < 0 ? undefined : words[at + 1];
}
