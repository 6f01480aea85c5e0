// With which code each command of the program exits, where all is well and under each condition that is none of its doing: the table
// of docs/hostile.md is printed from here, and exits.long.test.ts runs every cell of it.

export interface Stated {
  /** As it is shown: the command, and what tells it from another row. */
  readonly row: string;
  readonly command: string;
  /** SAVED stands for the id of a saved case. */
  readonly words: readonly string[];
  /** Behind `--`. */
  readonly trainer?: readonly string[];
  /** Where nothing is in its way. */
  readonly code: number;
  /** Where it prints what it is asked for: on standard output, unless it leaves that to a script, or prints nothing. */
  readonly prints?: 'on stderr' | 'nothing';
  /** A file that it writes where the user says so, and the words that say so. */
  readonly output?: { readonly at: string; readonly words?: readonly string[] };
  readonly but?: Partial<Record<Condition, number>>;
}

/** In the order of the table, with the heads of its columns. */
export const CONDITIONS = {
  none: 'nothing',
  readerGone: 'reader gone',
  outClosed: 'stdout closed',
  outFull: 'stdout full',
  errFull: 'stderr full',
  inClosed: 'stdin closed',
  noHome: 'no HOME',
  readOnly: 'read-only folder',
  ownPipe: 'pipes for our files',
  outputPipe: 'pipe for its output',
  lockFolder: 'lock: folder',
  lockLive: 'lock: live process',
  lockDead: 'lock: dead process',
  lockElsewhere: 'lock: other host',
  lockPipe: 'lock: pipe',
  lockLink: 'lock: link',
} as const;

export type Condition = keyof typeof CONDITIONS;

const NO_VERDICT = 2;

/** Undefined: it has no such output. */
export function statedCode(stated: Stated, condition: Condition): number | undefined {
  if (condition === 'outputPipe' && stated.output === undefined) return undefined;
  const but = stated.but?.[condition];
  if (but !== undefined) return but;
  // Success promises that what it prints and writes is whole; a failure that was found stands.
  const isLost =
    condition === 'outputPipe' ||
    (condition === 'outFull' && stated.prints === undefined) ||
    (condition === 'errFull' && stated.prints === 'on stderr');
  return isLost ? stated.code || NO_VERDICT : stated.code;
}

/** Loses the last id of each row. */
export const WRONG = ['python3', 'wrong.py'];
export const RIGHT = ['python3', 'right.py'];
export const ONE = ['--only', 'collate/rows-survive', '--cases', '5', '--shrink-time', '1', '--seed', '3'];
const CHECK = [...ONE, '--no-profile'];

const EVENTS = { at: 'out.ndjson', words: ['--events', 'out.ndjson'] };
const PAGE = { at: 'out.html', words: ['--html', 'out.html'] };

/** The file that it is asked for cannot be made. */
const WRITES = { readOnly: NO_VERDICT };
/** What it is asked for stands there. */
const READS = { ownPipe: NO_VERDICT };
/** It writes into a file that another run may be writing. */
const CLAIMS = { lockFolder: NO_VERDICT, lockLive: NO_VERDICT, lockElsewhere: NO_VERDICT };

export const STATED: readonly Stated[] = [
  { row: 'demo', command: 'demo', words: ['--cases', '2', '--seed', '1'], code: 0 },
  {
    row: 'init',
    command: 'init',
    words: ['--force'],
    code: 0,
    output: { at: 'lossproof.config.json' },
    but: WRITES,
  },
  {
    row: 'discover',
    command: 'discover',
    words: ['mine.py'],
    code: 1,
    output: { at: 'out.py', words: ['--write', 'out.py', '--force'] },
  },
  { row: 'doctor', command: 'doctor', words: [], trainer: RIGHT, code: 0 },
  { row: 'check', command: 'check', words: CHECK, trainer: RIGHT, code: 0, output: PAGE },
  { row: 'check, fails', command: 'check', words: CHECK, trainer: WRONG, code: 1, output: PAGE },
  {
    row: 'check --events',
    command: 'check',
    words: [...CHECK, ...EVENTS.words],
    trainer: RIGHT,
    code: 0,
    output: { at: EVENTS.at },
    but: { ...WRITES, ...CLAIMS },
  },
  { row: 'replay', command: 'replay', words: ['SAVED'], trainer: WRONG, code: 1, but: READS },
  {
    row: 'profile',
    command: 'profile',
    words: [],
    trainer: ['python3', 'measurable.py'],
    code: 0,
    output: { at: 'out.json', words: ['--json', 'out.json'] },
  },
  {
    row: 'mutate',
    command: 'mutate',
    words: ['--only', 'collate', '--cases', '5', '--seed', '3'],
    trainer: ['python3', 'adapter.py'],
    code: 0,
    output: PAGE,
    but: { ...WRITES, ...CLAIMS },
  },
  {
    row: 'golden record',
    command: 'golden record',
    words: ['--dir', 'anew'],
    trainer: RIGHT,
    code: 0,
    output: { at: 'anew' },
    but: WRITES,
  },
  { row: 'golden check', command: 'golden check', words: [], trainer: RIGHT, code: 0, output: EVENTS },
  { row: 'golden check, fails', command: 'golden check', words: [], trainer: WRONG, code: 1, output: EVENTS },
  {
    row: 'golden accept',
    command: 'golden accept',
    words: ['--all'],
    trainer: WRONG,
    code: 0,
    output: { at: 'golden' },
    but: WRITES,
  },
  {
    row: 'trace',
    command: 'trace',
    words: [],
    trainer: ['python3', 'train.py', 'right'],
    code: 0,
    prints: 'on stderr',
    output: PAGE,
    but: WRITES,
  },
  // The script writes its records itself, without gradients: nothing that can be compared.
  {
    row: 'twin',
    command: 'twin',
    words: [],
    trainer: ['python3', 'train.py', 'right'],
    code: 2,
    output: PAGE,
  },
  { row: 'gap', command: 'gap', words: ['rollouts.jsonl'], code: 0, output: PAGE },
  { row: 'monitor', command: 'monitor', words: ['log.jsonl'], code: 1, output: PAGE },
  { row: 'view', command: 'view', words: ['rows.jsonl'], code: 0, output: PAGE },
  {
    row: 'dataset',
    command: 'dataset',
    words: ['made.jsonl', '--form', 'chat', '--rows', '30'],
    code: 0,
    output: { at: 'made.jsonl' },
    but: WRITES,
  },
  { row: 'report', command: 'report', words: [], code: 0, output: PAGE, but: { ...READS, ...WRITES } },
  { row: 'merge', command: 'merge', words: [], code: 1, output: PAGE, but: READS },
  { row: 'explain', command: 'explain', words: ['mask'], code: 0 },
  { row: 'list', command: 'list', words: [], code: 0 },
  { row: 'mcp', command: 'mcp', words: [], code: 0, prints: 'nothing' },
  { row: 'session', command: 'session', words: [], code: 0, prints: 'nothing' },
];
