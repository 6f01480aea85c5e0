// How a difference is told: what kind of thing changed, the token or the character, rows side by side along their ids.
import { describe, expect, test } from 'vitest';
import { bandOf } from '../../src/check/numbers.ts';
import type { Finding, World } from '../../src/check/property.ts';
import { aligned } from '../../src/golden/align.ts';
import { compared } from '../../src/golden/compare.ts';
import type { Fields } from '../../src/golden/entry.ts';
import { tokenizerPrint } from '../../src/golden/fingerprint.ts';
import type { Op } from '../../src/protocol/message.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';

const loaded = loadTokenizer(familyFolder('llama3'));
const tokenizer = 'tokenizer' in loaded ? loaded.tokenizer : undefined;
const world: World = {
  hello: { protocol: 1, name: 'x', ops: {}, dtype: 'float64' },
  semantics: {},
  tokenizer,
};

function difference(op: Op, args: Fields, before: Fields, after: Fields): Finding | undefined {
  const answer = (fields: Fields) => ({ kind: 'answer', fields }) as const;
  return compared({ world, op, args, band: bandOf(world) }, answer(before), answer(after));
}

const idsOf = (text: string): number[] => tokenizer?.encode(text) ?? [];

describe('a changed text', () => {
  test('is told by the character, with white space that can be seen', () => {
    const found = difference('render', {}, { text: '<|u|>\n\nHi <|e|>' }, { text: '<|u|>\nHi <|e|>' });
    expect(found?.kind).toBe('text');
    expect(found?.sentence).toBe(
      'The text changed at character 6: it was "<|u|>⏎⏎Hi␠<|e|>", and is "<|u|>⏎Hi␠<|e|>".',
    );
  });

  test('is cut around the place, and not within a character', () => {
    const found = difference(
      'decode',
      {},
      { text: `${'a'.repeat(50)}👍${'b'.repeat(80)}` },
      { text: `${'a'.repeat(50)}👎${'b'.repeat(80)}` },
    );
    expect(found?.sentence).toContain('at character 50: it was "…aaaaaaaaaaaaaaaaaaaaaaaa👍b');
    expect(found?.sentence).not.toContain('\\u{d83d}');
  });
});

describe('changed ids', () => {
  const before = idsOf('What is the answer?');

  test('name the token that is new, and mark no other', () => {
    const found = difference('tokenize', {}, { input_ids: before }, { input_ids: [856, ...before] });
    expect(found?.kind).toBe('ids');
    expect(found?.sentence).toBe(
      "The ids changed (input_ids): token 0 '<|begin_of_text|>' (id 856) of row 0 is new.",
    );
    expect(found?.strips?.[0]?.marks).toEqual([0]);
    expect(found?.strips?.[0]?.tracks[0]?.cells[0]).toBe('·');
  });

  test('name the token that is gone', () => {
    const found = difference('tokenize', {}, { input_ids: before }, { input_ids: before.slice(0, -1) });
    expect(found?.sentence).toBe(
      `The ids changed (input_ids): token ${before.length - 1} '?' (id ${before.at(-1)}) of row 0 is gone.`,
    );
  });

  test('name the token that stands in the place of another', () => {
    const after = before.with(1, 13);
    const found = difference('tokenize', {}, { input_ids: before }, { input_ids: after });
    expect(found?.sentence).toBe(
      `The ids changed (input_ids): token 1 '.' (id 13) of row 0 was '␠is' (id ${before[1]}).`,
    );
  });

  test('leave the labels beside them alone, where each keeps its token', () => {
    const labels = before.map((id, at) => (at > 2 ? id : -100));
    const found = difference(
      'tokenize',
      {},
      { input_ids: before, labels },
      { input_ids: [856, ...before], labels: [-100, ...labels] },
    );
    expect(found?.strips?.[0]?.tracks.map(({ name }) => name)).toEqual(['before', 'after']);
  });

  test('of a collator that pads otherwise are laid along each other', () => {
    const batch = (ids: number[][], real: number[][]) => ({
      input_ids: ids,
      attention_mask: real,
      labels: ids.map((row) => row.map(() => -100)),
    });
    const found = difference('collate', {}, batch([[5, 6, 0]], [[1, 1, 0]]), batch([[0, 5, 6]], [[0, 1, 1]]));
    expect(found?.sentence).toContain('The ids changed (input_ids), at 2 tokens of 1 row');
  });
});

describe('changed masks and labels', () => {
  const args = {
    sequences: [[5, 6, 7, 8]],
    attention_mask: [[1, 1, 1, 1]],
    prompt_width: 1,
    eos_token_ids: [8],
  };

  test('are shown below the tokens of the request, where the answer has no ids', () => {
    const found = difference(
      'mask',
      args,
      { completion_mask: [[0, 1, 1, 1]] },
      { completion_mask: [[0, 0, 1, 1]] },
    );
    expect(found?.kind).toBe('mask');
    expect(found?.strips?.[0]).toMatchObject({
      row: 0,
      marks: [1],
      tracks: [
        { name: 'before', cells: ['0', '1', '1', '1'] },
        { name: 'after', cells: ['0', '0', '1', '1'] },
      ],
    });
    expect(found?.strips?.[0]?.tokens.map(({ id, role }) => [id, role])).toEqual([
      [5, 'prompt'],
      [6, 'completion'],
      [7, 'completion'],
      [8, 'stop'],
    ]);
  });

  test('that come in rows of another width are all there', () => {
    const found = difference('mask', args, { completion_mask: [[0, 1]] }, { completion_mask: [[0, 1, 1]] });
    expect(found?.sentence).toContain('column 2 of row 0 was nothing, and is 1');
  });
});

