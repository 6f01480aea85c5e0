// Rows that a script sampled itself, known by their ids alone.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Generation } from '../../../src/trace/ledger.ts';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import type { Ids } from '../../../src/vocabulary.ts';
import { contradictions, labelled, padded, paddings } from './span-rows.ts';

const PAD = 0;
const STOP = 1;
const NONE = { left: 0, right: 0, pad: PAD, attention: 'mask' } as const;

const generation = (promptIds: Ids, completionIds: Ids, call = 0): Generation => ({
  rank: 0,
  step: 0,
  model: 0,
  call,
  row: 0,
  promptIds,
  completionIds,
  stopped: completionIds.at(-1) === STOP,
  eosTokenIds: [STOP],
  temperature: 1,
});

const ids = (minLength: number) =>
  fc.array(fc.integer({ min: 2, max: 9 }), { minLength, maxLength: 6, size: 'max' });
const sampled = fc
  .record({ prompt: ids(1), body: ids(0), stopped: fc.boolean() })
  .map(({ prompt, body, stopped }) => {
    const completion = stopped ? [...body, STOP] : [...body, 9];
    return generation(prompt, completion);
  });
const shown = (spans: ReturnType<typeof spansOf>): string =>
  spans.expected.map((each) => (each === undefined ? '?' : each ? '1' : '0')).join('');

