// What the model was fed: BOS, attention and positions.
import { describe, expect, test } from 'vitest';
import type { TrainedRowSketch } from '../../traced.ts';
import { CHAT, holds, judge, marks, onPolicy, silent, text, tokenizer } from './rows.ts';

describe('tokenize/exactly-the-right-number-of-bos', () => {
  const id = 'tokenize/exactly-the-right-number-of-bos';
  const doubled = { ids: [1, 1, 10, 20, 2], prompt: 3 };
  test('a doubled BOS is marked, behind padding too', () => {
    expect(marks(id, { rows: [doubled, doubled] })).toEqual([1]);
    expect(marks(id, { rows: [{ ...doubled, left: 2 }] })).toEqual([3]);
  });
  test('one BOS, none, and a text that spells one pass', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [{ ids: [10, 20, 2] }] });
    holds(id, { rows: [CHAT, CHAT, doubled] });
  });
  test('where BOS ends texts as well, plain text may have two, and padding cannot be told from it', () => {
    const alike = { tokenizer: tokenizer({ bosTokenId: 2, padTokenId: 2 }), pad: 2 };
    silent(
      id,
      { rows: [text({ ids: [2, 2, 10, 11, 2] })], ...alike },
      'BOS has the id of padding or of the end of a text',
    );
    silent(
      id,
      { rows: [{ ids: [2, 10, 20, 2], left: 2, attention: null }], ...alike },
      'BOS has the id of padding or of the end of a text',
    );
    expect(marks(id, { rows: [{ ids: [2, 2, 10, 20, 2], prompt: 3 }], ...alike })).toEqual([1]);
  });
});

describe('attention', () => {
  const taught = 'collate/attention-covers-exactly-the-examples';
  const rolled = 'rollout/attention-covers-exactly-the-real-tokens';
  const left = { ...CHAT, left: 2, attention: Array(9).fill(1) };
  test('left padding that the model sees is marked', () => {
    expect(marks(taught, { rows: [left] })).toEqual([0, 1]);
    expect(marks(rolled, onPolicy(left))).toEqual([0, 1]);
  });
  test('pads that nobody marked are known by what they do to a batch', () => {
    const prompt = Array(9).fill('prompt').fill('completion', 5);
    const unmarked = { ...left, real: Array(9).fill(true), spans: { roles: prompt } };
    const mate = { ids: [1, 10, 11, 12, 13, 20, 21, 22, 2], prompt: 5 };
    expect(marks(taught, { rows: [unmarked, mate] })).toEqual([0, 1]);
    holds(taught, { rows: [unmarked] });
    // Of no known role, and of no id that pads anything.
    holds(taught, { rows: [left], pad: 7 });
    holds(taught, { rows: [unmarked, { ...mate, ids: mate.ids.slice(2), prompt: 3, right: 2 }] });
  });
  test('the pad token where a prompt that is known begins was typed', () => {
    const typed = { ids: [0, 10, 11, 20, 21, 2], prompt: 3, left: 2, attention: [0, 0, 1, 1, 1, 1, 1, 1] };
    const origin = { kind: 'dataset', example: 0, form: 'prompt and completion' } as const;
    const mate = { ids: [1, 10, 11, 12, 13, 20, 21, 2], prompt: 5 };
    holds(taught, { rows: [{ ...typed, spans: { origin } }, mate] });
    // Of no known prompt, as of all that the mask shows.
    expect(marks(taught, { rows: [typed, mate] })).toEqual([2]);
  });
  test('attention on trailing pads is harmless, and so is a hidden last stop token', () => {
    holds(taught, { rows: [{ ...CHAT, right: 2, attention: Array(9).fill(1) }] });
    holds(taught, { rows: [{ ...CHAT, attention: [1, 1, 1, 1, 1, 1, 0], real: Array(7).fill(true) }] });
  });
  test('a real token that is hidden is marked', () => {
    const hidden = { ...CHAT, attention: [1, 0, 1, 1, 1, 1, 1] };
    expect(marks(taught, { rows: [{ ...hidden, real: Array(7).fill(true) }] })).toEqual([1]);
    // As the ledger has it where only the mask tells what is real.
    expect(marks(taught, { rows: [{ ...hidden, real: [true, false, ...Array(5).fill(true)] }] })).toEqual([
      1,
    ]);
  });
  test('stop tokens of earlier turns that were taken for pads are marked', () => {
    const alike = { tokenizer: tokenizer({ padTokenId: 2 }), pad: 2 };
    const ids = [1, 10, 2, 20, 2, 11, 12, 21, 2];
    const attention = ids.map((id) => Number(id !== 2));
    const row = { ids, attention, real: attention.map(Boolean), prompt: 7 };
    expect(marks(taught, { rows: [row], ...alike })).toEqual([2, 4]);
  });
  test('a prompt block with its padding at its right, packed examples with padding between them, no mask', () => {
    const ids = [1, 10, 0, 0, 20, 21, 2];
    const attention = [1, 1, 0, 0, 1, 1, 1];
    const row = { ids, attention, real: attention.map(Boolean), prompt: 4 };
    holds(taught, { rows: [row] });
    holds(rolled, onPolicy({ ...row, positions: 'mask' }));
    holds(taught, { rows: [{ ...row, positions: [0, 1, 0, 0, 0, 1, 2] }] });
    const alike = { tokenizer: tokenizer({ padTokenId: 2 }), pad: 2 };
    holds(taught, { rows: [{ ...row, ids: [1, 10, 2, 2, 20, 21, 2] }], ...alike });
    const three = [1, 10, 2, 11, 12, 2, 13, 14];
    const packed = { ids: three, attention: three.map((id) => Number(id !== 2)), prompt: 1 };
    const begun = { ...packed, positions: [0, 1, 0, 0, 1, 0, 0, 1], real: packed.attention.map(Boolean) };
    holds(taught, { rows: [begun], ...alike });
    silent(taught, { rows: [{ ...CHAT, attention: null }] }, 'the model was given no attention mask');
  });
});

