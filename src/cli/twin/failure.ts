// How a run of a script failed by itself, in words: which run, how it ended, what it said last, and what it lacked.
import { join } from 'node:path';
import { readEnd } from '../../outside/file.ts';
import { clipped } from '../../report/text/visible.ts';
import type { Ledger } from '../../trace/ledger.ts';
import type { ChildExit } from '../../trainer/child.ts';
import { endWords, STDERR_FILE } from '../trace/script.ts';

export interface Failure {
  /** `exit code 1`, `killed by SIGKILL`. */
  readonly how: string;
  /** The exception that ended it, or the last line that it wrote; '' where there is neither. */
  readonly why: string;
  /** The last lines that it wrote to stderr. */
  readonly lines: readonly string[];
  /** Of the run: its output is in there. */
  readonly folder: string;
  /** What it lacked, as far as that was seen. */
  readonly hint?: string;
}

/** What is known of a run that ended; undefined where it did not fail by itself. */
export function failureOf(
  { processes, events }: Ledger,
  exit: ChildExit,
  { cwd, env, folder }: Place,
): Failure | undefined {
  const raised = processes.find(({ end }) => end?.reason === 'exception')?.end?.exception ?? undefined;
  const ended = processes.some(({ end }) => end?.reason === 'steps');
  // Ended by us, it may end as it likes.
  const failed = !ended && (exit.exitCode !== 0 || exit.signal !== undefined);
  if (raised === undefined && !failed) return undefined;
  const lines = lastLines(join(cwd, folder));
  const why = clipped((raised ?? lines.at(-1) ?? '').replaceAll(/\s+/g, ' ').trim(), MOST_CHARACTERS);
  const hosts = events.flatMap(({ what, names }) => (what === 'unreachable' ? names : []));
  const offline = OFFLINE.find((name) => (env[name] ?? '') !== '' && /offline|cache/i.test(why));
  const hint =
    hosts[0] !== undefined
      ? `it could not reach ${hosts[0]}; run it where there is a network, or with files on this machine`
      : offline !== undefined
        ? `${offline} is set, so that nothing is downloaded`
        : undefined;
  return { how: endWords(exit), why, lines, folder, ...(hint === undefined ? {} : { hint }) };
}

/** `(exit code 1): RuntimeError: out of memory`, to follow what failed. */
export function failedWords({ how, why, hint }: Failure): string {
  return [`(${how})${why === '' ? '' : `: ${why.replace(/\.$/, '')}`}`, hint ?? []].flat().join('; ');
}

/** The last lines that the run in this folder wrote to stderr. */
export function lastLines(folder: string): readonly string[] {
  return readEnd(join(folder, STDERR_FILE), END_BYTES)
    .split('\n')
    .map((line) => clipped(line.trimEnd(), MOST_CHARACTERS))
    .filter((line) => line.trim() !== '')
    .slice(-MOST_LINES);
}

// --- helpers ---

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
}

/** They keep libraries of Hugging Face from the network. */
const OFFLINE = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE', 'HF_DATASETS_OFFLINE'];
/** The place of an exception and its message; a launcher's table after them is longer. */
const MOST_LINES = 4;
const MOST_CHARACTERS = 300;
const END_BYTES = 2 ** 16;