describe('changed numbers', () => {
  const args = { completion_mask: [[0, 1, 1, 0]], prompt_width: 1 };

  test('are listed, those farthest off first, with what was allowed', () => {
    const found = difference(
      'kl',
      args,
      { kl: [[9, 1, 2, 9]], mean_kl: 1.5 },
      { kl: [[9, 1.5, 4, 9]], mean_kl: 2.75 },
    );
    expect(found?.kind).toBe('numbers');
    expect(found?.sentence).toBe(
      'The numbers changed (kl, mean_kl), at 2 values of 1 row and 1 other place. First: kl of column 1 of row 0 was 1, and is 1.5.',
    );
    expect(found?.numbers?.map(({ where }) => where)).toEqual(['kl[0][2]', 'mean_kl', 'kl[0][1]']);
    expect(found?.note).toContain('float64');
  });

  test('do not count outside the mask, and weights do', () => {
    expect(difference('kl', args, { kl: [[0, 1, 2, 0]] }, { kl: [[NaN, 1, 2, 7]] })).toBeUndefined();
    const weights = (last: number) => ({ loss: 0, loss_weights: [[0, 1, 1, last]] });
    expect(difference('loss', args, weights(0), weights(0.5))?.sentence).toContain('column 3 of row 0');
  });

  test('count in the slot behind the mask where the score may stand there', () => {
    const found = difference('token_rewards', args, { rewards: [[5, 0, 1, 0]] }, { rewards: [[6, 0, 0, 1]] });
    expect(found?.strips?.[0]?.marks).toEqual([2, 3]);
  });

  test('of a scorer count where a token is real and has one before it', () => {
    const scored = {
      attention_mask: [[0, 1, 1]],
      input_ids: [[0, 5, 6]],
      logits: [[[0], [0], [0]]],
      prompt_width: 1,
    };
    expect(
      difference('logprobs', scored, { logprobs: [[1, -1, -2]] }, { logprobs: [[2, -1, -2]] }),
    ).toBeUndefined();
    const found = difference('logprobs', scored, { logprobs: [[1, -1, -2]] }, { logprobs: [[1, -1, -3]] });
    expect(found?.sentence).toBe(
      'The numbers changed (logprobs): token 2 (id 6) of row 0 was -2, and is -3.',
    );
  });

  test('are the same where both are NaN, or the same infinity', () => {
    const rows = (...row: number[]) => ({ logprobs: [row] });
    expect(difference('sampling', {}, rows(NaN, -Infinity), rows(NaN, -Infinity))).toBeUndefined();
    expect(difference('sampling', {}, rows(0, -1), rows(0, -Infinity))).toBeDefined();
    expect(difference('sampling', {}, rows(0, -1), rows(0, NaN))).toBeDefined();
  });

  test('by name are told by name', () => {
    const found = difference('contract', {}, { executed: { sft: 1 } }, { executed: { sft: 1, rft: 1 } });
    expect(found?.sentence).toBe('The values changed (executed): executed.rft is answered now, and was not.');
  });
});

test('a field that is new or gone is told before anything else', () => {
  const mask = { completion_mask: [[0, 1]] };
  const args = { sequences: [[5, 6]] };
  expect(difference('mask', args, mask, { ...mask, truncated: [0] })?.sentence).toBe(
    'The values changed (truncated): truncated is answered now, and was not.',
  );
  expect(difference('mask', args, { ...mask, truncated: [0] }, mask)?.sentence).toBe(
    'The values changed (truncated): truncated is no longer answered.',
  );
});

describe('rows of ids side by side', () => {
  test('share as much as they can', () => {
    expect(aligned([1, 2, 3], [2, 3, 4])).toEqual([
      { before: 0, after: undefined },
      { before: 1, after: 0 },
      { before: 2, after: 1 },
      { before: undefined, after: 2 },
    ]);
    expect(aligned([1, 2, 3], [1, 9, 3])).toEqual([
      { before: 0, after: 0 },
      { before: 1, after: 1 },
      { before: 2, after: 2 },
    ]);
    expect(aligned([], [1])).toEqual([{ before: undefined, after: 0 }]);
  });

  test('of thousands of tokens are laid place by place', () => {
    const long = Array.from({ length: 5_000 }, (_, at) => at);
    expect(aligned(long, [7, ...long])).toHaveLength(5_001);
  });
});

test('a fingerprint is that of the content, not of the bytes', () => {
  expect(tokenizerPrint(familyFolder('qwen'))).toEqual(tokenizerPrint(`${familyFolder('qwen')}/`));
  expect(tokenizerPrint(familyFolder('qwen'))).not.toEqual(tokenizerPrint(familyFolder('phi')));
  expect(tokenizerPrint('/nowhere')).toBeUndefined();
});