describe('no attention mask', () => {
  const taught = 'collate/attention-covers-exactly-the-examples';
  const rolled = 'rollout/attention-covers-exactly-the-real-tokens';
  const none = { ...CHAT, left: 2, attention: null, unmasked: true };
  const models = [{ class: 'Qwen2ForCausalLM' }];
  const counted = Array.from({ length: 9 }, (_, t) => t);
  test('padding in front of a row is seen', () => {
    for (const row of [none, { ...none, positions: counted }]) {
      expect(marks(taught, { rows: [row], models })).toEqual([0, 1]);
      expect(marks(rolled, { ...onPolicy(row), models })).toEqual([0, 1]);
    }
    expect(judge(taught, { rows: [none], models }).findings[0]?.sentence).toContain('no attention_mask');
    expect(marks(taught, { rows: [none], models: [{ class: 'GPT2LMHeadModel' }] })).toEqual([0, 1]);
  });
  test.each<[string, TrainedRowSketch, string]>([
    ['padding behind a row', { ...none, left: 0, right: 2 }, 'Qwen2ForCausalLM'],
    ['a row without padding', { ...none, left: 0 }, 'Qwen2ForCausalLM'],
    [
      'positions that begin behind the padding',
      { ...none, positions: [0, 0, 0, 1, 2, 3, 4, 5, 6] },
      'Qwen2ForCausalLM',
    ],
    ['a mask of another shape', { ...none, unmasked: false }, 'Qwen2ForCausalLM'],
    ['a model that may find its padding by itself', none, 'TinyModel'],
  ])('%s is not', (_what, row, name) => {
    silent(taught, { rows: [row], models: [{ class: name }] }, 'the model was given no attention mask');
  });
});

