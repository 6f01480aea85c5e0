// Rows of which nothing is known but the template's marks; and that what is expected, by marks or by data, finds faults.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../../src/generators/text/conversation.ts';
import { dialogue } from '../../../src/generators/text/dialogue.ts';
import { anyContent } from '../../../src/generators/text/text.ts';
import { longDialogue, toolDialogue } from '../../../src/generators/text/tool-dialogue.ts';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import { writerOf } from '../../../src/view/writer.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';
import { chatLabels, contradictions, cut, labelled, padded, paddings, worldOf } from './span-rows.ts';

const RUNS = { numRuns: 10 };

describe.each(Object.entries(familyFolders))('%s', (_, folder) => {
  const own = loaded(folder);
  const paddedBy = [own.padTokenId ?? 0, own.eosTokenId ?? 0].map(
    (padTokenId): Tokenizer => ({ ...own, padTokenId }),
  );
  const writer = writerOf(own, own.chatTemplate ?? '');
  const setting = fc
    .constantFrom(...paddedBy)
    .chain((tokenizer) =>
      fc.record({ tokenizer: fc.constant(tokenizer), padding: paddings([tokenizer.padTokenId ?? 0]) }),
    );
  const dialogues = fc
    .oneof(dialogue({ templates: false }), toolDialogue(), longDialogue())
    .map(({ messages }) => messages);
  const NONE = { left: 0, right: 0, pad: 0, attention: 'mask' } as const;
  const shown = (spans: ReturnType<typeof spansOf>): string =>
    spans.expected.map((each) => (each === undefined ? '?' : each ? '1' : '0')).join('');

  test('marks of the template, where there is no data set', () => {
    fc.assert(
      fc.property(dialogues, setting, (messages, { tokenizer, padding }) => {
        const row = chatLabels(writer, messages);
        if (row === undefined || row.ids.length === 0) return;
        const world = spanWorldOf({ tokenizer, generations: [], trainOn: 'assistant' });
        const spans = spansOf(padded(row.ids, padding), world);
        expect(spans.origin.kind).toBe('template');
        expect(contradictions(spans, labelled(row.trained, padding))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('a turn that was typed into a text, which words stand behind, is expected of nobody', () => {
    const { assistant } = writer.openers;
    if (writer.stop === undefined || own.encode(assistant).length < 2) return;
    const world = spanWorldOf({ tokenizer: own, generations: [], trainOn: undefined });
    const expectedOf = (text: string): readonly (boolean | undefined)[] =>
      spansOf(padded(own.encode(text), NONE), world).expected;
    const turn = `${assistant}yes${writer.stop}`;
    // A prompt that is text, and its completion.
    expect(expectedOf(`${turn}\nno${writer.stop}`)).not.toContain(true);
    // The same turn, and nothing behind it: the template's own.
    expect(expectedOf(turn)).toContain(true);
  });

  test('what a user types can look like marks, and is not taken for an answer', () => {
    // A header of one token is typed as easily as the end of a turn: nothing in the ids tells the two apart.
    if (own.encode(writer.openers.assistant.trimEnd()).length < 2) return;
    const typed = conversation({
      endsWith: 'assistant',
      content: anyContent(own),
      turns: { min: 1, max: 3 },
    });
    fc.assert(
      fc.property(typed, (messages) => {
        const row = chatLabels(writer, messages);
        if (row === undefined) return;
        const world = spanWorldOf({ tokenizer: own, generations: [] });
        const header = own.encode(writer.openers.assistant.trimEnd());
        const closed = (text: string): boolean => {
          const ids = own.encode(text);
          return (
            ids.some((_, at) => header.every((id, index) => ids[at + index] === id)) ||
            ids.includes(own.tokenId(writer.stop ?? '') ?? -1) ||
            ids.includes(own.eosTokenId ?? -1) ||
            ids.includes(own.bosTokenId ?? -1)
          );
        };
        if (messages.filter(({ content }) => closed(content)).length > 1) return;
        expect(contradictions(spansOf(padded(row.ids, NONE), world), row.trained)).toEqual([]);
      }),
      RUNS,
    );
  });

  test('a row that is cut at its left begins in nobody’s turn', () => {
    fc.assert(
      fc.property(dialogues, fc.nat({ max: 12 }), (messages, lost) => {
        const row = chatLabels(writer, messages);
        if (row === undefined) return;
        const left = cut(row, lost, true);
        const spans = spansOf(padded(left.ids, NONE), spanWorldOf({ tokenizer: own, generations: [] }));
        expect(contradictions(spans, left.trained)).toEqual([]);
      }),
      RUNS,
    );
  });

  test('where all is meant to be trained, only padding is not', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ] as const;
    const row = chatLabels(writer, messages);
    const world = spanWorldOf({ tokenizer: own, generations: [], trainOn: 'all' });
    const spans = spansOf(padded(row?.ids ?? [], { ...NONE, right: 1, pad: own.padTokenId ?? 0 }), world);
    expect(shown(spans)).toMatch(/^\?+1+\?*0$/);
  });

  test('faults are found', () => {
    fc.assert(
      fc.property(
        dialogues.filter(
          (messages) => messages.at(-1)?.role === 'assistant' && /^\S/u.test(messages.at(-1)?.content ?? ''),
        ),
        fc.boolean(),
        (messages, given) => {
          const row = chatLabels(writer, messages);
          if (row === undefined) return;
          const padding = { left: 0, right: 2, pad: own.padTokenId ?? 0, attention: 'mask' as const };
          const world = given
            ? worldOf(own, [{ messages }])
            : spanWorldOf({ tokenizer: own, generations: [] });
          const spans = spansOf(padded(row.ids, padding), world);
          const wrong = (change: (at: number) => boolean) =>
            contradictions(
              spans,
              padded(row.ids, padding).ids.map((_, at) => change(at)),
            ).length;
          const is = (at: number) => row.trained[at] === true;
          expect(wrong((at) => is(at + 1))).toBeGreaterThan(0);
          expect(wrong((at) => at < row.ids.length)).toBeGreaterThan(0);
          expect(wrong(() => false)).toBeGreaterThan(0);
          expect(wrong((at) => is(at) && row.ids[at] !== own.tokenId(writer.stop ?? ''))).toBeGreaterThan(0);
          expect(wrong((at) => !is(at))).toBeGreaterThan(0);
          expect(wrong((at) => is(at - 1))).toBeGreaterThan(0);
        },
      ),
      RUNS,
    );
  });
});
