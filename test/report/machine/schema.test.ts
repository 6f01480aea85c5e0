import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { withChoiceSchema } from '../../../scripts/docs/choice-tables.ts';
import type {
  Failure,
  PropertyFacts,
  PropertyResult,
  Refusal,
  Replay,
  ShrinkStep,
  ThinLabel,
} from '../../../src/check/events.ts';
import type { Finding, Strip } from '../../../src/check/property.ts';
import {
  type Property,
  type RunEvent,
  type RunOptions,
  reject,
  run,
  STAGES,
  VERDICTS,
} from '../../../src/index.ts';
import { eventWriter, readEvents, runLines } from '../../../src/report/machine/ndjson.ts';
import type { RunEnd, RunStart } from '../../../src/report/runs.ts';
import { runsOf } from '../../../src/report/runs.ts';
import type { TrainerFailure } from '../../../src/trainer/failure.ts';
import { choiceNames } from '../../../src/vocabulary/choices.ts';
import { echoes, extractArgs, extracting, type ToyCase } from '../../check/toy.ts';
import { makeWorld } from '../../cli/world.ts';
import { maskStrip } from '../results.ts';

type Schema = {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly $defs: Readonly<Record<string, { properties: Record<string, object>; enum?: string[] }>>;
};
const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'events.schema.json'), 'utf8');
const schema = JSON.parse(text) as Schema;
const validate = new Ajv2020().compile(schema);

/** What the schema says against a line; undefined where it is an event. */
function complaintOf(line: string): string | undefined {
  if (validate(JSON.parse(line))) return undefined;
  // The branches of the other types complain as well: the deepest complaint is the one that matters.
  const [deepest] = [...(validate.errors ?? [])].sort(
    (a, b) => b.instancePath.split('/').length - a.instancePath.split('/').length,
  );
  return `${deepest?.instancePath} ${deepest?.message}: ${line.slice(0, 200)}`;
}

function expectEvents(text: string): RunEvent[] {
  const lines = text.trimEnd().split('\n');
  for (const line of lines) expect(complaintOf(line)).toBeUndefined();
  return lines.map((line) => JSON.parse(line) as RunEvent);
}

function property(id: string, change: Partial<Property<ToyCase>> = {}): Property {
  return { ...echoes, id, ...change } as unknown as Property;
}

/** An id that the toy trainer raises for. */
const RAISES = 1_000;

/** A finding with all that a finding can have, and numbers that JSON cannot hold. */
const STRIPPED = property('extract/strips', {
  check: async (_, { ids }) =>
    ids.length < 2
      ? undefined
      : {
          kind: 'k',
          sentence: 'It is wrong.',
          strips: [maskStrip(), { ...maskStrip(), tokens: [{ role: 'prompt' }], tracks: [], marks: [] }],
          numbers: [{ where: 'row 0', expected: 1, observed: Number.NaN, allowed: Number.POSITIVE_INFINITY }],
          note: 'float32',
        },
});

const EVERYTHING: Partial<RunOptions> = {
  properties: [
    STRIPPED,
    property('extract/echoes'),
    property('extract/known'),
    property('extract/changed'),
    property('extract/stale', { check: async () => undefined }),
    property('extract/thin', { check: async () => undefined, coverage: { never: 0.5 } }),
    property('extract/unsupported', { ops: ['kl'] }),
    property('extract/raises', {
      check: async (subject) => {
        await subject.ask('extract', extractArgs([RAISES]));
        return undefined;
      },
    }),
  ],
  catalogue: [],
  known: {
    'extract/known': { reason: 'ticket 4', link: 'https://example.org/4' },
    'extract/changed': { reason: 'ticket 5', kind: 'other' },
    'extract/stale': { reason: 'ticket 6' },
    'extract/gone': { reason: 'ticket 7' },
  },
  semantics: { kl_estimator: 'k3', dual_clip: null, clip_low: null },
  measured: {
    semantics: { advantage_ddof: 1, clip_high: Number.POSITIVE_INFINITY },
    doubts: [],
  },
  replay: { command: 'npx lossproof replay', adapter: 'python a.py', folder: 'cases', again: 'again' },
};

