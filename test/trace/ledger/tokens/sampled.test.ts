// What must be trained of a row that was sampled: every token of the completion, and its stop token.
import { describe, expect, test } from 'vitest';
import { ledgerProperties } from '../../../../properties/ledger/index.ts';
import { type LedgerSketch, ledgerOf, type TrainedRowSketch } from '../../traced.ts';
import {
  CHAT,
  generation,
  holds,
  judge,
  marks,
  named,
  onPolicy,
  sampled,
  silent,
  tokenizer,
} from './rows.ts';

describe('what must be trained of a sampled row', () => {
  const every = 'mask/every-completion-token-is-trained';
  const stop = 'mask/stop-token-is-trained-once';

  test('a missing token is marked, the first one with the shift', () => {
    expect(marks(every, onPolicy({ at: { 4: null } }))).toEqual([4]);
    const { findings } = judge(every, onPolicy({ at: { 3: null } }));
    expect(findings[0]?.note).toContain('shifted by one');
    expect(marks(every, onPolicy({ at: { 3: 0, 5: null } }))).toEqual([3, 5]);
  });
  test('the stop token of a trained completion is owed', () => {
    expect(marks(stop, onPolicy({ at: { 6: null } }))).toEqual([6]);
    const alike = tokenizer({ padTokenId: 2 });
    expect(judge(stop, { ...onPolicy({ at: { 6: null } }), tokenizer: alike }).findings[0]?.note).toContain(
      'same id',
    );
  });
  test('a stop token that was sampled and is in no row is missed, where a limit did not cut it off', () => {
    const bare = {
      completions: [{ from: 3, to: 6 }],
      origin: { kind: 'generation', generations: [0] },
    } as const;
    const short = { ids: [1, 10, 11, 20, 21, 22], prompt: 3, spans: bare };
    const long = sampled(
      { ids: [1, 10, 11, 30, 31, 32, 33], spans: { completions: [{ from: 3, to: 7 }] } },
      1,
    );
    const generations = [generation(), generation({ completionIds: [30, 31, 32, 33] })];
    expect(marks(stop, { rows: [short, long], generations })).toEqual([5]);
    expect(judge(stop, { rows: [short, long], generations }).findings[0]?.sentence).toContain(
      'ends without it',
    );
    silent(stop, { rows: [short], generations });
    const settings = { semantics: { stop_token_in_mask: false } };
    silent(stop, { rows: [short, long], generations, settings });
  });
  test('what was sampled and stands in no row is counted, with the nearest', () => {
    const rule = ledgerProperties.find(({ id }) => id === every);
    const lack = rule?.needs?.(
      ledgerOf(named({ rows: [CHAT], generations: [generation({ promptIds: [1, 10, 12] })] })),
    );
    expect(lack).toBe(
      '1 sequence was sampled, and none stands in a trained row: the nearest is like one for its first 2 of 7 tokens',
    );
    expect(rule?.needs?.(ledgerOf(named({ rows: [CHAT] })))).toContain('nothing was seen that samples');
  });
  test('a stop token alone owes nothing to a completion that is not trained', () => {
    silent(stop, onPolicy({ at: { 3: null, 4: null, 5: null } }));
    expect(marks(every, onPolicy({ at: { 3: null, 4: null, 5: null } }))).toEqual([3, 4, 5]);
  });
  test('both are right in a correct row, pushed up or down', () => {
    for (const weight of [0.1, -0.1]) {
      holds(every, onPolicy({ weight }));
      holds(stop, onPolicy({ weight }));
    }
  });
  test('a stop token declared to be left out is wrong where it is trained, and right where not', () => {
    const settings = { semantics: { stop_token_in_mask: false } };
    holds(stop, { ...onPolicy({ at: { 6: null } }), settings });
    expect(marks(stop, { ...onPolicy(), settings })).toEqual([6]);
  });
  test('a group without reward variance is left out whole', () => {
    const none = { trained: Array(8).fill(undefined) };
    for (const id of [every, stop])
      silent(id, onPolicy(none), 'the whole completion has no gradient, as where its advantage is 0');
    for (const id of [every, stop])
      silent(
        id,
        onPolicy({ trained: Array(8).fill(0) }),
        'the whole completion has no gradient, as where its advantage is 0',
      );
    const two = { rows: [sampled(), sampled(none)], generations: [generation()] };
    holds(every, two);
  });
  test('a row that no backward pass reached says nothing', () => {
    silent(every, onPolicy({ reached: false, trained: [] }));
  });
  test('a truncated completion may be left out whole, or trained whole, and not in part', () => {
    const cut = {
      ids: [1, 10, 11, 20, 21, 22],
      spans: {
        expected: [undefined, false, false, undefined, undefined, undefined],
        roles: ['prompt', 'prompt', 'prompt', 'completion', 'completion', 'completion'] as const,
        completions: [{ from: 3, to: 6 }],
      },
    };
    silent(
      every,
      onPolicy({ ...cut, trained: Array(7).fill(undefined) }),
      'the whole completion has no gradient, as where its advantage is 0',
    );
    const whole = [undefined, undefined, undefined, 0.3, 0.3, 0.3];
    holds(every, onPolicy({ ...cut, trained: whole }));
    const part = onPolicy({ ...cut, trained: [...whole.slice(0, 5), undefined] });
    expect(marks(every, part)).toEqual([5]);
    const { sentence = '', note } = judge(every, part).findings[0] ?? {};
    expect(`${sentence} ${note}`).toMatch(/is not trained, while other tokens.*only as a whole/);
    expect(sentence).not.toContain('must be trained');
    silent(stop, onPolicy({ ...cut, trained: whole }));
  });
  test('a token that the model is sure of may lose its gradient', () => {
    holds(every, onPolicy({ at: { 4: null }, logprobs: [Number.NaN, -2, -2, -2, -1e-7, -2, -2] }));
  });

  const moved = (rows: readonly Partial<TrainedRowSketch>[]): LedgerSketch => ({
    rows: rows.map((row) => sampled({ step: 1, ...row })),
    generations: [generation()],
  });
  test('where the policy has moved, a clipped token is no missing one', () => {
    const clipped = [{ at: { 4: null } }, { at: { 6: null } }, {}, {}];
    holds(every, moved(clipped));
    holds(stop, moved(clipped));
  });
  test('rewards token by token leave many without a weight, here and there; one that is declared leaves none', () => {
    const ids = [1, 10, 11, 20, 21, 22, 23, 24, 2];
    const some = [[4, 6], [5], [4, 7], [6, 8]].map((columns) =>
      sampled({ ids, prompt: 3, weight: 0.1, at: Object.fromEntries(columns.map((t) => [t, null])) }),
    );
    const generations = [generation({ completionIds: ids.slice(3) })];
    expect(judge(every, { rows: some, generations }).findings).toEqual([]);
    expect(judge(stop, { rows: some, generations }).findings).toEqual([]);
    const settings = { trainer: 'GRPOTrainer' };
    expect(judge(every, { rows: some, generations, settings }).findings).toHaveLength(3);
  });
  test('but what every completion misses is', () => {
    const rows = Array(8).fill({});
    expect(marks(stop, moved(rows.map(() => ({ at: { 6: null } }))))).toEqual([6]);
    expect(marks(every, moved(rows.map(() => ({ at: { 3: null } }))))).toEqual([3]);
    expect(judge(every, moved(rows.map(() => ({ at: { 3: null } })))).more).toBeGreaterThan(0);
  });
  test('unless the mask has it before the policy moved: an update moves all stop tokens alike, and clips them alike', () => {
    const fresh = sampled({ step: 0 });
    for (const [id, column] of [
      [stop, 6],
      [every, 3],
    ] as const) {
      const clipped = moved(Array(8).fill({ at: { [column]: null } }));
      expect(judge(id, { ...clipped, rows: [fresh, ...(clipped.rows ?? [])] }).findings).toEqual([]);
      // One that never has it has no such excuse.
      const never = sampled({ step: 0, at: { [column]: null } });
      expect(judge(id, { ...clipped, rows: [never, ...(clipped.rows ?? [])] }).findings).not.toEqual([]);
    }
  });
  test('where only the KL term is left, it may be nothing at a token', () => {
    holds(every, {
      ...onPolicy({ weight: [1e-5, -3e-6, 0, 2e-6] }),
      rows: [sampled({ weight: [1e-5, -3e-6, 0, 2e-6] }), sampled()],
    });
    expect(judge(every, onPolicy({ weight: [1e-5, -3e-6, 0, 2e-6] })).findings).toEqual([]);
  });
  test('a trainer told to train tokens of high entropy only leaves the others out', () => {
    const settings = { values: { top_entropy_quantile: 0.2 } };
    expect(judge(every, { ...onPolicy({ at: { 4: null } }), settings }).findings).toEqual([]);
  });
});
