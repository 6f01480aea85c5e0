// Rows of a data set that was given: the labels of every legal convention fit what is expected of them, in whatever
// padding, cut and packing, and those of the usual mistakes do not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../../src/generators/text/conversation.ts';
import { dialogue } from '../../../src/generators/text/dialogue.ts';
import { anyContent, plainContent } from '../../../src/generators/text/text.ts';
import { longDialogue, toolDialogue } from '../../../src/generators/text/tool-dialogue.ts';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import { spansOf } from '../../../src/trace/spans/spans.ts';
import { writerOf } from '../../../src/view/writer.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';
import {
  chatLabels,
  contradictions,
  cut,
  type Labelled,
  labelled,
  type Padding,
  pack,
  padded,
  paddings,
  pairLabels,
  textLabels,
  withStops,
  worldOf,
} from './span-rows.ts';

const RUNS = { numRuns: 8 };

describe.each(Object.entries(familyFolders))('%s', (_, folder) => {
  const own = loaded(folder);
  const paddedBy = [own.padTokenId ?? 0, own.eosTokenId ?? 0].map(
    (padTokenId): Tokenizer => ({ ...own, padTokenId }),
  );
  const writer = writerOf(own, own.chatTemplate ?? '');
  const setting = fc
    .constantFrom(...paddedBy.map((t) => ({ ...t, [fc.toStringMethod]: () => `pad ${t.padTokenId}` })))
    .chain((tokenizer) =>
      fc.record({ tokenizer: fc.constant(tokenizer), padding: paddings([tokenizer.padTokenId ?? 0]) }),
    );

  const dialogues = fc
    .oneof(dialogue({ templates: false }), toolDialogue(), longDialogue())
    .map(({ messages }) => messages);
  const typed = conversation({ endsWith: 'assistant', content: anyContent(own), turns: { min: 1, max: 3 } });

  const fits = (
    row: Labelled | undefined,
    tokenizer: Tokenizer,
    padding: Padding,
    dataset: readonly unknown[],
  ): void => {
    if (row === undefined) return;
    const spans = spansOf(padded(row.ids, padding), worldOf(tokenizer, dataset));
    expect(spans.origin.kind).toBe('dataset');
    expect(contradictions(spans, labelled(row.trained, padding))).toEqual([]);
  };

  test('answers of a conversation, with what its users may have typed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(dialogues, typed), { minLength: 1, maxLength: 3 }),
        setting,
        fc.boolean(),
        (all, { tokenizer, padding }, further) => {
          for (const messages of all) {
            const row = chatLabels(writer, messages);
            fits(
              further && row !== undefined ? withStops(tokenizer, row) : row,
              tokenizer,
              padding,
              all.map((messages) => ({ messages })),
            );
          }
        },
      ),
      RUNS,
    );
  });

  test('prompt and completion, and preferences', () => {
    fc.assert(
      fc.property(
        fc.oneof(dialogues, typed),
        setting,
        fc.constantFrom('completion', 'preference'),
        fc.boolean(),
        fc.boolean(),
        (messages, { tokenizer, padding }, kind, apart, answersOnly) => {
          const at = messages.findLastIndex(({ role }) => role === 'assistant');
          const [prompt, answer] = [messages.slice(0, at), messages.slice(at)];
          if (prompt.length === 0) return;
          const row = pairLabels(writer, prompt, answer, { apart, answersOnly });
          const other = [{ role: 'assistant', content: 'other' }];
          fits(row, tokenizer, padding, [
            kind === 'completion'
              ? { prompt, completion: answer }
              : { prompt, chosen: other, rejected: answer },
          ]);
        },
      ),
      RUNS,
    );
  });

  test('prompt and completion as text', () => {
    fc.assert(
      fc.property(
        fc.tuple(plainContent(), plainContent()),
        setting,
        fc.record({ apart: fc.boolean(), eos: fc.boolean(), special: fc.boolean() }),
        ([prompt, completion], { tokenizer, padding }, how) => {
          if (
            completion.trim() === '' ||
            (!how.eos && padding.attention === 'ones' && padding.pad === tokenizer.eosTokenId)
          )
            return;
          fits(textLabels(tokenizer, prompt, completion, how), tokenizer, padding, [{ prompt, completion }]);
        },
      ),
      RUNS,
    );
  });

  test('cut, and packed', () => {
    fc.assert(
      fc.property(
        fc.array(dialogues, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.nat({ max: 40 }),
        fc.boolean(),
        (all, bos, lost, left) => {
          const rows = all.flatMap((messages) => chatLabels(writer, messages) ?? []);
          const row = cut(pack(own, rows, bos), lost, left && rows.length === 1);
          if (row.ids.length < 8) return;
          fits(
            row,
            own,
            { left: 0, right: 0, pad: 0, attention: 'mask' },
            all.map((messages) => ({ messages })),
          );
        },
      ),
      RUNS,
    );
  });
});