async function eventsOf(
  options: Partial<RunOptions>,
  extract: (ids: readonly number[]) => readonly number[],
): Promise<string> {
  const lines: string[] = [];
  await run(
    {
      trainer: extracting(extract),
      tokenizer: undefined,
      properties: [],
      seed: 7,
      cases: 60,
      command: 'test',
      ...options,
    },
    eventWriter(
      (line) => lines.push(line),
      () => lines.length * 1_000,
    ),
  );
  return lines.join('');
}

describe('the schema of events', () => {
  test('holds for a run with nearly every verdict', async () => {
    const events = expectEvents(
      await eventsOf(EVERYTHING, (ids) => {
        if (ids.includes(RAISES)) throw new Error('no such id');
        return ids.map((id) => (id > 50 ? id - 1 : id));
      }),
    );
    const verdicts = events.flatMap((event) => (event.type === 'property-end' ? [event.result.verdict] : []));
    expect(new Set(verdicts)).toEqual(
      new Set(['fail', 'known', 'changed', 'stale', 'thin', 'unsupported', 'error', 'unseen']),
    );
    const failures = events.flatMap((event) =>
      event.type === 'property-end' && event.result.failure !== undefined ? [event.result.failure] : [],
    );
    expect(failures.some(({ steps = [] }) => steps.length > 1)).toBe(true);
    expect(failures.some(({ finding }) => String(finding?.numbers?.[0]?.observed) === 'NaN')).toBe(true);
  });

  test('holds for runs that were refused, interrupted or had nothing to do', async () => {
    expectEvents(await eventsOf({ properties: [property('extract/x')] }, () => reject('no')));
    expectEvents(await eventsOf({ properties: [STRIPPED], signal: AbortSignal.abort() }, (ids) => ids));
    expectEvents(await eventsOf({}, (ids) => ids));
  });

  test('holds for what `check` writes of a Python trainer, and for what `report` would write again', async () => {
    const world = makeWorld(properties);
    const trainer = ['python3', '-m', 'lossproof.examples.faulty', 'mask-for-right-padding'];
    const words = ['--seed', '7', '--cases', '20', '--only', 'mask', '--events', 'run.ndjson', '--quiet'];
    expect(await world.run('check', ...words, '--', ...trainer)).toBe(1);
    const text = readFileSync(join(world.folder, 'run.ndjson'), 'utf8');
    const events = expectEvents(text);
    expect(events[0]).toMatchObject({ type: 'run-start', schema: 1 });
    expect(events.at(-1)?.type).toBe('run-end');
    expectEvents(runLines(runsOf(readEvents(text).events)));
  });

  test.each<[string, (event: Record<string, unknown>) => void]>([
    ['another type', (event) => Object.assign(event, { type: 'property-over' })],
    ['a field that nobody knows', (event) => Object.assign(event, { colour: 'blue' })],
    ['a verdict that is none', (event) => Object.assign(event.result as object, { verdict: 'maybe' })],
    ['no list of labels', (event) => Object.assign(event.result as object, { labels: undefined })],
    ['a number in words', (event) => Object.assign(event.result as object, { milliseconds: 'NaN' })],
    ['a mark that is no column', (event) => Object.assign(firstStrip(event), { marks: [-1] })],
    ['a role that is none', (event) => Object.assign(firstStrip(event), { tokens: [{ role: 'user' }] })],
    ['null for a number', (event) => Object.assign(firstNumber(event), { observed: null })],
  ])('fails for an event with %s', async (_, spoil) => {
    const text = await eventsOf({ properties: [STRIPPED] }, (ids) => ids);
    const line = text.split('\n').find((each) => each.includes('property-end')) ?? '';
    expect(complaintOf(line)).toBeUndefined();
    const event = JSON.parse(line) as Record<string, unknown>;
    spoil(event);
    expect(complaintOf(JSON.stringify(event))).toBeDefined();
  });

  // The objects are checked by the compiler: a field that a type gains is missing here until it is written down.
  test.each<[string, Readonly<Record<string, true>>]>([
    [
      'run-start',
      {
        type: true,
        schema: true,
        ...keys<RunStart>({
          type: true,
          seed: true,
          cases: true,
          hello: true,
          name: true,
          command: true,
          bundled: true,
          properties: true,
          notRun: true,
          version: true,
          started: true,
          configured: true,
          measured: true,
          notes: true,
          replay: true,
          shard: true,
          asked: true,
          resumed: true,
        }),
      },
    ],
    [
      'run-end',
      keys<RunEnd>({
        type: true,
        interrupted: true,
        stopped: true,
        refusals: true,
        unjudged: true,
        renewed: true,
        tally: true,
        noVerdict: true,
        notes: true,
        milliseconds: true,
      }),
    ],
    [
      'refusal',
      keys<Refusal>({ op: true, request: true, times: true, why: true, lost: true, weakened: true }),
    ],
    [
      'result',
      keys<PropertyResult>({
        id: true,
        title: true,
        level: true,
        verdict: true,
        cases: true,
        rejected: true,
        setAside: true,
        labels: true,
        coverage: true,
        thin: true,
        failingLabels: true,
        comparedLabels: true,
        reason: true,
        answers: true,
        link: true,
        failure: true,
        others: true,
        fixed: true,
        outdated: true,
        milliseconds: true,
      }),
    ],
    [
      'failure',
      keys<Failure>({
        caseId: true,
        finding: true,
        trainerFailure: true,
        given: true,
        casesToFail: true,
        outOf: true,
        shrinks: true,
        shrinkStopped: true,
        steps: true,
        anyValue: true,
        confirmed: true,
        seed: true,
        path: true,
        lines: true,
        saved: true,
        unsaved: true,
        sameAs: true,
        explainedBy: true,
        stderrTail: true,
      }),
    ],
    [
      'finding',
      keys<Finding>({
        kind: true,
        sentence: true,
        strips: true,
        numbers: true,
        series: true,
        answers: true,
        advice: true,
        note: true,
      }),
    ],
    ['strip', keys<Strip>({ row: true, tokens: true, tracks: true, marks: true })],
    [
      'trainerFailure',
      keys<TrainerFailure>({
        kind: true,
        message: true,
        advice: true,
        exitCode: true,
        signal: true,
        traceback: true,
        stderrTail: true,
        restarted: true,
        reproduced: true,
      }),
    ],
    [
      'facts',
      keys<PropertyFacts>({
        id: true,
        title: true,
        stage: true,
        level: true,
        why: true,
        catches: true,
        ops: true,
        settles: true,
      }),
    ],
    [
      'replay',
      keys<Replay>({
        command: true,
        adapter: true,
        folder: true,
        again: true,
        traced: true,
        logged: true,
        golden: true,
      }),
    ],
  ])('names every field of %s and no other', (name, fields) => {
    expect(Object.keys(schema.$defs[name]?.properties ?? {}).sort()).toEqual(Object.keys(fields).sort());
  });

  test('names every type, every field of the lists in a result, every stage, verdict and legal choice', () => {
    const steps = (schema.$defs.failure?.properties.steps ?? {}) as { items: { properties: object } };
    expect(Object.keys(steps.items.properties).sort()).toEqual(
      Object.keys(keys<ShrinkStep>({ characters: true, sentence: true, given: true, strip: true })).sort(),
    );
    const thin = (schema.$defs.result?.properties.thin ?? {}) as { items: { properties: object } };
    expect(Object.keys(thin.items.properties).sort()).toEqual(
      Object.keys(
        keys<ThinLabel>({ label: true, share: true, least: true, judged: true, refused: true }),
      ).sort(),
    );
    type Written = Exclude<RunEvent['type'], 'shrinking'>;
    const types = keys<Record<Written, unknown>>({
      'run-start': true,
      'property-start': true,
      progress: true,
      'property-end': true,
      notice: true,
      'run-end': true,
    });
    expect(schema.oneOf.map(({ $ref }) => $ref)).toEqual(Object.keys(types).map((type) => `#/$defs/${type}`));
    expect(schema.$defs.stage?.enum).toEqual(STAGES);
    expect(schema.$defs.verdict?.enum).toEqual(VERDICTS);
    expect(withChoiceSchema(text)).toBe(text);
    expect(Object.keys(schema.$defs.semantics?.properties ?? {})).toEqual(choiceNames);
  });
});

function keys<T>(fields: { readonly [K in keyof Required<T>]: true }): Readonly<Record<string, true>> {
  return fields;
}

interface Broken {
  result: { failure: { finding: { strips: [object]; numbers: [object] } } };
}

function firstStrip(event: Record<string, unknown>): object {
  return (event as unknown as Broken).result.failure.finding.strips[0];
}

function firstNumber(event: Record<string, unknown>): object {
  return (event as unknown as Broken).result.failure.finding.numbers[0];
}
