// What a line must look like to be an event that reports can rely on. Saved events come from files: cut off, edited,
// or written by another version. Further fields are let pass; what reports read must be there and of its kind.
import type { Failure } from '../../check/events.ts';
import { isJsonObject } from '../../outside/decoded.ts';
import { VERDICTS } from '../../vocabulary.ts';
import { SHORT_ROLES } from '../text/strip.ts';

/** The first thing wrong with `event`, as `"result.failure.lines" is no list`; undefined where nothing is. */
export function complaintAbout(event: Readonly<Record<string, unknown>>): string | undefined {
  const shape = EVENTS.get(String(event.type));
  return shape?.(event, '');
}

/** Of the events that this version knows. */
export function isKnownType(type: string): boolean {
  return EVENTS.has(type);
}

type Shape = (value: unknown, path: string) => string | undefined;

const kind =
  (test: (value: unknown) => boolean, noun: string): Shape =>
  (value, path) =>
    test(value) ? undefined : `"${path}" is no ${noun}`;

const text = kind((value) => typeof value === 'string', 'text');
const count = kind((value) => typeof value === 'number' && Number.isFinite(value), 'number');
const flag = kind((value) => typeof value === 'boolean', 'true or false');
const anything: Shape = () => undefined;
/** One of a list: what each of them looks like is looked up, so that another one has no looks. */
const oneOf = (known: readonly string[], noun: string): Shape =>
  kind((value) => (known as readonly unknown[]).includes(value), `${noun} of this version`);
const verdict = oneOf(VERDICTS, 'verdict');
const role = oneOf(Object.keys(SHORT_ROLES), 'role');
const CONFIRMATIONS: readonly Failure['confirmed'][] = [
  'deterministic',
  'some processes',
  'state leak',
  'flaky',
  'not re-run',
];
/** ISO 8601 in UTC. */
const instant = kind((value) => typeof value === 'string' && INSTANT.test(value), 'time in UTC');
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Numbers that JSON does not have cross as text. */
const anyNumber = kind(
  (value) => typeof value === 'number' || ['NaN', 'Infinity', '-Infinity', '-0'].includes(String(value)),
  'number',
);
const list =
  (item: Shape): Shape =>
  (value, path) =>
    Array.isArray(value)
      ? first(value.entries(), ([at, each]) => item(each, `${path}[${at}]`))
      : `"${path}" is no list`;

const record =
  (item: Shape): Shape =>
  (value, path) =>
    isJsonObject(value)
      ? first(Object.entries(value), ([key, each]) => item(each, inside(path, key)))
      : `"${path}" is no object`;

/** Fields whose name ends with ? may be absent. */
const object =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value, path) => {
    if (!isJsonObject(value)) return `"${path}" is no object`;
    return first(Object.entries(fields), ([name, shape]) => {
      const key = name.replace(/\?$/, '');
      if (value[key] === undefined)
        return key === name && shape !== anything ? `"${inside(path, key)}" is missing` : undefined;
      return shape(value[key], inside(path, key));
    });
  };

function first<T>(items: Iterable<T>, complain: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const complaint = complain(item);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function inside(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

const strip = object({
  row: count,
  tokens: list(object({ 'id?': count, 'text?': text, role })),
  tracks: list(object({ name: text, cells: list(text) })),
  marks: list(count),
});

const finding = object({
  kind: text,
  sentence: text,
  'strips?': list(strip),
  'numbers?': list(object({ where: text, expected: anyNumber, observed: anyNumber, allowed: anyNumber })),
  'series?': list(
    object({
      run: text,
      name: text,
      steps: list(count),
      values: list(anyNumber),
      'band?': object({ steps: list(count), lows: list(anyNumber), highs: list(anyNumber) }),
      'violation?': count,
    }),
  ),
  'answers?': list(text),
  'advice?': text,
  'note?': text,
});

const failure = object({
  caseId: text,
  'finding?': finding,
  'trainerFailure?': object({
    kind: text,
    message: text,
    advice: text,
    'traceback?': text,
    'stderrTail?': text,
  }),
  given: anything,
  casesToFail: count,
  'outOf?': count,
  shrinks: count,
  'steps?': list(object({ characters: count, sentence: text, given: anything, 'strip?': strip })),
  'anyValue?': list(list(anything)),
  confirmed: oneOf(CONFIRMATIONS, 'confirmation'),
  seed: count,
  'path?': text,
  lines: list(text),
  'unsaved?': flag,
  'sameAs?': text,
  'explainedBy?': text,
  'stderrTail?': text,
});

const result = object({
  id: text,
  title: text,
  level: text,
  verdict,
  cases: count,
  rejected: count,
  setAside: count,
  labels: record(count),
  'coverage?': record(count),
  thin: list(object({ label: text, share: count, least: count, judged: count, refused: count })),
  'failingLabels?': list(object({ label: text, failing: count, holding: count, holdingWith: count })),
  'comparedLabels?': object({
    failing: count,
    holding: count,
    labels: record(object({ failing: count, holding: count })),
  }),
  'reason?': text,
  'answers?': list(text),
  'failure?': failure,
  'others?': list(failure),
  fixed: list(text),
  'outdated?': list(text),
  milliseconds: count,
});

const marks = object({ total: count, counts: record(count) });

const EVENTS: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    'run-start': object({
      seed: count,
      cases: count,
      hello: object({
        name: text,
        'version?': text,
        'runtime?': text,
        ops: record(anything),
        'semantics?': record(anything),
      }),
      'name?': text,
      command: text,
      'bundled?': flag,
      properties: list(
        object({
          id: text,
          title: text,
          stage: text,
          level: text,
          why: text,
          catches: list(text),
          'ops?': list(text),
          'settles?': list(text),
        }),
      ),
      'notRun?': record(count),
      version: text,
      'started?': instant,
      'configured?': record(anything),
      'measured?': record(anything),
      'notes?': list(object({ sentence: text, answers: list(text) })),
      'replay?': object({
        command: text,
        'adapter?': text,
        'folder?': text,
        'again?': text,
        'traced?': flag,
        'golden?': flag,
        'logged?': flag,
      }),
      'shard?': object({ index: count, of: count, total: count, places: list(count) }),
      'asked?': object({ properties: text, known: text, strict: flag }),
      'resumed?': flag,
    }),
    'property-start': object({ id: text, index: count, total: count }),
    progress: object({ id: text, done: count, total: count }),
    'property-end': object({ result, 'kept?': flag }),
    notice: object({ sentence: text }),
    'run-end': object({
      interrupted: flag,
      milliseconds: count,
      'stopped?': text,
      'noVerdict?': text,
      'tally?': object({
        answered: record(marks),
        'given?': record(marks),
        refused: record(object({ op: text, why: text, marks, of: record(marks) })),
      }),
      'refusals?': list(
        object({
          op: text,
          request: list(text),
          times: count,
          why: text,
          lost: list(text),
          weakened: list(text),
        }),
      ),
      'unjudged?': list(object({ op: text, what: text, line: text })),
      'renewed?': list(object({ times: count, why: text })),
      'notes?': list(object({ sentence: text, answers: list(text) })),
    }),
  }),
);
