// The data sets of `npm run trace:patience`: twenty, each with rows in every form that a script reads, none longer than asked.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../scripts/trace-patience/ask.ts';
import { journalIn } from '../../scripts/trace-patience/journal.ts';

import { type Form, lengthOf, type Reads, readsOf } from '../../scripts/trace-patience/rows.ts';
import { LENGTHS, rowsOf, SETS } from '../../scripts/trace-patience/sets.ts';
import { tableOf } from '../../scripts/trace-patience/table.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';

const loaded = loadTokenizer(familyFolder('qwen'));
if ('problem' in loaded) throw new Error(loaded.problem);
const { tokenizer } = loaded;
const FORMS: readonly Form[] = ['chat', 'prompt-completion', 'preference', 'prompt', 'text'];
const all = (form: Form): Reads => ({ form, system: true, tools: true, turns: true });

test('they are twenty', () => {
  expect(new Set(SETS).size).toBe(20);
});

describe.each(FORMS)('in the form %s', (form) => {
  test.each(SETS)('%s has rows, as long as may be', (set) => {
    for (const most of LENGTHS) {
      const rows = rowsOf(set, { reads: all(form), tokenizer, seed: 1, most });
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        expect(lengthOf(row, tokenizer)).toBeLessThanOrEqual(most);
        // What was written is read again as what it is, but for tools beside a conversation.
        if (!('tools' in row)) expect(readsOf([row])?.form).toBe(form);
      }
    }
  });

  test('some rows fill the context exactly', () => {
    for (const most of LENGTHS) {
      const rows = rowsOf('rows of exactly the context length', {
        reads: all(form),
        tokenizer,
        seed: 1,
        most,
      });
      expect(rows.some((row) => lengthOf(row, tokenizer) === most)).toBe(true);
    }
  });
});

test('a script that knows no system, no tool and no second turn gets none', () => {
  const reads: Reads = { form: 'chat', system: false, tools: false, turns: false };
  const roles = SETS.flatMap((set) => rowsOf(set, { reads, tokenizer, seed: 2, most: 128 })).map((row) =>
    'messages' in row ? row.messages.map(({ role }) => role).join() : '',
  );
  expect(new Set(roles)).toEqual(new Set(['user,assistant']));
});

test('a seed draws and shuffles, and the same seed does it again', () => {
  const rows = (seed: number): string =>
    JSON.stringify(SETS.map((set) => rowsOf(set, { reads: all('chat'), tokenizer, seed, most: 256 })));
  expect(rows(3)).toBe(rows(3));
  expect(rows(3)).not.toBe(rows(4));
});

test('what was asked is remembered, the last answer of each', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patience '));
  const outcome: Outcome = {
    ...{ script: 's', set: 't', seed: 1, end: 'blamed', says: ['a/b: c'], rows: 3, most: 256, seconds: 1 },
    build: 'x',
  };
  const first = journalIn(folder, false);
  expect(first.find('s', 't', 1)).toBeUndefined();
  first.add(outcome);
  first.add({ ...outcome, end: 'right', says: [] });
  first.add({ ...outcome, seed: 2 });
  expect(journalIn(folder, false).find('s', 't', 1)?.end).toBe('right');
  expect(journalIn(folder, false).find('s', 't', 2)?.says).toEqual(['a/b: c']);
  expect(journalIn(folder, true).find('s', 't', 2)).toBeUndefined();
});

test('the table counts what was blamed, and what an older build said', () => {
  const outcome: Outcome = {
    ...{ script: 's', set: 't', seed: 1, end: 'blamed', says: ['a/b: c'], rows: 3, most: 256, seconds: 1 },
    build: 'x',
  };
  const table = tableOf([outcome, { ...outcome, set: 'u', end: 'right', says: [], build: 'y' }], 'x');
  expect(table).toContain('| s | 2 | 1 |  | 1 |');
  expect(table).toContain('1x a/b');
  expect(table).toMatch(/1 of 2 runs blamed; build x, 1 runs of an older one/);
});
