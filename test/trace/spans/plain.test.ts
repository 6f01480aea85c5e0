// Plain text in which somebody wrote the marks of a chat is told from chats by the rows around it.
import { expect, test } from 'vitest';
import { familyFolder, loadTokenizer } from '../../../src/tokenizers/load.ts';
import type { LedgerRow } from '../../../src/trace/ledger.ts';
import { plainWherePlain } from '../../../src/trace/spans/plain.ts';
import { spansOf } from '../../../src/trace/spans/spans.ts';
import { ledgerOf } from '../traced.ts';
import { worldOf } from './span-rows.ts';

/** A row that is trained from `from` on. */
const row = (kind: 'text' | 'template', from: number): LedgerRow => {
  const ids = [5, 6, 7, 8, 9];
  const trained = [...ids.map((target, t) => (t < from ? undefined : { target, weight: 0.1 })), undefined];
  const [made] = ledgerOf({ rows: [{ ids, spans: { origin: { kind } as never } }] }).rows;
  if (made === undefined) throw new Error('no row');
  return { ...made, trained: trained as never };
};
const kinds = (rows: readonly LedgerRow[]): string[] =>
  plainWherePlain(rows).map(({ spans }) => spans.origin.kind);

test('a few rows with marks among more without, all trained whole, are text', () => {
  expect(kinds([row('text', 1), row('text', 1), row('template', 1)])).toEqual(['text', 'text', 'text']);
});

test('chats stay chats: as many as there is text, or where a part of any row is not trained', () => {
  expect(kinds([row('text', 1), row('template', 1)])).toEqual(['text', 'template']);
  expect(kinds([row('template', 1), row('template', 1)])).toEqual(['template', 'template']);
  expect(kinds([row('text', 1), row('text', 1), row('template', 3)])).toEqual(['text', 'text', 'template']);
  expect(kinds([row('text', 3), row('text', 1), row('template', 1)])).toEqual(['text', 'text', 'template']);
});

test('of packed rows the sequences are counted', () => {
  const packed = (chats: number, texts: number): LedgerRow => {
    const made = row('template', 1);
    return { ...made, spans: { ...made.spans, origin: { kind: 'template', sequences: { chats, texts } } } };
  };
  expect(kinds([packed(1, 2)])).toEqual(['text']);
  expect(kinds([packed(1, 1)])).toEqual(['template']);
  expect(kinds([packed(3, 1), row('text', 1), row('text', 1)])).toEqual(['template', 'text', 'text']);
});

test.each([
  ['one text of three holds a turn', ['Hello there.', 'A turn begins, and ends.'], false],
  ['half of the texts are conversations', ['Hello there.'], true],
  ['each text is a conversation', [], true],
])('of a data set: %s', (_, plain, isChat) => {
  const loaded = loadTokenizer(familyFolder('qwen'));
  if ('problem' in loaded) throw new Error(loaded.problem);
  const { tokenizer } = loaded;
  const turns = '<|im_start|>user\nGo on?<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n';
  const world = worldOf(
    tokenizer,
    [...plain, turns].map((text) => ({ text })),
  );
  const ids = tokenizer.encode(turns);
  // Packed: a sequence of the row, as its positions say, is an example.
  const first = tokenizer.encode(plain[0] ?? turns);
  const spans = spansOf(
    {
      ids: [...first, ...ids],
      real: [...first, ...ids].map(() => true),
      positions: [...first.keys(), ...ids.keys()],
      ...{ step: 0, rank: 0, forward: 0, row: 0, model: 0 },
    },
    world,
  );
  expect(spans.origin.kind).toBe('dataset');
  expect(spans.expected.slice(first.length).includes(false)).toBe(isChat);
});
