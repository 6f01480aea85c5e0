// Each way of misbehaving that test/trainers/misbehaving.py has, and the verdict that it must get: the test beside this asks for
// the verdicts, `npm run measure:misbehaving` for them, the seconds and the memory.
import { join } from 'node:path';
import type { PropertyResult } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** What a run of it must say. */
export interface Stated {
  readonly code: number;
  /** Verdict, kind of the trainer's failure and whether it comes again: `error crash deterministic`; absent: none was told. */
  readonly extract?: string;
  readonly collate?: string;
  /** What stands in the message of the failure, or, without one, on the screen. */
  readonly says?: string;
  /** It waits for a deadline of so many seconds; absent: none is near. */
  readonly deadline?: number;
  /** It cannot run in the process of a test, which it ends. */
  readonly endsHarness?: boolean;
}

export const TRAINER = join(PACKAGE_ROOT, 'test', 'trainers', 'misbehaving.py');
export const EXTRACT = 'extract/exact-under-left-padding';
export const COLLATE = 'collate/rows-survive';
/** Some cases of three rows are among so many. */
export const WORDS = ['--seed', '5', '--cases', '6', '--shrink-time', '0.001', '--no-profile', '--no-corpus'];

/** Seconds in which eight Pythons beside each other answer on a busy machine, too; misbehaving.py is late by more than these. */
const SHORT = 5;
/** It must start within this, the first time. */
const HELLO_DEADLINE = 20;

const noStart = (says: string, more: Partial<Stated> = {}): Stated => ({ code: 2, says, ...more });
const holds = (says = '2 hold'): Stated => ({ code: 0, extract: 'pass', collate: 'pass', says });
/** Of the marked request alone. */
const one = (kind: string, says: string, again = 'deterministic'): Stated => ({
  code: 1,
  extract: `error ${kind} ${again}`,
  collate: 'pass',
  says,
});
const shape = (says: string): Stated => one('shape', says);
const exit = (how: string): Stated => one('crash', `The trainer ${how} while it owed an answer to extract.`);
const hang = (says = `did not answer extract within ${SHORT} s`): Stated => ({
  ...one('hang', says),
  deadline: SHORT,
});
/** Of every request. */
const all = (kind: string, says: string): Stated => ({
  code: 1,
  extract: `error ${kind} deterministic`,
  collate: `error ${kind} deterministic`,
  says,
});
const nothing = (says: string): Stated => ({ code: 2, extract: 'skipped', collate: 'skipped', says });

const nested = (op: string): string =>
  `The trainer wrote JSON that cannot be read where ${op === 'hello' ? op : `an answer to ${op}`} was due (nested deeper than 200 levels)`;
const print = (line: string, op = 'extract'): string =>
  `printed a line that is no answer where ${op === 'hello' ? op : `an answer to ${op}`} was due: ${line}`;
const due = (op: string): string => `where an answer to ${op} was due`;
const ONE_KIND = 'the answer must have exactly one of ok, reject, skip, error, it has';
const LEFT = 'left its process group and outlived it';
const HELLO = "The trainer's hello is wrong: hello";

