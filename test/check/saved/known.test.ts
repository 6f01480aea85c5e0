import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type KnownFailures, knownText, readKnown, UNEXPLAINED } from '../../../src/check/saved/known.ts';
import { updateKnown } from '../../../src/check/saved/known-update.ts';
import { type Property, type PropertyResult, type RunOptions, reject, run } from '../../../src/index.ts';
import { failure, result } from '../../report/results.ts';
import { echoes, extracting } from '../toy.ts';

const properties = [echoes as unknown as Property];

async function check(
  extract: (ids: readonly number[]) => readonly number[],
  known: KnownFailures,
  more: Partial<RunOptions> = {},
): Promise<readonly PropertyResult[]> {
  const trainer = extracting(extract);
  const options = { trainer, tokenizer: undefined, properties, seed: 7, cases: 20, command: 'test', known };
  return run({ ...options, ...more }, () => undefined);
}

const entry = (more: object = {}): KnownFailures => ({ [echoes.id]: { reason: 'issue 12', ...more } });
const loses = (): readonly number[] => [];
const swaps = (ids: readonly number[]): readonly number[] => ids.map(() => 1000);
const raises = (): readonly number[] => {
  throw new Error('no');
};

describe('a known failure', () => {
  test('of the recorded kind is known', async () => {
    const [known] = await check(loses, entry({ kind: 'length', given: { ids: [5] } }));
    expect(known).toMatchObject({ verdict: 'known', reason: 'issue 12' });
  });

  test('of another kind has changed, with what it was and is', async () => {
    const [changed] = await check(swaps, entry({ kind: 'length', given: { ids: [5] } }));
    expect(changed).toMatchObject({
      verdict: 'changed',
      reason: 'it was recorded as "length" (issue 12), and is "id" now',
      failure: { finding: { kind: 'id' }, given: { ids: [5] } },
    });
  });

  test('that became an error of the trainer has changed, and the other way round', async () => {
    const [error] = await check(raises, entry({ given: { ids: [5] } }));
    expect(error).toMatchObject({
      verdict: 'changed',
      reason: 'it was recorded as a failure (issue 12), and is "error: error" now',
    });
    expect((await check(raises, entry({ kind: 'error: error' })))[0]?.verdict).toBe('known');
    expect((await check(loses, entry({ kind: 'error: error' })))[0]?.verdict).toBe('changed');
  });

  test('whose property is unsupported or skipped is unseen', async () => {
    const trainer = extracting(loses);
    const without = { trainer: { ...trainer, hello: { ...trainer.hello, ops: {} } } };
    expect((await check(loses, entry(), without))[0]).toMatchObject({
      verdict: 'unseen',
      reason: 'it is listed as known (issue 12) and was not judged: the adapter has no op `extract`',
    });
    expect((await check(() => reject('moon only'), entry()))[0]).toMatchObject({
      verdict: 'unseen',
      reason:
        'it is listed as known (issue 12) and was not judged: `extract` with padding_side left is refused: moon only',
    });
  });

  test('whose case is refused or unreadable, while the others hold, is unseen', async () => {
    const picky = (ids: readonly number[]): readonly number[] =>
      ids.includes(1000) ? reject('vocabulary') : ids;
    expect((await check(picky, entry({ given: { ids: [1000] } })))[0]?.reason).toContain('vocabulary');
    expect((await check((ids) => ids, entry({ given: { tokens: 3 } })))[0]).toMatchObject({
      verdict: 'unseen',
      reason: expect.stringContaining('its case can no longer be read'),
    });
    // It came with an adapter: who runs that can do nothing about it.
    expect((await check(picky, entry({ given: { ids: [1000] }, bundled: true })))[0]?.verdict).toBe('pass');
  });

  test('of a property that does not exist is unseen, with the name that was meant', async () => {
    const known = {
      'extract/echos': { reason: 'issue 3' },
      'kl/x': { reason: 'elsewhere', bundled: true as const },
    };
    expect(await check((ids) => ids, known, { catalogue: [echoes.id] })).toMatchObject([
      { id: echoes.id, verdict: 'pass' },
      {
        id: 'extract/echos',
        verdict: 'unseen',
        reason: expect.stringContaining('did you mean "extract/echoes"?'),
      },
    ]);
    expect(await check((ids) => ids, known)).toHaveLength(1);
  });
});