describe('positions', () => {
  const taught = 'collate/positions-count-real-tokens';
  const rolled = 'mask/positions-count-real-tokens';
  const learnt = { models: [{ class: 'GPT2LMHeadModel', positions: 'absolute' as const }] };
  const left = { ...CHAT, left: 2 };
  test('left padding without position_ids moves a model with absolute positions', () => {
    expect(marks(taught, { rows: [left], ...learnt })?.[0]).toBe(2);
    expect(marks(rolled, { ...onPolicy(left), ...learnt })?.[0]).toBe(2);
    expect(judge(taught, { rows: [left], ...learnt }).findings[0]?.note).toContain('cumsum');
  });
  test('so do position_ids that count padding', () => {
    const positions = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    expect(marks(taught, { rows: [{ ...left, positions }], ...learnt })?.[0]).toBe(2);
  });
  test('left padding that no mask tells of is known by its ids, in a batch whose longest row has none', () => {
    const hidden = { attention: null, forward: 0 };
    const longest = { ...CHAT, ids: [1, 10, 11, 12, 13, 20, 21, 22, 2], prompt: 5, ...hidden };
    const batch = { rows: [{ ...left, ...hidden }, longest], tokenizer: tokenizer(), ...learnt };
    expect(marks(taught, batch)?.[0]).toBe(2);
    silent(
      taught,
      { ...batch, rows: [{ ...left, ...hidden }] },
      'the model was given neither positions nor a mask',
    );
    silent(taught, { ...batch, tokenizer: undefined }, 'the model was given neither positions nor a mask');
  });
  test('positions that count from 2, of a row with two pads in front, are not columns', () => {
    const positions = [1, 1, 2, 3, 4, 5, 6, 7, 8];
    holds(taught, { rows: [{ ...left, positions }], ...learnt });
  });
  test('a rotary model does not notice, nor does one that counts the mask itself, nor is an unknown one blamed', () => {
    holds(taught, { rows: [left] });
    silent(
      taught,
      { rows: [left], models: [{ class: 'OPTForCausalLM', positions: 'absolute' }] },
      'models of this class count positions by themselves',
    );
    silent(
      taught,
      { rows: [left], models: [{ positions: 'unknown' }] },
      'it is not known how the model counts positions',
    );
  });
  test('positions counted over the mask, right padding, packed rows that begin again or do not, shifted starts', () => {
    holds(taught, { rows: [{ ...left, positions: 'mask' }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, right: 2 }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 0, 1, 2, 3] }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 3, 4, 5, 6] }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [2, 3, 4, 5, 6, 7, 8] }], ...learnt });
    // Two examples of one token: each begins at 0.
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 3, 0, 0, 1] }], ...learnt });
    // Skipped positions are a way to train for longer rows.
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 500, 501, 502, 503] }] });
  });
  test('a hidden token is the business of the rule about attention', () => {
    const real = [true, false, true, true, true, true, true];
    silent(
      taught,
      { rows: [{ ...CHAT, attention: real.map(Number), real }] },
      'the attention mask hides real tokens',
    );
  });
  test('tokens that share one position are marked', () => {
    expect(marks(taught, { rows: [{ ...CHAT, positions: [0, 0, 0, 0, 0, 0, 0] }] })?.[0]).toBe(2);
  });
  test('a row that runs backwards is marked', () => {
    expect(marks(taught, { rows: [{ ...CHAT, positions: [6, 5, 4, 3, 2, 1, 0] }] })?.[0]).toBe(2);
    expect(marks(taught, { rows: [{ ...left, positions: [1, 1, 6, 5, 4, 3, 2, 1, 0] }] })?.[0]).toBe(4);
  });
  test('padding in the middle that is counted is marked, and counted over the mask it is right', () => {
    const ids = [1, 10, 0, 0, 20, 21, 2];
    const attention = [1, 1, 0, 0, 1, 1, 1];
    const row = { ids, attention, real: attention.map(Boolean), prompt: 4 };
    expect(marks(rolled, onPolicy(row))).toEqual([4]);
    holds(rolled, onPolicy({ ...row, positions: 'mask' }));
  });
});