export const MISBEHAVING: Readonly<Record<string, Stated>> = {
  // At its start.
  exits: noStart('exited (code 0) before it said hello'),
  'dies of an exception': noStart('exited with code 1 before it said hello'),
  'dies of a signal': noStart('was killed by SIGSEGV before it said hello'),
  'prints first': noStart(print('Loading checkpoint shards', 'hello')),
  'prints first, no newline': noStart(print('loading...{"id": 1', 'hello')),
  'answers before it is asked': all('garbage', 'The trainer answered one request twice: {"id": 1'),
  'closes its input': noStart('Its last words: OSError: [Errno 9] Bad file descriptor'),
  'leaves a child': holds(),
  'leaves a children': holds(),
  'leaves a session': holds(LEFT),
  'leaves a daemon': holds(LEFT),
  'leaves a deaf child': holds(),

  // At hello.
  'hello: none': noStart(`did not say hello within ${HELLO_DEADLINE} s`, { deadline: HELLO_DEADLINE }),
  'hello: an exit': noStart('exited with code 3 before it said hello'),
  'hello: null': noStart(print('null', 'hello')),
  'hello: a list': noStart(print('[1]', 'hello')),
  'hello: each key twice': holds(),
  'hello: deep lists': noStart(nested('hello')),
  'hello: deep objects': noStart(nested('hello')),
  'hello: slow': holds(),
  'hello: reject': noStart('The trainer answered hello with reject: "no"'),
  'hello: error': noStart('hello raised: m\\x1b]0;pwned'),
  'hello: another protocol': noStart('the trainer speaks protocol 2, this harness speaks protocol 1'),
  'hello: no ops': noStart(`${HELLO}.ops is missing`),
  'hello: empty ops': {
    code: 2,
    extract: 'unsupported',
    collate: 'unsupported',
    says: 'nothing was checked',
  },
  'hello: ops of JavaScript': noStart(`${HELLO}.ops has an unknown op "constructor"`),
  'hello: an op called __proto__': noStart(`${HELLO}.ops has an unknown op "__proto__"`),
  'hello: a name of five million': holds(),
  'hello: a name for the screen': holds(),
  'hello: an empty name': holds(),
  'hello: ids beyond all': noStart(`${HELLO}.tokens.vocab_size is 9007199254740991`),
  'hello: a vocabulary of 0': noStart(`${HELLO}.tokens.vocab_size is 0`),
  'hello: a vocabulary of 1': holds(),
  'hello: a vocabulary of 2': holds(),
  'hello: no tokenizer': noStart('There is no tokenizer folder /nonexistent/\\x00x'),
  'hello: a device for a tokenizer': noStart('The tokenizer /proc/self/mem is a file'),

  // What stands in the place of ids.
  'ids: NaN': shape('ok.completion_ids[0][0] is NaN, expected an integer'),
  'ids: beyond float64': shape('ok.completion_ids[0][0] is Infinity, expected an integer'),
  'ids: beyond 2**53': shape('is 9007199254740992, beyond 2**53, where integers lose digits'),
  'ids: texts': shape('ok.completion_ids[0][0] is "1", expected an integer'),
  'ids: another depth': shape('ok.completion_ids[0][0] is [1], expected an integer'),
  'ids: ragged': shape('ok.completion_ids[1] is 2, expected a list of numbers'),
  'ids: a row less': shape('was given 3 rows and answered 2 rows in ok.completion_ids'),
  'ids: a tensor of lies': shape('of int64 is 128000000000000000000 bytes, its data has 0'),
  'ids: a tensor below 0': shape('has shape [-1,-8], expected a list of 1 to 3 lengths'),
  'ids: no rows, endless columns': shape('has too many rows for having no values'),
  'ids: endless rows, no columns': shape('has too many rows for having no values'),
  'ids: 5000 axes': shape('expected a list of 1 to 3 lengths'),
  'ids: a dtype of JavaScript': shape('has dtype "constructor", expected float32, float64, int64, int32'),
  'ids: no base64': shape('shape [1, 1] of int64 is 8 bytes, its data has 0'),
  'ids: deep': one('garbage', nested('extract')),
  'ids: two million': one('garbage', 'more than 262,144 values per list'),
  'ids: 200,000': shape('was given 3 rows and answered 1 row in ok.completion_ids'),
  'ids: NaN and 200,000': shape('ok.completion_ids[0][0] is NaN, expected an integer'),

  // What an answer says.
  'says no kind': shape(`${ONE_KIND} none`),
  'says two kinds': shape(`${ONE_KIND} ok and reject`),
  'says another key': shape('ok has an unknown key "extra"'),
  'says deep ok': one('garbage', nested('extract')),
  'says deep beside': one('garbage', nested('extract')),
  'says deep error': one('garbage', nested('extract')),
  'says deep options': one('garbage', nested('extract')),
  'says __proto__': shape('ok has an unknown key "__proto__"'),
  'says half a character': one('error', 'extract raised: x \ud800 y \udfff'),
  'says half a character for a reason': holds(),
  'says an exception': one('error', 'extract raised: IndexError: '),
  'says an exception of 9 MB': one('error', '(3,998,000 of 4,000,000 characters left out)'),
  'says a long traceback': one('error', 'extract raised: boom'),
  'says a long text and NaN': shape(`${ONE_KIND} error and x`),
  'the key twice': holds(),

  // How it is written.
  twice: one('garbage', 'The trainer answered one request twice', '*'),
  'another id': one('garbage', 'answered with another id than'),
  'a line of 65 MiB': one('garbage', `wrote a line of more than 64 MiB ${due('extract')}`),
  'an endless line': one('garbage', `wrote a line of more than 64 MiB ${due('extract')}`),
  'half, and an exit': exit('exited (code 0)'),
  'no newline, and an exit': exit('exited (code 0)'),
  'half, and a hang': hang('Its last output had no newline: {"id": 2'),
  chance: one('garbage', `wrote a line that is not UTF-8 ${due('extract')}`),
  NUL: one('garbage', print('')),
  'no UTF-8': one('garbage', `wrote a line that is not UTF-8 ${due('extract')}`),
  'a print': one('garbage', print('step 3: loss 0.25')),
  'a print for the screen': one('garbage', print('')),
  'a print, no newline': one('garbage', print('progress...{"id": 2')),
  'a print from elsewhere': one('garbage', print('step 3: loss 0.25')),
  'a print behind': one(
    'garbage',
    'printed a line that is no answer where nothing was due: saved checkpoint',
    '*',
  ),
  'words for the screen, and an end': exit('exited with code 9'),
  '20 MB of stderr': holds(),
  'byte by byte': holds(),
  'in two pieces': holds(),
  CRLF: holds(),
  'empty lines before': holds(),
  'a float for an id': holds(),
  'a text for an id': all('garbage', print('{"id": "2"')),
  '1e308 for an id': all('garbage', print('{"id":1e308')),
  'null for an id': all('garbage', print('{"id":null')),
  'a byte order mark': all('garbage', 'wrote a byte order mark (U+FEFF) before the line'),
  'UTF-16': all('garbage', 'wrote a line that is not UTF-8'),
  'a print before': all('garbage', print('step 1: loss 0.25')),
  CR: { ...all('hang', 'Its last output had no newline: {"id": 2'), deadline: SHORT },
  'endless lines': hang(),
  'out of order, in pairs': { ...all('hang', `did not answer extract within ${SHORT} s`), deadline: SHORT },

  // How it ends, or does not.
  'closes its output': one('crash', 'The trainer closed its standard output while it owed an answer'),
  'closes everything': one('crash', 'The trainer closed its standard output while it owed an answer'),
  'closes its output first': all('crash', 'The trainer closed its standard output while it owed an answer'),
  'closes its input, hangs': { ...all('hang', `did not answer extract within ${SHORT} s`), deadline: SHORT },
  'ignores SIGTERM': hang(),
  SIGSTOP: hang(),
  late: hang(),
  'eats memory': one('crash', 'Its last words: MemoryError'),
  SIGKILL: exit('was killed by SIGKILL'),
  SIGSEGV: exit('was killed by SIGSEGV'),
  SIGABRT: exit('was killed by SIGABRT'),
  'leaves its group, and hangs': hang(),
  'kills its group': exit('was killed by SIGKILL'),
  'kills the harness': {
    code: 130,
    extract: 'interrupted',
    collate: 'pass',
    says: 'interrupted by SIGTERM',
    endsHarness: true,
  },
  'answers and exits': one('crash', 'The trainer exited with code 6', '*'),
  'exits behind hello': all('crash', 'The trainer exited (code 0) while it owed an answer to'),
  'exits, and says another hello': one('shape', 'said another hello: version was absent, now "2"', '*'),
  'exits, and orders hello anew': one('shape', 'said another hello: its keys stand in another order', '*'),
  'exits, and stops at its next start': {
    ...one('start', `did not say hello within ${HELLO_DEADLINE} s`, 'not re-run'),
    deadline: HELLO_DEADLINE,
  },
  'leaves a child, hangs': hang(),
  'leaves a children, hangs': hang(),
  'leaves a session, hangs': hang(),
  'leaves a daemon, hangs': hang(),
  'leaves a deaf child, hangs': hang(),
  'leaves a child, dies': exit('exited with code 5'),
  'leaves a children, dies': exit('exited with code 5'),
  'leaves a session, dies': exit('exited with code 5'),
  'leaves a daemon, dies': exit('exited with code 5'),
  'leaves a deaf child, dies': exit('exited with code 5'),
  'exits at its first request': all('crash', 'exited with code 1 while it owed an answer to extract'),
  'hangs at its first request': {
    ...all('hang', `did not answer extract within ${SHORT} s`),
    deadline: SHORT,
  },
  'hangs at its end': holds(),
  'prints at its end': holds(),

  // What it remembers.
  'slower and slower': { code: 1, extract: 'error hang *', collate: 'pass', deadline: SHORT },
  'an end at each tenth': { code: 1, extract: 'error crash *', collate: 'pass' },
  'an end at its second': { code: 1, extract: 'error crash *', collate: 'error crash *' },
  'an end at random': { code: 1, extract: 'error crash *', collate: 'error crash *' },
  'wrong each second time': { code: 1, extract: 'fail completion *', collate: 'pass' },
  'wrong once it is old': { code: 1, extract: 'fail completion state leak', collate: 'pass' },

  // What it does not do.
  'refuses all': nothing('nothing was checked'),
  'skips all': nothing('nothing was checked'),
};

