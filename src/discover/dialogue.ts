// The Python that reads and calls a project's functions, `src/python/lossproof_discover`: one line of JSON out, one in. It may
// hang, die or exit at any call: then a fresh one is started, and who asked is told what became of the one before.
import { bound, pace } from '../bounds.ts';
import type { Layout } from '../vocabulary.ts';
import { talk } from './talk.ts';

export interface ReadFile {
  readonly file: string;
  readonly functions: number;
  readonly problem?: string;
}

export interface Candidate {
  readonly file: string;
  readonly name: string;
  readonly line: number;
  readonly kind: 'function' | 'static' | 'method' | 'class';
  readonly parameters: readonly string[];
  /** How much its names speak for each op. */
  readonly ops: Readonly<Record<string, number>>;
}

export interface ProjectRead {
  readonly files: readonly ReadFile[];
  readonly candidates: readonly Candidate[];
  readonly arrays: 'torch' | 'numpy' | null;
}

export interface LoadedFile {
  /** The import that an adapter writes. */
  readonly line: string;
  readonly folder: string;
  /** A line that it stands below, of what is stubbed or imported in part; or ''. */
  readonly head: string;
  /** Statements of its package that failed when it was imported, and what they raised. */
  readonly leftOut: readonly string[];
}

/** One way to call a function for an op: the lines of an adapter, and what they rest on. */
export interface Way {
  readonly way: number;
  readonly text: string;
  readonly call: string;
  /** A line of the adapter's own that `call` needs, or ''. */
  readonly header: string;
  /** Parameter, what stands for it, and whether that is data of the op. */
  readonly arguments: readonly (readonly [parameter: string, text: string, data: boolean])[];
  /** Parameters that a count of the caller stands for; which one is assumed. */
  readonly counts: readonly string[];
  readonly capability: Readonly<Record<string, unknown>>;
  readonly layout: Layout | null;
  /** Each field that it answers, and which part of what is returned that is. */
  readonly reads: readonly (readonly [field: string, part: string])[];
  /** Parts of what is returned that are no field of the answer by any name. */
  readonly unread: readonly string[];
  /** Its parameters, where it is right only for who hands over rows of logits beside tokens one later. */
  readonly shifted: Shifted | null;
  readonly assumes: readonly string[];
  /** Numbers that nobody but practice gave, by the name of what they stand for. */
  readonly invented: readonly (readonly [name: string, text: string])[];
  /** Those of the project's own defaults, likewise. */
  readonly own: readonly (readonly [name: string, text: string])[];
  /** Special ids that it reads and is not handed, by the name of the constant. */
  readonly fixed: Readonly<Record<string, readonly [part: 'eos' | 'pad', ids: readonly number[]]>>;
  /** All names speak for it. */
  readonly agrees: boolean;
  /** A term is on that is off by default. */
  readonly switched: boolean;
  readonly score: number;
}

export interface Shifted {
  readonly logits: string;
  readonly ids: string;
}

/** What those hand over who call a function. */
export interface Callers {
  /** Some call shifts, and none the wrong way. */
  readonly shifts: boolean;
  /** One that does not; null where there is no such call, or none at all. */
  readonly call: string | null;
}

export interface Attempt {
  readonly ways: readonly Way[];
  readonly tried: number;
  readonly why: readonly string[];
}

export type Said<T> = (
  | { readonly ok: T }
  /** The function did what ends its candidacy. */
  | { readonly stopped: string }
  /** It could not be done; for one function, or for a file. */
  | { readonly problem: string; readonly died?: true }
) & {
  /** Of an attempt: something was written to standard output. */
  readonly printed?: true;
};

export interface Limits {
  /** The temporary folder that it works in. */
  readonly folder: string;
  /** Bytes. */
  readonly memory: number;
  /** Of processor time, in all. */
  readonly seconds: number;
}

export interface Dialogue {
  read(paths: readonly string[]): Promise<Said<ProjectRead>>;
  load(file: string): Promise<Said<LoadedFile>>;
  attempt(ask: AttemptAsk): Promise<Said<Attempt>>;
  callers(candidate: number, places: Shifted): Promise<Said<Callers>>;
  /** `args` as JSON text; the answer as the protocol has it. */
  answer(way: number, args: string): Promise<Record<string, unknown>>;
  /** What the system does not bound. */
  readonly missing: () => readonly string[];
  /** How often a fresh one was started. */
  readonly restarts: () => number;
  /** Ends what runs, at once: what is waited for is answered with a problem, and nothing is started any more. */
  giveUp(): void;
  stop(): Promise<void>;
}