describe('a prompt and what was sampled behind it', () => {
  test('is recognised in any padding, and all that was sampled may be trained', () => {
    fc.assert(
      fc.property(
        fc.array(sampled, { minLength: 1, maxLength: 6 }),
        paddings([PAD, STOP]),
        (generations, padding) => {
          const world = spanWorldOf({ generations });
          for (const { promptIds, completionIds } of generations) {
            const row = padded([...promptIds, ...completionIds], padding);
            const spans = spansOf(row, world);
            if (padding.attention === 'ones' && padding.left > 0) continue;
            expect(spans.origin.kind).toBe('generation');
            const trained = [...promptIds.map(() => false), ...completionIds.map(() => true)];
            expect(contradictions(spans, labelled(trained, padding))).toEqual([]);
          }
        },
      ),
    );
  });

  test('prompt, body, stop token and what follows it are told apart', () => {
    const world = spanWorldOf({ generations: [generation([5, 6], [7, 8, STOP])] });
    const spans = spansOf(padded([5, 6, 7, 8, STOP, 4, 4], { ...NONE, right: 1 }), world);
    expect(spans.roles).toEqual([
      'prompt',
      'prompt',
      'completion',
      'completion',
      'stop',
      'after stop',
      'after stop',
      'padding',
    ]);
    expect(shown(spans)).toBe('00111000');
    expect(spans.completions).toEqual([{ from: 2, to: 5, stop: 4 }]);
  });

  test('a completion that reached the limit may be left out, and one that the trainer cut as well', () => {
    const world = spanWorldOf({
      generations: [generation([5, 6], [7, 8]), generation([5, 6], [3, 3, STOP])],
    });
    expect(shown(spansOf(padded([5, 6, 7, 8], { ...NONE, right: 1 }), world))).toBe('00??0');
    expect(shown(spansOf(padded([5, 6, 3, 3], NONE), world))).toBe('00??');
  });

  test('of a prompt that was cut the end is enough', () => {
    const world = spanWorldOf({ generations: [generation([5, 6, 7, 8], [3, 4, STOP])] });
    const spans = spansOf(padded([7, 8, 3, 4, STOP], NONE), world);
    expect(shown(spans)).toBe('00111');
  });

  test('a stop token with the padding’s id is the completion’s, by mask or without', () => {
    const world = spanWorldOf({ generations: [generation([5, 6], [7, STOP])] });
    for (const attention of ['mask', 'none'] as const)
      expect(
        shown(spansOf(padded([5, 6, 7, STOP], { left: 0, right: 2, pad: STOP, attention }), world)),
      ).toBe('001100');
    // The mask was made of ids that are not the padding's.
    const row = padded([5, 6, 7], { left: 0, right: 3, pad: STOP, attention: 'mask' });
    expect(shown(spansOf(row, world))).toBe('001100');
  });

  test('calls of one conversation follow each other, and what was put between is a tool’s', () => {
    const first = generation([5, 6], [7, STOP]);
    const second = generation([5, 6, 7, STOP, 4, 4], [8, STOP], 1);
    const spans = spansOf(
      padded([5, 6, 7, STOP, 4, 4, 8, STOP], NONE),
      spanWorldOf({ generations: [first, second] }),
    );
    expect(shown(spans)).toBe('00110011');
    expect(spans.roles.slice(4, 6)).toEqual(['tool', 'tool']);
    expect(spans.origin).toEqual({ kind: 'generation', generations: [0, 1] });
  });

  test('of an earlier turn that was written anew nothing is expected', () => {
    const first = generation([5, 6], [7, 9, STOP]);
    const second = generation([5, 6, 7, STOP, 4], [8, STOP], 1);
    const spans = spansOf(
      padded([5, 6, 7, STOP, 4, 8, STOP], NONE),
      spanWorldOf({ generations: [first, second] }),
    );
    expect(shown(spans)).toBe('00???11');
  });

  test('several in one row', () => {
    const world = spanWorldOf({ generations: [generation([5, 6], [7, STOP]), generation([4], [3, 3])] });
    expect(shown(spansOf(padded([5, 6, 7, STOP, 4, 3, 3, 5, 6, 7, STOP], NONE), world))).toBe('00110??0011');
  });

  test('a text that only begins like what was sampled is none of it', () => {
    const world = spanWorldOf({ generations: [generation([5, 6], [7, 8])] });
    expect(spansOf(padded([5, 6, 7, 8, 9, 3, 4], NONE), world).origin.kind).toBe('unknown');
    expect(spansOf(padded([5, 6], NONE), world).origin.kind).toBe('unknown');
  });

  test('what the attention mask hides between two tokens stands in the row all the same', () => {
    const world = spanWorldOf({ generations: [generation([5, STOP, 6], [7, 8, STOP])] });
    const ids = [5, STOP, 6, 7, 8, STOP, STOP];
    // A mask of ids that are not the stop's, which is the padding's too.
    const attention = ids.map((id) => (id === STOP ? 0 : 1));
    const spans = spansOf(
      { ...padded(ids, NONE), attention, real: attention.map((each) => each === 1) },
      world,
    );
    expect(shown(spans)).toBe('0001110');
    expect(spans.completions).toEqual([{ from: 3, to: 6, stop: 5 }]);
  });

  test('a completion that lost its special tokens on the way is the same completion', () => {
    const world = spanWorldOf({ generations: [generation([5, 6], [7, 8, 9, STOP])] });
    const spans = spansOf(padded([5, 6, 7, 8, 9], { ...NONE, right: 2 }), world);
    expect(spans.origin.kind).toBe('generation');
    expect(spans.completions).toEqual([{ from: 2, to: 5 }]);
  });

  test('where drawn and given tokens cannot be told apart, either is right', () => {
    const unsure = { ...generation([5, 6, 4], [7, 8, 9, STOP]), unsure: { before: 1, behind: 2 } };
    const spans = spansOf(padded([5, 6, 4, 7, 8, 9, STOP], NONE), spanWorldOf({ generations: [unsure] }));
    expect(shown(spans)).toBe('00???11');
    expect(spans.completions).toEqual([{ from: 5, to: 7, stop: 6 }]);
  });

  test('one token more may stand behind what was drawn unseen', () => {
    const open = { ...generation([5, 6], [7, 8]), open: true };
    const world = spanWorldOf({ generations: [open] });
    expect(shown(spansOf(padded([5, 6, 7, 8, 4], NONE), world))).toBe('00???');
    expect(spansOf(padded([5, 6, 7, 8, 4, 3], NONE), world).origin.kind).toBe('unknown');
  });
});
