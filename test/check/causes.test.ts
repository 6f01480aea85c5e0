// What one defect hides: a property shows a counterexample of each kind and route, in the run, in what is saved and known,
// and an exception that every property runs into is made small once.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { updateKnown } from '../../src/check/saved/known-update.ts';
import { screen } from '../../src/check/screen.ts';
import {
  type Failure,
  type Finding,
  openCorpus,
  type Property,
  type PropertyResult,
  type RunOptions,
  run,
  type Trainer,
} from '../../src/index.ts';
import { echoes, extractArgs, extracting, type ToyCase } from './toy.ts';

const toy = (more: Partial<Property<ToyCase>> = {}): Property =>
  ({ ...echoes, ...more }) as unknown as Property;

async function checked(
  trainer: Trainer,
  options: Partial<RunOptions> = {},
): Promise<readonly PropertyResult[]> {
  return run(
    { trainer, tokenizer: undefined, properties: [toy()], seed: 7, cases: 100, command: 'test', ...options },
    () => undefined,
  );
}

async function one(trainer: Trainer, options: Partial<RunOptions> = {}): Promise<PropertyResult> {
  const [result] = await checked(trainer, options);
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Short rows lose a token; in long ones an id is wrong. */
const bothWrong = extracting((ids) =>
  ids.length > 5 ? ids.map(() => 100) : ids.length > 1 ? ids.slice(1) : ids,
);
const told = ({ failure, others = [] }: PropertyResult): readonly unknown[] =>
  [failure, ...others].map((each) => ({ kind: each?.finding?.kind, given: each?.given }));
const LOSES = { kind: 'length', given: { ids: [0, 0] } };
const SWAPS = { kind: 'id', given: { ids: [0, 0, 0, 0, 0, 0] } };

describe('a property that fails in two kinds', () => {
  test('shows the smallest case of each, made small inside its kind', async () => {
    const result = await one(bothWrong);
    expect(result.verdict).toBe('fail');
    expect(told(result)).toHaveLength(2);
    expect(told(result)).toEqual(expect.arrayContaining([LOSES, SWAPS]));
    expect(result.others?.[0]).toMatchObject({ confirmed: 'deterministic' });
    expect(result.others?.[0]?.lines).toHaveLength(2);
  });

  test('shows so many kinds at most, and tries so many cases behind the first only', async () => {
    const kinds = toy({
      check: async (subject, { ids }): Promise<Finding> => {
        await subject.ask('extract', extractArgs(ids));
        return { kind: String(ids.length), sentence: 'It is wrong.' };
      },
    });
    const many = await one(
      extracting((ids) => ids),
      { properties: [kinds] },
    );
    expect(many.others).toHaveLength(3);
    let calls = 0;
    const failing = extracting(() => {
      calls++;
      return [1000];
    });
    const one_ = toy({
      check: async (subject, { ids }) => {
        await subject.ask('extract', extractArgs(ids));
        return { kind: 'k', sentence: 'It is wrong.' };
      },
    });
    const result = await one(failing, { properties: [one_], cases: 100_000, shrinkMilliseconds: 0 });
    expect(result.cases).toBeLessThan(1_000);
    expect(calls).toBeLessThan(1_000);
  });

  test('a second cause is found however slow the trainer is', async () => {
    let clock = 0;
    let at = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const finding = { kind: 'k', sentence: 'It is wrong.' };
    const outcome = { kind: 'fails', finding } as const;
    const { done, troubles } = await screen(
      100,
      async () => {
        clock += 60_000;
        return { outcome, cause: at++ < 99 ? 'fails k' : 'fails in the last case' };
      },
      { mostCauses: 4 },
    );
    now.mockRestore();
    expect([done, troubles]).toEqual([
      100,
      [
        { index: 0, outcome },
        { index: 99, outcome },
      ],
    ]);
  });

  test('why cases did not count is counted but for its numbers, and told in the words of the first', async () => {
    const whys = [
      'the row of 7 tokens is too long',
      'no stop token',
      'no stop token',
      'the row of 9 tokens is too long',
      'the row of 8 tokens is too long',
    ];
    let at = 0;
    const { refusal, refused } = await screen(
      whys.length,
      async () => ({ outcome: { kind: 'refused', why: whys[at++] ?? '' }, cause: undefined }),
      { mostCauses: 1 },
    );
    expect([refusal, refused]).toEqual(['the row of 7 tokens is too long', 5]);
  });

  test('a process that was lost is not asked again for what may stand beside', async () => {
    const lost = { kind: 'crash', message: 'It died.', advice: 'Look.' } as const;
    const { done } = await screen(
      100,
      async () => ({ outcome: { kind: 'error', failure: lost }, cause: 'error crash' }),
      { mostCauses: 4 },
    );
    expect(done).toBe(1);
  });

  test('is a failure where one of them breaks the rule and the first is a question', async () => {
    const asks = toy({
      check: async (_, { ids }) =>
        ids.length > 6
          ? { kind: 'wrong', sentence: 'It is wrong.' }
          : { kind: 'odd', sentence: 'It is odd.', answers: ['"kl_clamp": 1'] },
    });
    const result = await one(bothWrong, { properties: [asks] });
    expect(result).toMatchObject({
      verdict: 'fail',
      failure: { finding: { kind: 'wrong' } },
      others: [{ finding: { kind: 'odd' } }],
    });
  });

  test('says a broken rule before the exception that came first', async () => {
    const result = await one(
      extracting((ids) => {
        if (ids.length < 6) throw new Error('too short');
        return [];
      }),
    );
    expect(result).toMatchObject({
      verdict: 'fail',
      failure: { finding: { kind: 'length' } },
      others: [{ trainerFailure: { kind: 'error' } }],
    });
  });

  test('saves a case of each, and shows both the next time', async () => {
    const corpus = openCorpus(mkdtempSync(join(tmpdir(), 'lossproof causes ')));
    const first = await one(bothWrong, { corpus });
    expect(corpus.saved()).toHaveLength(2);
    const again = await one(bothWrong, { corpus, cases: 1 });
    expect(told(again)).toEqual(expect.arrayContaining([...told(first)]));
    expect(again.failure?.saved && again.others?.[0]?.saved).toBe(true);
    // The one that is mended goes, the other stays.
    const mended = await one(
      extracting((ids) => (ids.length > 5 ? ids.map(() => 100) : ids)),
      { corpus, cases: 1 },
    );
    expect(mended.fixed).toHaveLength(1);
    expect(told(mended)).toEqual([SWAPS]);
  });
});

test('a case has a route, and a property that fails on both shows both', async () => {
  const routed = {
    ...echoes,
    given: () => fc.record({ route: fc.constantFrom('sft', 'rl'), size: fc.nat(9) }),
    labels: () => [],
    coverage: {},
    check: async () => ({ kind: 'k', sentence: 'It is wrong.' }),
  } as unknown as Property;
  const { failure, others } = await one(bothWrong, { properties: [routed] });
  const routes = [failure, ...(others ?? [])].map(
    (each) => (each?.given as { route: string } | undefined)?.route,
  );
  expect(routes.toSorted()).toEqual(['rl', 'sft']);
});

describe('a known failure', () => {
  const KNOWN = { reason: 'issue 12', kind: 'length', given: { ids: [0, 0] } };

  test('with another kind beside it has changed, and says which', async () => {
    const result = await one(bothWrong, { known: { [echoes.id]: KNOWN } });
    expect(result).toMatchObject({
      verdict: 'changed',
      reason: 'it was recorded as "length" (issue 12), and "id" stands beside it now',
      failure: { finding: { kind: 'length' } },
      others: [{ finding: { kind: 'id' } }],
    });
  });

  test('with both kinds recorded is known, also where one is not come upon', async () => {
    const known = { [echoes.id]: { ...KNOWN, kinds: ['id'] } };
    expect((await one(bothWrong, { known })).verdict).toBe('known');
    const only = extracting((ids) => (ids.length > 1 ? ids.slice(1) : ids));
    expect((await one(only, { known })).verdict).toBe('known');
  });

  test('is written with all its kinds, and then known', async () => {
    const results = await checked(bothWrong);
    const { known } = updateKnown({}, {}, results, [echoes.id]);
    const entry = known[echoes.id];
    expect([entry?.kind, ...(entry?.kinds ?? [])].toSorted()).toEqual(['id', 'length']);
    expect((await one(bothWrong, { known })).verdict).toBe('known');
  });
});

test('an exception that every property runs into is made small once, and referred to', async () => {
  let calls = 0;
  const raises = extracting((ids) => {
    calls++;
    if (ids.length > 2) throw new Error(`no place for ${ids.length}`);
    return ids;
  });
  const properties = ['extract/a', 'extract/b', 'extract/c'].map((id) => toy({ id }));
  await checked(raises, { properties: properties.slice(0, 1) });
  const alone = calls;
  calls = 0;
  const results = await checked(raises, { properties });
  const failures = results.map(({ failure }) => failure as Failure);
  expect(results.map(({ verdict }) => verdict)).toEqual(['error', 'error', 'error']);
  expect(failures[0]).toMatchObject({ given: { ids: [0, 0, 0] } });
  expect(failures[0]).not.toHaveProperty('sameAs');
  expect(failures.slice(1).map(({ sameAs, shrinks }) => ({ sameAs, shrinks }))).toEqual([
    { sameAs: 'extract/a', shrinks: 0 },
    { sameAs: 'extract/a', shrinks: 0 },
  ]);
  // Each of the others costs its cases, and one request more for what was asked.
  expect(calls - alone).toBeLessThanOrEqual(2 * 101);
});
