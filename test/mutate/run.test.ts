// A run of `mutate` without any process: a trainer that is an object, and changed ones in its place.
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { NOT_MEASURED } from '../../src/check/profile/measured.ts';
import { measureUndeclared } from '../../src/check/profile/undeclared.ts';
import type { Change } from '../../src/mutate/change.ts';
import {
  type Judged,
  type MutateEvent,
  type MutateStart,
  mutationOf,
  scoreOf,
} from '../../src/mutate/events.ts';
import { hintsOf } from '../../src/mutate/hints.ts';
import { type MutateOptions, mutate } from '../../src/mutate/run.ts';
import { scoreLine } from '../../src/report/mutate/mutate.ts';
import { objectTrainer, reject } from '../../src/trainer/object.ts';
import type { Semantics } from '../../src/vocabulary.ts';

const change = (id: string, line: number): Change => ({
  id,
  file: 0,
  line,
  kind: 'constant',
  function: 'k3',
  before: 'before',
  after: 'after',
  lines: [line, line],
  bugs: [],
});

const KL = properties.filter(({ ops }) => ops.length === 1 && ops[0] === 'kl');

type Estimator = (logprob: number, reference: number) => number;
const k3: Estimator = (p, q) => Math.expm1(q - p) - (q - p);
const k1: Estimator = (p, q) => p - q;

function trainerOf(estimator: Estimator, semantics: Semantics = {}) {
  return objectTrainer({
    hello: { protocol: 1, name: 'object', ops: { kl: {} }, dtype: 'float64', semantics },
    ops: {
      kl: ({ logprobs, ref_logprobs, completion_mask }) => ({
        kl: logprobs.map((row, b) =>
          row.map((p, t) => (completion_mask[b]?.[t] ? estimator(p, ref_logprobs[b]?.[t] ?? 0) : 0)),
        ),
      }),
    },
  });
}

/** What the runs below have alike. */
const RUN = {
  tokenizer: undefined,
  properties: KL,
  seed: 1,
  cases: 20,
  command: 'none',
  workers: 2,
  signal: { aborted: false },
  begun: 0,
} as const;

async function ran(
  changed: Readonly<Record<string, ReturnType<typeof trainerOf> | 'too late'>>,
  declared: Semantics = {},
  before: readonly MutateEvent[] = [],
  /** Of the clock, told by what was judged so far. */
  isOver: (judged: number) => boolean = () => false,
): Promise<readonly MutateEvent[]> {
  const trainer = () => ({ trainer: trainerOf(k3, declared) });
  const changes = Object.keys(changed).map((id, at) => change(id, at + 1));
  const start: MutateStart = {
    type: 'mutate-start',
    version: '0',
    command: 'none',
    started: '2026-01-01T00:00:00.000Z',
    seed: 1,
    cases: 20,
    asked: '',
    files: [{ shown: 'a.py', path: '/a.py', print: '', imported: [] }],
    changes,
    ops: ['kl'],
    absent: [],
  };
  const started = ({ id }: Change) => {
    const one = changed[id];
    return typeof one === 'string' || one === undefined ? ('too late' as const) : { trainer: one };
  };
  const events: MutateEvent[] = [start, ...before];
  const options: MutateOptions = {
    ...RUN,
    processes: {
      recorded: async () => ({
        started: trainer(),
        lines: () => ({ kl: [changes.filter(({ id }) => !id.startsWith('spare')).map(({ line }) => line)] }),
      }),
      plain: async () => trainer(),
      changed: async (each) => started(each),
      anew: async () => ({ trainer: trainerOf(k1, declared) }),
      isScript: ({ id }) => id.endsWith('script'),
    },
    measured: await measureUndeclared({ ...trainer(), tokenizer: undefined }),
    declared,
    before: { start, baseline: [], judged: [] },
    time: {
      get aborted() {
        return isOver(events.filter(({ type }) => type === 'judged').length);
      },
    },
  };
  const refused = await mutate({ ...options, before: mutationOf(events) ?? options.before }, (event) =>
    events.push(event),
  );
  expect(refused).toBeUndefined();
  return events;
}

const judged = (events: readonly MutateEvent[], id: string): Judged | undefined =>
  events.findLast((event): event is Judged => event.type === 'judged' && event.id === id);

const zero: Estimator = () => 0;

