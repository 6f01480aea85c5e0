// What must be trained of a row of a data set: its answers, and the stop token of each.
import { describe, expect, test } from 'vitest';
import type { TrainedRowSketch } from '../../traced.ts';
import { CHAT, holds, judge, marks, silent, TURNS, text, tokenizer } from './rows.ts';

describe('what must be trained of a row of a data set', () => {
  const answer = 'tokenize/answer-is-trained';
  const earlier = 'tokenize/every-answer-is-trained';
  const stop = 'tokenize/stop-token-is-trained';

  test('what stands in front of every answer and is trained in none was prefilled', () => {
    const row = (ids: number[], at: TrainedRowSketch['at']): TrainedRowSketch => ({
      ids: [1, 10, 30, 31, ...ids, 2],
      prompt: 2,
      spans: { origin: { kind: 'template' } },
      at: at ?? {},
    });
    const off = { 2: null, 3: null };
    holds(answer, { rows: [row([20, 21], off), row([22], off)] });
    expect(marks(answer, { rows: [row([20, 21], off), row([22], {})] })).toEqual([2, 3]);
    expect(marks(answer, { rows: [row([20, 21], { 2: null }), row([22], { 2: null })] })).toEqual([2]);
  });
  test('an answer in part, or not at all', () => {
    expect(marks(answer, { rows: [{ ...CHAT, at: { 3: null } }] })).toEqual([3]);
    const none = { rows: [{ ...CHAT, trained: [] }] };
    expect(marks(answer, none)).toEqual([3, 4, 5]);
    expect(judge(answer, none).findings[0]?.note).toContain('-100');
    holds(answer, { rows: [CHAT] });
  });
  test('pad equal to eos that masks the stop token', () => {
    const rows = [{ ...CHAT, at: { 6: null } }];
    const alike = tokenizer({ padTokenId: 2 });
    expect(marks(stop, { rows })).toEqual([6]);
    expect(judge(stop, { rows, tokenizer: alike }).findings[0]?.note).toContain('same id');
    holds(stop, { rows: [CHAT], tokenizer: alike, pad: 2 });
  });
  test('pad equal to eos that masks the stop token of plain texts', () => {
    const alike = tokenizer({ padTokenId: 2, eosTokenId: 2 });
    const ended = (ids: readonly number[], more = {}) =>
      text({ ids, trained: ids.map((id, t) => (t === 0 || id === 2 ? undefined : 0.1)), ...more });
    const [long, short] = [ended([5, 6, 7, 8, 2]), ended([9, 8, 2], { right: 2 })];
    const masked = { rows: [long, short], tokenizer: alike, pad: 2 };
    expect(judge(stop, masked).findings[0]?.sentence).toContain('ends the text of');
    // Texts are packed into rows, and no row has padding.
    const packed = { ...masked, rows: [ended([5, 6, 2, 7, 8]), ended([9, 8, 2, 6, 5])] };
    expect(judge(stop, packed).findings[0]?.sentence).toContain('ends the text of');
    silent(stop, { ...masked, tokenizer: tokenizer({ padTokenId: 0, eosTokenId: 2 }) });
    silent(stop, { ...masked, rows: [short] });
    const trained = text({ ids: [5, 6, 7, 8, 2], trained: [undefined, 0.1, 0.1, 0.1, 0.1] });
    silent(stop, { ...masked, rows: [trained, short] });
    // A mask of ones, over texts without a stop token: what has its id is padding.
    const ones = { right: 1, attention: [1, 1, 1, 1] };
    silent(stop, { ...masked, rows: [ended([5, 6, 7], ones), ended([5, 8, 9], ones)] });
  });
  test('a row that is cut has no stop token, and one whose answer is cut away owes nothing', () => {
    const cut = { ids: [1, 10, 11, 20, 21], prompt: 3 };
    holds(answer, { rows: [cut] });
    silent(stop, { rows: [cut] });
    silent(answer, { rows: [{ ids: [1, 10, 11], prompt: 3 }] });
  });
  test('an earlier answer in part is wrong; one left out is where every turn is declared', () => {
    const part = TURNS({ ids: [1, 10, 20, 2, 11, 12, 21, 22, 2], at: { 3: null } });
    expect(marks(stop, { rows: [part] })).toEqual([3]);
    const out = { rows: [TURNS({ at: { 2: null, 3: null } })] };
    silent(earlier, out, 'the whole answer is left out of the loss, which is legal');
    silent(
      earlier,
      { ...out, settings: { trainOn: 'completion' } },
      'the whole answer is left out of the loss, which is legal',
    );
    expect(marks(earlier, { ...out, settings: { values: { assistant_only_loss: true } } })).toEqual([2]);
    expect(marks(earlier, { ...out, settings: { trainOn: 'assistant' } })).toEqual([2]);
    holds(earlier, { rows: [TURNS()] });
    holds(answer, out);
  });
  test('the last answer is owed where an earlier one is trained', () => {
    expect(marks(answer, { rows: [TURNS({ at: { 6: null, 7: null, 8: null } })] })).toEqual([6, 7]);
  });
  test('rows of pairs: negative weights are training, and a pair told apart weighs nothing', () => {
    const rejected = { ...CHAT, weight: -0.1 };
    for (const id of [answer, stop]) holds(id, { rows: [CHAT, rejected] });
    expect(marks(stop, { rows: [CHAT, { ...rejected, at: { 6: null } }] })).toEqual([6]);
    silent(
      answer,
      { rows: [{ ...CHAT, trained: [] }], settings: { trainer: 'DPOTrainer' } },
      'the whole answer is left out of the loss, which is legal',
    );
    expect(judge(answer, { rows: [CHAT, rejected, { ...CHAT, trained: [] }] })).toMatchObject({
      judged: 2,
      setAside: ['the whole answer is left out of the loss, which is legal'],
      findings: [],
    });
  });
});
