// The page of a run of `mutate`: what survives with its lines, and nothing of them that acts.
import { expect, test } from 'vitest';
import { mutatePage } from '../../../../src/report/html/mutate/mutate.ts';
import { mutateLines, scoreLine } from '../../../../src/report/mutate/mutate.ts';
import { PLAIN } from '../../../../src/report/text/paint.ts';
import { MUTATION } from './mutation.ts';

test('the score, the survivors, the functions that no op reaches', () => {
  expect(scoreLine(MUTATION)).toBe(
    '4 changes: 1 found (1 by an error), 1 in code that no op reaches, 1 survives, 1 not yet tried',
  );
  const text = mutateLines(MUTATION, { width: 100, paint: PLAIN }).join('\n');
  expect(text).toContain('Not asked of this adapter: op `loss` does not offer micro_batches.');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'entropy_of: 1 change. By its name, op `entropy` would reach it',
  );
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u202e');
});

test('the page shows them, and runs nothing of them', () => {
  const page = mutatePage(MUTATION);
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('\u001b');
  expect(page).toContain('id="change-a"');
  expect(page).toContain('LOSS-11');
  expect(page).toContain('<code>loss/y</code> by an error');
  expect(page.match(/data-item="change"/g)).toHaveLength(5);
});
