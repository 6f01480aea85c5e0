import { describe, expect, it } from 'vitest';
import { type Cause, knownOf } from '../../../src/check/saved/causes.ts';
import { changeOf, type KnownFailure, together } from '../../../src/check/saved/known.ts';
import {
  type Property,
  type PropertyResult,
  type RunEvent,
  type RunOptions,
  run,
  type Trainer,
} from '../../../src/index.ts';
import { isBefore } from '../../../src/protocol/versions.ts';
import { raisedFailure } from '../../../src/trainer/explain.ts';
import type { Semantics } from '../../../src/vocabulary.ts';
import { echoes, extracting } from '../toy.ts';

const cause = (versions: Cause['versions'], reason: string, kind: string): Cause => ({
  reason,
  versions,
  line: 'trainer.py, loss',
  failures: { 'mask/padding-is-never-trained': { kind } },
});
const OLD = cause([null, '1.0'], 'Old.', 'old');
const NEW = cause(['0.22', null], 'New.', 'new');
const of = (version: string, semantics: Semantics = {}) => ({ version, semantics });

describe('known failures by cause', () => {
  it('are those of the version', () => {
    expect(knownOf([OLD, NEW], of('0.15.2'))).toEqual({
      'mask/padding-is-never-trained': { reason: 'Old. (trainer.py, loss)', kind: 'old', bundled: true },
    });
    expect(knownOf([OLD, NEW], of('1.13.0'))['mask/padding-is-never-trained']?.kind).toBe('new');
  });

  it('are one entry where several causes fail one property', () => {
    expect(knownOf([OLD, NEW], of('0.24.0'))['mask/padding-is-never-trained']).toMatchObject({
      reason: 'Old. (trainer.py, loss) New. (trainer.py, loss)',
      kind: 'old',
      kinds: ['new'],
      bundled: true,
    });
  });

  it('are those of the settings that nothing is declared by, and of a tokenizer with a BOS', () => {
    const rows = {
      ...cause([null, null], 'Of rows.', 'new'),
      environment: { LOSSPROOF_DATA: ['all', 'last'] },
    };
    const count = (variables: Readonly<Record<string, string>>): number =>
      Object.keys(knownOf([rows], of('1.0'), variables)).length;
    expect([count({}), count({ LOSSPROOF_DATA: 'one' }), count({ LOSSPROOF_DATA: 'last' })]).toEqual([
      0, 0, 1,
    ]);
    const twice: Cause = { ...cause([null, null], 'Twice.', 'new'), bos: true };
    const tokens = { vocab_size: 9, pad_token_id: 0, eos_token_ids: [1] };
    expect(knownOf([twice], { ...of('1.0'), tokens })).toEqual({});
    expect(
      Object.keys(knownOf([twice], { ...of('1.0'), tokens: { ...tokens, bos_token_id: 2 } })),
    ).toHaveLength(1);
  });

  it('are those of the settings that the trainer declares', () => {
    const sequences = {
      ...cause([null, null], 'Of sequences.', 'new'),
      declared: { loss_aggregation: ['seq-mean-token-mean', 'token-sum-norm'], own_formulas: 'loss' },
    };
    const known = (semantics: Semantics): string[] => Object.keys(knownOf([sequences], of('1.0', semantics)));
    expect(
      known({ loss_aggregation: 'seq-mean-token-mean', own_formulas: ['advantages', 'loss'] }),
    ).toHaveLength(1);
    expect(known({ loss_aggregation: 'token-mean', own_formulas: ['loss'] })).toEqual([]);
    expect(known({ loss_aggregation: 'seq-mean-token-mean' })).toEqual([]);
  });

  it('are those of trainers with as many stop ids, whose own stand in the cases', () => {
    const second: Cause = {
      ...cause([null, null], 'Of a second stop.', 'new'),
      tokens: { eos_token_ids: [5, 6], pad_token_id: 4 },
      failures: { 'mask/x': { kind: 'new', given: { rows: [[1, 5, 4], [6]], pad: 4, text: '6' } } },
    };
    const known = (eos_token_ids?: readonly number[]): readonly unknown[] => {
      const tokens =
        eos_token_ids === undefined ? {} : { tokens: { vocab_size: 99, pad_token_id: 0, eos_token_ids } };
      return Object.values(knownOf([second], { ...of('1.0'), ...tokens })).map(({ given }) => given);
    };
    expect(known([61, 62, 63])).toEqual([{ rows: [[1, 61, 0], [62]], pad: 0, text: '6' }]);
    expect(known([61])).toEqual([]);
    // Whose ids nobody says may be asked with any.
    expect(known()).toEqual([{ rows: [[1, 5, 4], [6]], pad: 4, text: '6' }]);
  });

  it('compare versions by their numbers', () => {
    expect(isBefore('0.9', '0.15')).toBe(true);
    expect(isBefore('1.13.0.dev0', '1.13')).toBe(false);
    expect(isBefore('1.13', '1.13.1')).toBe(true);
  });

  it('may name an exception by its words, and no other is that', () => {
    const known = { reason: 'r', kind: 'error: IndexError: list index out of range' };
    const raised = (message: string) => ({ trainerFailure: raisedFailure('mask', { message }) }) as never;
    expect(changeOf(known, [raised('IndexError: list index out of range')], () => [])).toBeUndefined();
    expect(changeOf(known, [raised("KeyError: 'mask'")], () => [])).toContain('"error: error"');
  });
});