/** How the verdict is written above; `*` stands for what may differ from run to run. */
export function verdictOf(result: PropertyResult | undefined): string | undefined {
  const { verdict, failure } = result ?? {};
  if (failure === undefined) return verdict;
  const kind = failure.trainerFailure?.kind ?? failure.finding?.kind;
  return `${verdict} ${kind} ${failure.confirmed}`;
}

export interface Seen {
  readonly code: number | null;
  readonly results: readonly PropertyResult[];
  readonly screen: string;
}

/** What of a run is not as stated, one line each. */
export function differences(stated: Stated, { code, results, screen }: Seen): readonly string[] {
  const resultOf = (id: string): PropertyResult | undefined => results.find((result) => result.id === id);
  const told = results.flatMap(({ failure }) => failure?.trainerFailure?.message ?? []).join('\n');
  const text = `${told}\n${screen.replaceAll(/\s+/g, ' ')}`;
  const differs = (what: string, seen: unknown, wanted: unknown): string[] =>
    seen === wanted ? [] : [`${what} is ${seen}, stated: ${wanted}`];
  const anyway = (verdict: string | undefined, wanted: string | undefined): string | undefined =>
    wanted?.endsWith('*') && verdict?.startsWith(wanted.slice(0, -1)) ? wanted : verdict;
  return [
    ...differs('the exit code', code, stated.code),
    ...differs('extract', anyway(verdictOf(resultOf(EXTRACT)), stated.extract), stated.extract),
    ...differs('collate', anyway(verdictOf(resultOf(COLLATE)), stated.collate), stated.collate),
    ...(stated.says === undefined || text.includes(stated.says)
      ? []
      : [`it does not say: ${stated.says}, but: ${text.slice(0, 300)}`]),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not reach a screen
    ...(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(screen)
      ? ['it writes control characters to the screen']
      : []),
  ];
}
