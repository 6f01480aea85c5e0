import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  discard,
  openCorpus,
  type Property,
  type PropertyResult,
  type RunEvent,
  type RunOptions,
  reject,
  run,
  type Trainer,
} from '../../src/index.ts';
import { echoes, extracting, type ToyCase } from './toy.ts';

const toys = [echoes as unknown as Property];

async function runToy(
  trainer: Trainer,
  options: Partial<RunOptions> = {},
): Promise<{ result: PropertyResult; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const [result] = await run(
    { trainer, tokenizer: undefined, properties: toys, seed: 7, cases: 100, command: 'test', ...options },
    (event) => events.push(event),
  );
  if (result === undefined) throw new Error('no result');
  return { result, events };
}

const smallestOf = (result: PropertyResult): readonly number[] | undefined =>
  (result.failure?.given as ToyCase | undefined)?.ids;

const folder = (): string => mkdtempSync(join(tmpdir(), 'lossproof corpus ü '));

describe('a run', () => {
  test('passes a trainer that holds, counts its cases and their labels', async () => {
    const { result, events } = await runToy(extracting((ids) => ids));
    expect(result).toMatchObject({ verdict: 'pass', cases: 100, rejected: 0, thin: [] });
    expect(result.labels.long).toBeGreaterThan(20);
    expect(events.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual([
      'run-start',
      'property-start',
      'property-end',
      'run-end',
    ]);
  });

  test('shrinks a failure to its smallest case and says that it always happens', async () => {
    const { result } = await runToy(extracting((ids) => ids.map((id) => (id > 50 ? id - 1 : id))));
    expect(result.verdict).toBe('fail');
    expect(result.failure?.given).toEqual({ ids: [51] });
    expect(result.failure).toMatchObject({
      confirmed: 'deterministic',
      finding: { kind: 'id', sentence: 'Id 51 came back as 50.' },
    });
    expect(result.failure?.lines).toHaveLength(2);
  });

  test('keeps the way from the first failing case to the smallest', async () => {
    const { result } = await runToy(extracting((ids) => ids.map((id) => (id > 50 ? id - 1 : id))));
    const { steps = [] } = result.failure ?? {};
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toEqual({
      given: { ids: [51] },
      sentence: 'Id 51 came back as 50.',
      characters: '{"ids":[51]}'.length,
    });
    expect(steps[0]?.characters).toBeGreaterThan('{"ids":[51]}'.length);
  });

  test('says which values of the smallest case do not matter, and never one that does', async () => {
    const drops = await runToy(extracting((ids) => ids.slice(0, 1)));
    expect(drops.result.failure).toMatchObject({ given: { ids: [0, 0] } });
    expect(drops.result.failure?.anyValue).toEqual([
      ['ids', 0],
      ['ids', 1],
    ]);
    const lowers = await runToy(extracting((ids) => ids.map((id) => (id > 50 ? id - 1 : id))));
    expect(lowers.result.failure?.given).toEqual({ ids: [51] });
    expect(lowers.result.failure).not.toHaveProperty('anyValue');
  });

  test('does not slip from one kind of failure to another while shrinking', async () => {
    // Long rows lose a token, which is another kind of failure than a wrong id and has a smaller case.
    const { result } = await runToy(
      extracting((ids) => (ids.includes(40) ? ids.map(() => 0) : ids.length > 5 ? ids.slice(1) : ids)),
      { cases: 400 },
    );
    const kind = result.failure?.finding?.kind;
    const smallest = smallestOf(result);
    if (kind === 'length') expect(smallest).toEqual([0, 0, 0, 0, 0, 0]);
    else expect(smallest).toEqual([40]);
  });

  test('draws the same cases from the same seed', async () => {
    const seen = async (): Promise<string[]> => {
      const cases: string[] = [];
      await runToy(
        extracting((ids) => {
          cases.push(ids.join());
          return ids;
        }),
      );
      return cases;
    };
    expect(await seen()).toEqual(await seen());
  });

  test('tells a failure of a used trainer alone, one of some processes, and one that never comes back', async () => {
    let calls = 0;
    const leaking: Trainer = {
      ...extracting((ids) => (++calls > 20 ? [...ids, 1] : ids)),
      async restart() {
        calls = 0;
      },
    };
    expect((await runToy(leaking)).result.failure?.confirmed).toBe('state leak');
    let processes = 0;
    const bySeed: Trainer = {
      ...extracting((ids) => (processes % 3 === 0 ? [...ids, 1] : ids)),
      async restart() {
        processes++;
      },
    };
    expect((await runToy(bySeed)).result.failure?.confirmed).toBe('some processes');
    let once = false;
    const flaky = extracting((ids) => {
      if (once || ids.length < 3) return ids;
      once = true;
      return [];
    });
    expect((await runToy(flaky)).result.failure?.confirmed).toBe('flaky');
  });

  test('what happens in some processes is told also where each start takes a minute', async () => {
    let [clock, processes] = [0, 0];
    const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const slow: Trainer = {
      ...extracting((ids) => (processes % 3 === 0 ? [...ids, 1] : ids)),
      async restart() {
        processes++;
        clock += 60_000;
      },
    };
    const { result } = await runToy(slow);
    now.mockRestore();
    expect(result.failure?.confirmed).toBe('some processes');
  });

  test('says skipped where every case was refused, and why', async () => {
    const { result } = await runToy(extracting(() => reject('only tensors on the moon')));
    expect(result).toMatchObject({
      verdict: 'skipped',
      reason: '`extract` with padding_side left is refused: only tensors on the moon',
      rejected: 100,
    });
  });

  test('counts what a check sets aside apart from what the trainer refuses', async () => {
    const property: Property<ToyCase> = {
      ...echoes,
      async check(subject, given) {
        if (given.ids.length < 2) discard('too short to judge');
        return echoes.check(subject, given);
      },
    };
    const judged = await runToy(
      extracting((ids) => (ids.length > 6 ? reject('too long') : ids)),
      { properties: [property as unknown as Property] },
    );
    const { rejected, setAside, verdict } = judged.result;
    expect(verdict).toBe('pass');
    expect(rejected).toBeGreaterThan(0);
    expect(setAside).toBeGreaterThan(0);
    expect(rejected + setAside).toBeLessThan(100);

    const nothing = { ...property, check: async () => discard('nothing to judge') };
    const { result } = await runToy(
      extracting((ids) => ids),
      { properties: [nothing as unknown as Property] },
    );
    expect(result).toMatchObject({
      verdict: 'skipped',
      reason: 'nothing to judge',
      rejected: 0,
      setAside: 100,
    });
  });

  test('says unsupported where the adapter has no such op', async () => {
    const trainer = extracting((ids) => ids);
    const { result } = await runToy({ ...trainer, hello: { ...trainer.hello, ops: {} } });
    expect(result).toMatchObject({
      verdict: 'unsupported',
      reason: 'the adapter has no op `extract`',
      cases: 0,
    });
  });

  test('keeps an exception of the trainer apart from a failure', async () => {
    const { result } = await runToy(
      extracting((ids) => {
        if (ids.length > 2) throw new Error('too long');
        return ids;
      }),
    );
    expect(result).toMatchObject({ verdict: 'error', failure: { trainerFailure: { kind: 'error' } } });
    expect(smallestOf(result)).toEqual([0, 0, 0]);
  });

  test('stops at an interruption and says so', async () => {
    const stop = new AbortController();
    let calls = 0;
    const { result, events } = await runToy(
      extracting((ids) => {
        calls++;
        if (calls === 10) stop.abort();
        return ids;
      }),
      { signal: stop.signal, cases: 10_000 },
    );
    expect(result.verdict).toBe('interrupted');
    expect(result.cases).toBeLessThan(200);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', interrupted: true });
  });

  test('judges a known failure by its own case where it has one', async () => {
    const known = { [echoes.id]: { reason: 'issue 12', given: { ids: [7] } } };
    const wrong = (
      await runToy(
        extracting((ids) => (ids.includes(7) ? [] : ids)),
        { known, cases: 1 },
      )
    ).result;
    expect(wrong).toMatchObject({ verdict: 'known', failure: { given: { ids: [7] } } });
    expect(
      (
        await runToy(
          extracting((ids) => ids),
          { known },
        )
      ).result.verdict,
    ).toBe('stale');
  });

  test('does not fail on a known failure, and fails on one that is known no longer', async () => {
    const known = { [echoes.id]: { reason: 'issue 12' } };
    expect(
      (
        await runToy(
          extracting(() => []),
          { known },
        )
      ).result,
    ).toMatchObject({ verdict: 'known', reason: 'issue 12' });
    expect(
      (
        await runToy(
          extracting((ids) => ids),
          { known },
        )
      ).result.verdict,
    ).toBe('stale');
  });
});

describe('saved failures', () => {
  test('run first next time, and heal when they hold', async () => {
    const corpus = openCorpus(folder());
    const wrong = extracting((ids) => (ids.length === 3 ? [] : ids));
    const first = (await runToy(wrong, { corpus })).result;
    const [saved] = corpus.saved();
    expect(saved).toMatchObject({
      id: first.failure?.caseId,
      property: echoes.id,
      given: { ids: [0, 0, 0] },
    });
    expect(readFileSync(join(corpus.folder, `${saved?.id}.ndjson`), 'utf8').split('\n')).toHaveLength(3);

    const again = (await runToy(wrong, { corpus, cases: 1 })).result;
    expect(again).toMatchObject({ verdict: 'fail', failure: { saved: true, caseId: saved?.id } });

    const healed = (
      await runToy(
        extracting((ids) => ids),
        { corpus },
      )
    ).result;
    expect(healed).toMatchObject({ verdict: 'pass', fixed: [saved?.id] });
    expect(readdirSync(corpus.folder)).toEqual([]);
  });

  test('that cannot be read are kept and named', () => {
    const corpus = openCorpus(folder());
    writeFileSync(join(corpus.folder, 'abc123.json'), '{"half":');
    expect(corpus.saved()).toEqual([]);
    expect(corpus.unreadable()).toEqual(['abc123.json cannot be read: Unexpected end of JSON input']);
    expect(readdirSync(corpus.folder)).toEqual(['abc123.json']);
  });
});
