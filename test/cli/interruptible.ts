// For each command of the program an input with which it would go on for ever, or far too long, and when it is at that.
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRAINER } from '../trainer/misbehaving.ts';

export interface Interruptible {
  /** Its words behind its name; files that it needs are laid into its folder first. */
  readonly prepare: (cwd: string) => readonly string[];
  /** Whether it is at it, by what it has written so far. */
  readonly at: (cwd: string, text: string) => boolean;
  /** Whoever started it decides: its input ends with the signal. */
  readonly input?: 'ends';
}

/** In the environment of each, and so of all that they start. */
export const OURS = { LOSSPROOF_INTERRUPTED: String(process.pid) } as const;

const asked = (cwd: string): boolean => existsSync(join(cwd, 'asked'));
const said = (_: string, text: string): boolean => text !== '';
/** The trainer never answers what it is asked first. */
const trainer = (how = 'hangs at its first request'): readonly string[] => ['--', 'python3', TRAINER, how];
/** No deadline ends it in its place. */
const ENDLESS = ['--op-timeout', '3600'];
const hanging = (...words: readonly string[]): Interruptible => ({
  prepare: () => [...words, ...ENDLESS, ...trainer()],
  at: asked,
});
/** It reads and writes a few small files: there is nothing to be in the middle of. */
const short = (...words: readonly string[]): Interruptible => ({ prepare: () => words, at: () => true });
/** Reads its standard input, which nobody writes into. */
const reading = (...words: readonly string[]): Interruptible => ({ prepare: () => words, at: waited(1_500) });

/** Nothing says that it has begun to read. */
function waited(milliseconds: number): () => boolean {
  let since: number | undefined;
  return () => {
    since ??= performance.now();
    return performance.now() - since > milliseconds;
  };
}

const recorded = (...words: readonly string[]): Interruptible => ({
  prepare: (cwd) => {
    cpSync('golden/example', join(cwd, 'golden'), { recursive: true });
    return ['--dir', 'golden', ...words, ...ENDLESS, ...trainer()];
  },
  at: asked,
});

const SLOW = `
import time, lossproof, mine
@lossproof.op
def kl(logprobs, ref_logprobs):
    open("asked", "w").close()
    time.sleep(3600)
lossproof.serve(name="slow")
`;

export const INTERRUPTIBLE: Readonly<Record<string, Interruptible>> = {
  demo: { prepare: () => [], at: said },
  init: short(),
  discover: {
    prepare: (cwd) => {
      writeFileSync(
        join(cwd, 'mine.py'),
        'def kl(logprobs, ref_logprobs):\n    return logprobs\nwhile True:\n    pass\n',
      );
      return ['mine.py'];
    },
    at: waited(1_500),
  },
  doctor: hanging(),
  check: hanging('--workers', '2'),
  replay: {
    prepare: (cwd) => {
      cpSync('scripts/fuzz/seeds/saved-case.json', join(cwd, 'case.json'));
      return ['case.json', ...ENDLESS, ...trainer()];
    },
    at: asked,
  },
  profile: hanging(),
  mutate: {
    prepare: (cwd) => {
      writeFileSync(join(cwd, 'mine.py'), 'def more(x):\n    return x + 1\n');
      writeFileSync(join(cwd, 'adapter.py'), SLOW);
      return [...ENDLESS, '--', 'python3', 'adapter.py'];
    },
    at: asked,
  },
  'golden record': hanging('--dir', 'golden'),
  'golden check': recorded(),
  'golden accept': recorded('--all'),
  trace: {
    prepare: () => ['--', 'python3', '-c', 'import time; open("asked", "w"); time.sleep(3600)'],
    at: asked,
  },
  twin: {
    prepare: () => ['--', 'python3', '-c', 'import time; open("asked", "w"); time.sleep(3600)'],
    at: asked,
  },
  monitor: reading('-'),
  gap: reading('-'),
  view: reading('-'),
  dataset: { prepare: () => ['rows.jsonl', '--form', 'chat', '--rows', '10000'], at: waited(1_500) },
  report: reading('-'),
  merge: short(),
  explain: short('mask'),
  list: { prepare: () => trainer('hello: none'), at: (cwd) => existsSync(join(cwd, 'lived')) },
  mcp: reading(),
  session: { ...reading(), input: 'ends' },
};
