// Rows of several sequences: where one ends is told by the positions, and what is cut off in the middle of one says nothing
// of the next.
import { expect, test } from 'vitest';
import type { RowIds } from '../../../src/trace/ledger.ts';
import { segmentsOf } from '../../../src/trace/spans/segments.ts';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import { tokenizerOf } from '../../torch/trace/verdicts/closed.ts';

const PLACE = { step: 0, rank: 0, forward: 0, row: 0, model: 0 };

function rowOf(
  ids: readonly number[],
  positions?: readonly number[],
  real: readonly boolean[] = ids.map(() => true),
): RowIds {
  return { ...PLACE, ids, real, ...(positions === undefined ? {} : { positions }) };
}

test.each<[string, readonly number[] | undefined, readonly boolean[] | undefined, readonly number[]]>([
  ['no positions', undefined, undefined, [6]],
  ['one sequence', [0, 1, 2, 3, 4, 5], undefined, [6]],
  ['two sequences', [0, 1, 2, 0, 1, 2], undefined, [3, 3]],
  ['padding at the left, at position 0', [0, 0, 0, 1, 2, 3], [false, false, true, true, true, true], [6]],
  ['padding at the right, at position 0', [0, 1, 2, 0, 0, 0], [true, true, true, false, false, false], [6]],
  ['positions that are all 0', [0, 0, 0, 0, 0, 0], undefined, [6]],
])('%s', (_, positions, real, lengths) => {
  const row = rowOf([1, 2, 3, 4, 5, 6], positions, real);
  expect(segmentsOf(row).map(({ ids }) => ids.length)).toEqual(lengths);
});

test('an answer that is cut off does not go on in the next sequence', () => {
  const tokenizer = tokenizerOf('qwen');
  const cut = tokenizer.encode('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello and');
  const next = tokenizer.encode('<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\nI<|im_end|>\n');
  const positions = [...cut.keys(), ...next.keys()];
  const row = rowOf([...cut, ...next], positions);
  const message = (role: string, content: string): object => ({ role, content });
  const dataset = [
    { number: 1, value: { messages: [message('user', 'Hi'), message('assistant', 'Hello and goodbye')] } },
    { number: 2, value: { messages: [message('user', 'Who?'), message('assistant', 'I')] } },
  ];
  for (const given of [undefined, dataset]) {
    const spans = spansOf(row, spanWorldOf({ tokenizer, generations: [], dataset: given }));
    expect(spans.roles).toHaveLength(row.ids.length);
    const expected = spans.expected.slice(cut.length, cut.length + 4);
    expect(
      expected.every((each) => each === false),
      String(given),
    ).toBe(true);
    expect(spans.completions.map(({ from }) => from >= cut.length)).toEqual([false, true]);
  }
});