describe('the file after a run', () => {
  const order = ['a/1', 'a/2', 'b/1', 'b/2', 'c/1'];

  test('keeps reasons and links, records what is new or other, forgets what holds or says nothing', () => {
    const own: KnownFailures = {
      'z/none': { reason: 'gone' },
      'c/1': { reason: 'left out of this run' },
      'b/2': { reason: 'upstream', link: 'https://example.org/4', kind: 'nan' },
      'b/1': { reason: 'old' },
    };
    const update = updateKnown(
      own,
      own,
      [
        result({ id: 'a/2', verdict: 'fail', failure: failure() }),
        result({ id: 'b/1', verdict: 'stale', reason: 'it holds now' }),
        result({ id: 'b/2', verdict: 'changed', failure: failure(), reason: 'it was "nan"' }),
        result({ id: 'z/none', verdict: 'unseen', reason: 'no property is called so' }),
      ],
      order,
    );
    const { given } = failure();
    expect(Object.entries(update.known)).toEqual([
      ['a/2', { reason: UNEXPLAINED, kind: 'prompt trained', given }],
      ['b/2', { reason: 'upstream', link: 'https://example.org/4', kind: 'prompt trained', given }],
      ['c/1', { reason: 'left out of this run' }],
    ]);
    expect(update.changes.map((line) => line.split(':')[0])).toEqual([
      'added a/2',
      'removed b/1',
      'changed b/2',
      'removed z/none',
    ]);
    expect(update.results.map(({ verdict }) => verdict)).toEqual(['known', 'pass', 'known', 'skipped']);
  });

  test('an error is not recorded, and what an adapter brought along is not removed', () => {
    const { finding: _, ...rest } = failure();
    const error = failure();
    const crashed = {
      ...rest,
      trainerFailure: { kind: 'crash' as const, message: 'It died.', advice: 'Look.' },
      given: error.given,
    };
    const bundled: KnownFailures = { 'b/1': { reason: 'theirs', bundled: true } };
    const update = updateKnown(
      {},
      bundled,
      [
        result({ id: 'a/1', verdict: 'error', failure: crashed }),
        result({ id: 'a/2', verdict: 'changed', failure: crashed }),
        result({ id: 'b/1', verdict: 'stale', reason: 'it holds now' }),
      ],
      order,
    );
    expect(update).toMatchObject({ known: {}, changes: [] });
    expect(update.results.map(({ verdict }) => verdict)).toEqual(['error', 'changed', 'stale']);
  });

  test('is written as it is read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lossproof known ü '));
    const file = join(folder, 'known.json');
    const known = { 'a/1': { reason: 'r', link: 'l', kind: 'k', given: { ids: [1.5] } } };
    writeFileSync(file, knownText(known));
    expect(readKnown(file)).toEqual({ known });
    expect(readFileSync(file, 'utf8').endsWith('}\n')).toBe(true);
    writeFileSync(file, '{"a/1": {"reason": "r", "kind": 3}}');
    expect(readKnown(file)).toEqual({ problem: expect.stringContaining('the kind of "a/1" must be a text') });
    writeFileSync(file, '{"a/1": {"reason": "r", "kind": "k", "labels": ["l"]}}');
    expect(readKnown(file)).toEqual({ known: { 'a/1': { reason: 'r', kind: 'k', labels: ['l'] } } });
    writeFileSync(file, '{"a/1": {"reason": "r", "kind": "k", "labels": "l"}}');
    expect(readKnown(file)).toEqual({ problem: expect.stringContaining('must be a list of texts') });
    writeFileSync(file, '{"a/1": {"reason": "r", "labels": ["l"]}}');
    expect(readKnown(file)).toEqual({ problem: expect.stringContaining('labels and no kind of failure') });
  });
});