async function check(
  trainer: Trainer,
  known: RunOptions['known'] = {},
): Promise<{ readonly results: readonly PropertyResult[]; readonly events: readonly RunEvent[] }> {
  const events: RunEvent[] = [];
  const properties = [echoes as unknown as Property];
  const options = { trainer, tokenizer: undefined, properties, seed: 7, cases: 20, command: 'test', known };
  return { results: await run(options, (event) => events.push(event)), events };
}

const right = extracting((ids) => ids);
const asks = (message: string): Trainer => ({
  ...right,
  ask: async () => ({ kind: 'failure', failure: raisedFailure('extract', { message, adapter: true }) }),
});
const shipped = { [echoes.id]: { reason: 'r', kind: 'length', given: { ids: [5] }, bundled: true } } as const;

describe('a known failure that came with an adapter', () => {
  it('is none of a trainer that holds it: it may be of another setting', async () => {
    const { results } = await check(right, shipped);
    expect(results[0]).toMatchObject({ verdict: 'pass', cases: 20 });
  });

  it('is known where it fails', async () => {
    const { results } = await check(
      extracting(() => []),
      shipped,
    );
    expect(results[0]).toMatchObject({ verdict: 'known', reason: 'r' });
  });

  /** Loses all of a case that is longer than so many ids. */
  const losing = (most: number): Trainer => extracting((ids) => (ids.length > most ? [] : ids));
  const long = { reason: 'long', kind: 'length', given: { ids: [1, 2, 3, 4] }, bundled: true } as const;

  it('hides nothing of the same kind in cases that lack its labels, and that is made small by itself', async () => {
    const labelled = { [echoes.id]: { ...long, labels: ['long'] } };
    const { results } = await check(losing(1), labelled);
    expect(results[0]).toMatchObject({
      verdict: 'changed',
      reason: 'it was recorded where a case has "long" (long), and fails in the same way without that now',
      others: [{ given: { ids: [0, 0] } }],
    });
    expect((await check(losing(3), labelled)).results[0]).toMatchObject({ verdict: 'known', cases: 1 });
  });

  it('of which no case is recorded hides nothing of the same kind either', async () => {
    const { given: _, bundled: __, ...bare } = long;
    const labelled = { [echoes.id]: { ...bare, labels: ['long'] } };
    expect((await check(losing(1), labelled)).results[0]?.verdict).toBe('changed');
    expect((await check(losing(3), labelled)).results[0]?.verdict).toBe('known');
  });

  it('may be of several causes, each with labels of its own', async () => {
    const empty = { reason: 'short', kind: 'length', given: { ids: [1] } } as const;
    const both = together([{ ...long, labels: ['long'] }, empty]) as KnownFailure;
    expect((await check(losing(0), { [echoes.id]: both })).results[0]?.verdict).toBe('known');
  });

  it('hides nothing of the same kind where its own case holds', async () => {
    const { results } = await check(losing(1), shipped);
    expect(results[0]).toMatchObject({ verdict: 'fail', failure: { finding: { kind: 'length' } } });
  });

  it('is that of several causes whose case fails; what is told is its reason', async () => {
    const both = { [echoes.id]: together([shipped[echoes.id] as KnownFailure, long]) as KnownFailure };
    const { results } = await check(losing(3), both);
    expect(results[0]).toMatchObject({ verdict: 'known', reason: 'long' });
    expect((await check(losing(0), both)).results[0]).toMatchObject({ verdict: 'known', reason: 'r long' });
    // Neither case fails, and others do.
    const odd = extracting((ids) => (ids.length === 2 ? [] : ids));
    expect((await check(odd, both)).results[0]).toMatchObject({ verdict: 'fail' });
    expect((await check(right, both)).results[0]).toMatchObject({ verdict: 'pass' });
  });
});

describe('a trainer that says what it lacks', () => {
  const hello = {
    ...right.hello,
    ops: {},
    lacks: { extract: 'version 1 has none' },
    notes: ['tested with 2'],
  };

  it('has it unsupported with its reason, and its notes are told', async () => {
    const { results, events } = await check({ ...right, hello });
    expect(results[0]).toMatchObject({
      verdict: 'unsupported',
      reason: 'op `extract` cannot be asked: version 1 has none',
    });
    expect(events).toContainEqual({ type: 'notice', sentence: 'tested with 2' });
  });
});

describe('an exception of a ready-made adapter', () => {
  it('is an error, and nothing that is known has changed', async () => {
    for (const known of [{}, shipped]) {
      const { results } = await check(asks("KeyError: 'x'"), known);
      expect(results[0]).toMatchObject({
        verdict: 'error',
        failure: { trainerFailure: { kind: 'adapter' } },
      });
    }
  });

  it('is said to be no word about the trainer', () => {
    const failure = raisedFailure('mask', { message: "KeyError: 'prompt_ids'", adapter: true });
    expect(failure).toMatchObject({
      kind: 'adapter',
      message: "The adapter failed on mask, not the trainer: KeyError: 'prompt_ids'",
    });
  });
});
