// What all rules about tokens have in common: what they need, how many findings are told, and where each is.
import { expect, test } from 'vitest';
import { ledgerProperties } from '../../../../properties/ledger/index.ts';
import { ledgerOf, type TrainedRowSketch } from '../../traced.ts';
import { CHAT, judge, tokenizer } from './rows.ts';

test('a ledger without trained rows supports none of the rules about tokens', () => {
  const ledger = ledgerOf({ rows: [{ ...CHAT, reached: false, trained: [] }], tokenizer: tokenizer() });
  const own = ledgerProperties.filter(({ id }) =>
    /^(mask|tokenize|trajectory|collate|trace\/.*target)/.test(id),
  );
  for (const property of own) expect(property.needs?.(ledger), property.id).toBeDefined();
});

test('of many findings the worst are told, and the others counted', () => {
  const rows = [1, 2, 1, 1, 1].map((wrong) => ({
    ...CHAT,
    at: { 1: 0.1, ...(wrong > 1 ? { 2: 0.1 } : {}) },
  }));
  const { findings, more, judged } = judge('tokenize/prompt-is-not-trained', { rows });
  expect(findings[0]?.sentence).toContain('row 1 ');
  expect([findings.length + more, judged]).toEqual([5, 5]);
  expect(more).toBeGreaterThan(0);
});

test('a place says the rank where there are several, and the forward pass where a step has more than one', () => {
  const sentence = (rows: readonly TrainedRowSketch[]) =>
    judge('tokenize/prompt-is-not-trained', { rows }).findings[0]?.sentence;
  const wrong = { ...CHAT, at: { 1: 0.1 }, row: 3, step: 1 };
  expect(sentence([wrong])).toContain('of step 1, row 3 and');
  expect(sentence([wrong, { ...CHAT, rank: 1, row: 0, step: 1 }])).toContain('step 1, row 3 of rank 0');
  expect(sentence([wrong, { ...CHAT, forward: 2, row: 0, step: 1 }])).toContain(
    'step 1, forward pass 1, row 3',
  );
});
