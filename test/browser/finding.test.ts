// A finding of many rows on the page of a run: its carpet tells each token, by pointer and by keys, and leads to the strips.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Strip } from '../../src/check/property.ts';
import { htmlFragment } from '../../src/report/html/run/fragment.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { runsOf } from '../../src/report/runs.ts';
import { failure, result, runStart } from '../report/results.ts';
import { open, useBrowser, widthOf } from './world.ts';

useBrowser();

const ROWS = 30;
const strips = Array.from(
  { length: ROWS },
  (_, row): Strip => ({
    row,
    tokens: [
      { id: 5, text: `Question<b>${row}`, role: 'prompt' },
      { id: 6, text: '\n', role: 'prompt' },
      { id: 7, text: 'Answer', role: 'completion' },
      { id: 2, text: '</s>', role: 'stop' },
      { id: 0, role: 'padding' },
    ],
    tracks: [
      { name: 'expected', cells: ['0', '0', '1', '1', '0'] },
      { name: 'observed', cells: ['0', '0', '1', row === 4 ? '0' : '1', '0'] },
    ],
    marks: row === 4 ? [3] : [],
  }),
);

const ID = 'mask/prompt-is-never-trained';
const runs = runsOf([
  runStart([ID]),
  {
    type: 'property-end',
    result: result({
      verdict: 'fail',
      failure: failure({ finding: { kind: 'k', sentence: 'The stop of row 4 is not trained.', strips } }),
    }),
  },
]);
const document = htmlReport(runs);

const now = (page: Page): Promise<string> => page.locator('.rows-carpet .carpet-now').innerText();

/** Over one token; moved twice, because what is kept is read when the pointer first comes. */
async function pointAt(page: Page, row: number, column: number): Promise<void> {
  const line = page.locator('.rows-carpet .row rect').nth(row);
  await line.scrollIntoViewIfNeeded();
  const box = await line.boundingBox();
  const cell = Number(await page.locator('.rows-carpet .carpet').getAttribute('data-cell'));
  if (box === null) throw new Error('the carpet has no row');
  const told = async (): Promise<string> => {
    await page.mouse.move(box.x + (column + 0.3) * cell, box.y + 1);
    await page.mouse.move(box.x + (column + 0.5) * cell, box.y + 2);
    return now(page);
  };
  await expect.poll(told).toContain(`row ${row} · column ${column}`);
}

test('tells the token under the pointer: what it is, what is expected of it, and what the trainer said', async () => {
  const { page, requests, troubles } = await open(document);
  await expect.poll(() => now(page)).toContain('Point at a token');
  await pointAt(page, 4, 3);
  expect(await now(page)).toBe('row 4 · column 3 · </s> · stop · expected 1 · observed 0 · mismatch');
  await pointAt(page, 29, 0);
  expect(await now(page)).toBe('row 29 · column 0 · Question<b>29 · prompt · expected 0 · observed 0');
  await pointAt(page, 0, 4);
  expect(await now(page)).toBe('row 0 · column 4 · 0 · padding · expected 0 · observed 0');
  expect([requests, troubles]).toEqual([[], []]);
});

test('goes from token to token by the arrow keys, and by Enter to the strip, which is unfolded', async () => {
  const { page, troubles } = await open(document);
  const carpet = page.locator('.rows-carpet .carpet');
  expect(await carpet.getAttribute('aria-label')).toMatch(/ arrow keys .* Enter goes to the row\.$/);
  await carpet.focus();
  await expect.poll(() => page.keyboard.press('Home').then(() => now(page))).toContain('row 0 · column 0');
  for (let at = 0; at < 7; at++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  expect(await now(page)).toContain('row 7 · column 1');
  expect(await page.locator(`[id="${ID}/picture-8"]`).isVisible()).toBe(false);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator(`[id="${ID}/picture-8"]`).isVisible()).toBe(true);
  expect(troubles).toEqual([]);
});

test('still tells where a page that follows a run has put another body in its place', async () => {
  const { page } = await open(document);
  await page.evaluate(`(() => {
    const main = document.querySelector('main');
    main.innerHTML = main.innerHTML.replace(/Point at[^<]*/, '');
    document.dispatchEvent(new Event('lossproof:body'));
  })()`);
  await expect.poll(() => now(page)).toContain('Point at a token');
  await pointAt(page, 5, 2);
  expect(await now(page)).toContain('Answer · completion');
});

test('promises nothing without a script, nor in a cell, which has none', async () => {
  const { page } = await open(document, { javaScriptEnabled: false });
  expect(await now(page)).toBe('');
  expect(await page.locator('.rows-carpet .carpet').getAttribute('aria-label')).not.toContain('arrow keys');
  expect(htmlFragment(runs)).not.toContain('data-kept');
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'has nothing that axe objects to while a token is told, and does not scroll sideways: %s, %i wide',
  async (colorScheme, width) => {
    const { page } = await open(document, { colorScheme, viewport: { width, height: 900 } });
    await pointAt(page, 4, 3);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
  },
);
