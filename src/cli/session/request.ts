// What a test runner in another language asks of a session, read from a line. PROTOCOL.md says each.
import { isJsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { LEVELS, type Level } from '../../vocabulary.ts';
import { MOST_SECONDS } from '../config/key.ts';
import type { Problem } from '../context.ts';
import { MOST_SEED } from '../seed.ts';

export interface OpenRequest {
  readonly do: 'open';
  /** Words, or one text as a shell would read it. Absent: the configuration's, or LOSSPROOF_TRAINER. */
  readonly command?: string | readonly string[];
  readonly cwd?: string;
  readonly label?: string;
  readonly called?: string;
  readonly keep?: boolean;
  readonly only?: readonly string[];
  readonly level?: Level;
  /** What is legal and often not meant fails as well. */
  readonly strict?: boolean;
  readonly known?: string;
  readonly trainer?: string;
  readonly python?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly bundled?: boolean;
  readonly op_timeout?: number;
  readonly hello_timeout?: number;
  /** What a user types to see a failure again where nothing was saved; `{seed}` in it is the seed. */
  readonly again?: string;
}

export interface CheckRequest {
  readonly do: 'check';
  readonly of: number;
  readonly property: string;
  readonly seed: number;
  readonly cases?: number;
}

export interface RunRequest {
  readonly do: 'run';
  readonly of: number;
  readonly seed: number;
  readonly cases?: number;
}

/** One verdict on several properties, as an assertion wants it; the trainer is started for it alone. */
export interface HoldRequest extends Pick<OpenRequest, keyof typeof STARTED> {
  readonly do: 'hold';
  /** Ids, stages or globs. Absent: all of the level. */
  readonly what?: readonly string[];
  readonly seed: number;
  readonly cases?: number;
}

export interface StopRequest {
  readonly do: 'stop';
  readonly of: number;
}

export type Request = OpenRequest | CheckRequest | RunRequest | HoldRequest | StopRequest;

/** `id` is null where the line has none. */
export type Read =
  | { readonly id: number | null; readonly request: Request }
  | ({ readonly id: number | null } & Problem);

export function readRequest(line: string): Read {
  const read = parseStrict(line);
  if ('complaint' in read)
    return { id: null, problem: `this is not a line of JSON: ${line.slice(0, QUOTED)}` };
  const { ok: value } = read;
  if (!isJsonObject(value)) return { id: null, problem: 'a request is a JSON object' };
  const { id: given, ...rest } = value;
  const id = typeof given === 'number' ? given : null;
  if (id === null) return { id, problem: 'a request has a number as its id' };
  const complaint = complaintOf(rest);
  // Every key was held against its kind.
  return complaint === undefined ? { id, request: rest as unknown as Request } : { id, problem: complaint };
}

// --- helpers ---

const QUOTED = 80;

interface Kind {
  readonly is: (value: unknown) => boolean;
  readonly words: string;
}

const TEXT: Kind = { is: (value) => typeof value === 'string', words: 'a text' };
const FLAG: Kind = { is: (value) => typeof value === 'boolean', words: 'true or false' };
const SECONDS: Kind = {
  is: (value) => Number.isFinite(value) && Number(value) > 0 && Number(value) <= MOST_SECONDS,
  words: `a number above 0, and at most ${MOST_SECONDS}`,
};
const COUNT: Kind = {
  is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  words: 'a whole number above 0',
};
const SEED: Kind = {
  is: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_SEED,
  words: `a whole number from 0 to ${MOST_SEED}`,
};
const TEXTS: Kind = {
  is: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  words: 'a list of texts',
};
const COMMAND: Kind = {
  is: (value) => TEXT.is(value) || TEXTS.is(value),
  words: 'a text or a list of texts',
};
const LEVEL: Kind = { is: (value) => LEVELS.some((level) => level === value), words: LEVELS.join(', ') };

/** How a trainer is started and judged, whatever is asked of it. */
const STARTED = {
  command: COMMAND,
  cwd: TEXT,
  label: TEXT,
  keep: FLAG,
  level: LEVEL,
  strict: FLAG,
  known: TEXT,
  op_timeout: SECONDS,
  hello_timeout: SECONDS,
  again: TEXT,
};

const KEYS: Readonly<Record<Request['do'], Readonly<Record<string, Kind>>>> = {
  open: {
    ...STARTED,
    called: TEXT,
    only: TEXTS,
    trainer: TEXT,
    python: TEXT,
    tokenizer: TEXT,
    config: TEXT,
    bundled: FLAG,
  },
  check: { of: COUNT, property: TEXT, seed: SEED, cases: COUNT },
  run: { of: COUNT, seed: SEED, cases: COUNT },
  hold: { ...STARTED, what: TEXTS, seed: SEED, cases: COUNT },
  stop: { of: COUNT },
};
const REQUIRED = ['of', 'property', 'seed'];

function complaintOf({ do: named, ...rest }: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(KEYS);
  const keys = typeof named === 'string' && names.includes(named) ? KEYS[named as Request['do']] : undefined;
  if (keys === undefined) return `do is ${JSON.stringify(named)}; it is one of ${names.join(', ')}`;
  for (const [key, value] of Object.entries(rest)) {
    const kind = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (kind === undefined) {
      const near = nearestName(key, Object.keys(keys));
      return `${named} has no ${key}${near === undefined ? '' : `, did you mean "${near}"?`}`;
    }
    if (!kind.is(value)) return `${key} must be ${kind.words}`;
  }
  const missing = REQUIRED.find((key) => key in keys && rest[key] === undefined);
  return missing === undefined ? undefined : `${named} needs ${missing}`;
}