test('what is legal and undeclared survives, and names the declaration that finds it', async () => {
  const events = await ran({ legal: trainerOf(k1), wrong: trainerOf((p, q) => k3(q, p) * 3) });
  expect(judged(events, 'legal')).toMatchObject({ outcome: 'survives', declare: ['"kl_estimator": "k3"'] });
  expect(judged(events, 'wrong')).toMatchObject({ outcome: 'found' });
  const declared: Semantics = { kl_estimator: 'k3', kl_clamp: null };
  expect(judged(await ran({ legal: trainerOf(k1, declared) }, declared), 'legal')).toMatchObject({
    outcome: 'found',
    by: expect.stringMatching(/^kl\//),
  });
});

test('what is declared from the changed place follows it, and is found once it is a value', async () => {
  const declared: Semantics = { kl_estimator: 'k3', kl_clamp: null };
  const events = await ran({ follows: trainerOf(k1, { ...declared, kl_estimator: 'k1' }) }, declared);
  const own = judged(events, 'follows');
  expect(own).toMatchObject({ outcome: 'survives', follows: ['"kl_estimator": "k3"'] });
  const [start] = events;
  if (own === undefined || start?.type !== 'mutate-start') throw new Error('nothing was judged');
  expect(hintsOf(own, start)[0]).toContain('declare a fixed value, "kl_estimator": "k3"');
});

test('what is refused: properties that held are skipped, which is said', async () => {
  const refusing = trainerOf(() => {
    return reject('not today');
  });
  const events = await ran({ silent: refusing });
  const own = judged(events, 'silent');
  expect(own).toMatchObject({
    outcome: 'survives',
    skips: { properties: expect.any(Number), reason: expect.stringContaining('not today') },
  });
  const [start] = events;
  if (own === undefined || start?.type !== 'mutate-start') throw new Error('nothing was judged');
  expect(hintsOf(own, start)[0]).toMatch(/^\d+ properties that held are skipped then, .*: .*not today/);
});

test('no other answer, no op, no live function, an exception', async () => {
  const raising = trainerOf(() => {
    throw new TypeError('no');
  });
  const events = await ran({
    same: trainerOf(k3),
    spare: trainerOf(zero),
    late: 'too late',
    'late script': 'too late',
    raising,
  });
  expect(judged(events, 'same')).toMatchObject({ outcome: 'survives', answers: 'same' });
  expect(judged(events, 'spare')).toMatchObject({ outcome: 'unreached' });
  expect(judged(events, 'late')).toMatchObject({ outcome: 'survives', declare: ['"kl_estimator": "k3"'] });
  expect(judged(events, 'late script')).toMatchObject({ outcome: 'untried' });
  expect(judged(events, 'raising')).toMatchObject({ outcome: 'found', error: true });
  const mutation = mutationOf(events);
  expect(mutation === undefined ? undefined : scoreOf(mutation)).toEqual({
    changes: 5,
    found: 1,
    byError: 1,
    unreached: 1,
    survive: 2,
    alike: 1,
    untried: 1,
    left: 0,
  });
});

test('what is judged already is not judged again', async () => {
  const known: Judged = { type: 'judged', id: 'same', outcome: 'found', milliseconds: 1 };
  const events = await ran({ same: trainerOf(k3) }, {}, [known]);
  expect(events.filter(({ type }) => type === 'judged')).toEqual([known]);
});

test('where its time is over, what was judged stands, the rest is said to be not tried, and is what is gone on with', async () => {
  const all = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((id) => [id, trainerOf(k3)]));
  const events = await ran(all, {}, [], (judged) => judged >= 2);
  const mutation = mutationOf(events);
  if (mutation === undefined) throw new Error('it did not begin');
  expect(mutation.end).toMatchObject({ stopped: 'time', interrupted: false });
  expect(scoreOf(mutation)).toMatchObject({ changes: 5, survive: 2, left: 3, untried: 0 });
  expect(scoreLine(mutation)).toBe('5 changes: 0 found, 2 survive (2 change no answer), 3 not yet tried');
  const tried = mutation.judged.map(({ id }) => id);
  const further = await ran(all, {}, events.slice(1));
  const after = further.slice(events.length).flatMap((event) => (event.type === 'judged' ? event.id : []));
  expect([...tried, ...after].sort()).toEqual(Object.keys(all));
});

test('what is left when the time is over before the trainer was judged as it is, is everything', async () => {
  const events = await ran({ same: trainerOf(k3) }, {}, [], () => true);
  expect(events.filter(({ type }) => type === 'judged' || type === 'baseline')).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'mutate-end', stopped: 'time' });
});

test('a trainer that does not hold has no score', async () => {
  const wrong = () => ({ trainer: trainerOf(() => -1) });
  const start = (await ran({})).find((event): event is MutateStart => event.type === 'mutate-start');
  if (start === undefined) throw new Error('it did not begin');
  const refused = await mutate(
    {
      ...RUN,
      processes: {
        recorded: async () => ({ started: wrong(), lines: () => ({}) }),
        plain: async () => wrong(),
        changed: async () => wrong(),
        anew: async () => wrong(),
        isScript: () => false,
      },
      measured: NOT_MEASURED,
      declared: { kl_estimator: 'k3' },
      before: { start, baseline: [], judged: [] },
    },
    () => {},
  );
  expect(refused?.failing[0]?.id).toMatch(/^kl\//);
});