export interface AttemptAsk {
  readonly candidate: number;
  readonly op: string;
  readonly arrays: string | null;
  /** JSON text: a list of [layout or null, requests]. */
  readonly cases: string;
  readonly own: string | undefined;
}

export interface DialogueOptions {
  readonly python: string;
  readonly limits: Limits;
  readonly loadMilliseconds: number;
  /** What is stubbed, and as which version, be it installed or not. */
  readonly stubs: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** Longer than what Python itself stops, which measures CPU time: this is for what hangs in C. On a slow machine it is longer. */
const ATTEMPT_MILLISECONDS = bound({
  of: '`discover`: trying a function for an op; up to ten times that on a machine that starts Python slowly',
  wall: 25_000,
  over: 'the function is not bound, with the reason',
});
const ANSWER_MILLISECONDS = bound({
  of: '`discover`: one answer of a function; up to ten times that on a machine that starts Python slowly',
  wall: 12_000,
  over: 'the function is not bound, with the reason',
});
const READ_MILLISECONDS = bound({
  of: '`discover`: reading the project',
  wall: 120_000,
  over: 'exit code 2',
});
const START_MILLISECONDS = bound({ of: '`discover`: starting Python', wall: 120_000, over: 'exit code 2' });
/** Starting Python and reading a project's files takes less on a machine that has no other work. */
const USUAL_START_MILLISECONDS = pace(1_000);
const MOST_TIMES_SLOWER = 10;
/** Each costs the imports again. */
const MOST_RESTARTS = bound({
  of: '`discover`: starts of Python after a function ended it',
  steps: 12,
  over: 'the other functions are not tried, with the reason',
});

export function openDialogue({ python, limits, loadMilliseconds, stubs, env }: DialogueOptions): Dialogue {
  let line: ReturnType<typeof talk> | undefined;
  let paths: readonly string[] | undefined;
  let missing: readonly string[] = [];
  let restarts = -1;
  let timesSlower = 1;
  const loaded = new Set<string>();
  let over = false;

  async function ready(): Promise<ReturnType<typeof talk>> {
    if (line?.alive()) return line;
    loaded.clear();
    restarts++;
    return (await begin(paths)).line;
  }

  async function begin(given: readonly string[] | undefined) {
    const begun = performance.now();
    const fresh = talk(python, limits.folder, env);
    line = fresh;
    const found = given === undefined ? {} : await fresh.ask({ do: 'read', paths: given }, READ_MILLISECONDS);
    const { folder, memory, seconds } = limits;
    missing = unboundedOf(await fresh.ask({ do: 'limit', folder, memory, seconds }, START_MILLISECONDS));
    const times = (performance.now() - begun) / USUAL_START_MILLISECONDS;
    timesSlower = Math.max(1, Math.min(times, MOST_TIMES_SLOWER));
    return { line: fresh, found };
  }

  async function said<T>(request: string | object, milliseconds: number): Promise<Said<T>> {
    if (over) return { problem: 'stopped' };
    if (restarts >= MOST_RESTARTS && line?.alive() !== true)
      return { problem: `its process ended ${MOST_RESTARTS} times; the rest is not tried`, died: true };
    const answer = await (await ready()).ask(request, milliseconds * timesSlower);
    return answer as unknown as Said<T>;
  }

  return {
    async read(given) {
      restarts = 0;
      const { found } = await begin(given);
      paths = given;
      return found as unknown as Said<ProjectRead>;
    },
    async load(file) {
      const answer = await said<LoadedFile>({ do: 'load', file, versions: stubs }, loadMilliseconds);
      if ('ok' in answer) loaded.add(file);
      return answer;
    },
    attempt({ candidate, op, arrays, cases, own }) {
      const head = JSON.stringify({ do: 'attempt', candidate, op, arrays, own: own ?? null });
      return said<Attempt>(`${head.slice(0, -1)},"cases":${cases}}`, ATTEMPT_MILLISECONDS);
    },
    callers: (candidate, places) => said<Callers>({ do: 'callers', candidate, places }, READ_MILLISECONDS),
    async answer(way, args) {
      if (line?.alive() !== true) return { error: 'its process ended' };
      const request = `{"do":"answer","way":${way},"args":${args}}`;
      return line.ask(request, ANSWER_MILLISECONDS * timesSlower);
    },
    missing: () => missing,
    restarts: () => Math.max(0, restarts),
    giveUp() {
      over = true;
      line?.kill();
    },
    async stop() {
      over = true;
      await line?.end();
    },
  };
}

const unboundedOf = ({ ok }: Record<string, unknown>): readonly string[] =>
  (ok as { readonly missing?: readonly string[] } | undefined)?.missing ?? [];
