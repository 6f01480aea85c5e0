// The page that `view --html` writes: from disk, on a narrow screen, without script, for who hears it.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { viewPage } from '../../src/report/html/view/view.ts';
import { scan, type View, type ViewedRow } from '../../src/view/scan.ts';
import { writerOf } from '../../src/view/writer.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';
import { testPage } from './page.ts';
import { open, useBrowser } from './world.ts';

useBrowser();

const tokenizer = loaded(familyFolders.qwen ?? '');
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
const talk = (answer: string) => ({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi <b>you</b> 日本 שלום' },
    { role: 'assistant', content: answer },
  ],
});
const right = scan(
  [{ number: 1, value: talk('Yes.') }],
  { tokenizer, writer, truncationSide: 'right' },
  { most: 1 },
).kept[0]?.row;
const stop = right?.answers[0]?.stop ?? -1;
const unstopped = {
  input_ids: right?.ids,
  labels: right?.ids.map((id, at) => (right.trained[at] && at !== stop ? id : -100)),
};
const VALUES = [
  talk('Hello there!'),
  talk('word '.repeat(400) + 'x'.repeat(300)),
  talk('I say <|im_end|> myself.'),
  unstopped,
  talk(''),
  { chosen: talk('Yes.').messages, rejected: talk('No.').messages },
  { nothing: 'here' },
];
const view = scan(
  VALUES.map((value, at) => ({ number: at + 1, value })),
  { tokenizer, writer, truncationSide: 'right' },
  { most: 50 },
);
const document = viewPage(view, { of: ['data.jsonl', 'tokenizer qwen'] });

describe('the page of a data set', () => {
  testPage(document, '4 of 8 rows are flagged');

  test('marks the stop token that is not trained, and leads to its row', async () => {
    const { page } = await open(document);
    expect(await page.locator('#row-4 .flow mark').allInnerTexts()).toEqual(['<|im_end|>']);
    await page.locator('section', { hasText: 'stop-untrained' }).locator('a').first().click();
    expect(page.url()).toContain('#row-4');
  });

  test('shows what is trained by more than colour', async () => {
    const { page } = await open(document);
    const underline = (selector: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).borderBottomColor`);
    expect(await underline('#row-1 .run:not(.on) i')).toBe('rgba(0, 0, 0, 0)');
    expect(await underline('#row-1 .run.on i')).not.toBe('rgba(0, 0, 0, 0)');
  });

  test('is read without script', async () => {
    const { page } = await open(document, { javaScriptEnabled: false });
    expect(await page.locator('#row-1').textContent()).toContain('Hello');
    await page.locator('#row-4 summary').click();
    expect(await page.locator('#row-4 table').isVisible()).toBe(true);
  });

  test('has its rows as a carpet and as histograms, and tells the token under the pointer', async () => {
    const { page } = await open(document);
    await isRead(page);
    expect(await page.locator('.carpet .flag').count()).toBe(1);
    expect(await page.locator('.histogram svg').count()).toBe(2);
    expect(await page.locator('.histogram svg').first().getAttribute('aria-label')).toContain('1 row');
    await page.locator('.carpet').scrollIntoViewIfNeeded();
    const box = await page.locator('.carpet .row rect').nth(3).boundingBox();
    const cell = Number(await page.locator('.carpet').getAttribute('data-cell'));
    if (box === null) throw new Error('the carpet has no row');
    await page.mouse.move(box.x + (stop + 0.5) * cell, box.y + 2);
    expect(await page.locator('.carpet-now').innerText()).toBe(
      `row 4 · column ${stop} · <|im_end|> · stop · not trained · wrong`,
    );
  });

  test('is filtered by words, by flag, by length, and by a button for each flag', async () => {
    const { page } = await open(document);
    await isRead(page);
    const shown = (): Promise<string> => page.locator('#shown').innerText();
    const box = page.getByRole('searchbox');
    await box.fill('hello there');
    expect(await shown()).toBe('1 of 8 shown');
    expect(await page.locator('article:visible h3').allTextContents()).toEqual(['row 1']);
    await box.fill('tokens:>300');
    expect(await page.locator('article:visible h3').allTextContents()).toEqual(['row 2']);
    await box.fill('row:6 !yes');
    expect(await page.locator('article:visible h3').allTextContents()).toEqual(['row 6 (rejected)']);
    await page.getByRole('button', { name: '✗ stop-untrained 1' }).click();
    await box.fill('flag:stop-untrained');
    expect(await page.locator('article:visible h3').allTextContents()).toEqual(['row 4']);
    expect(await page.getByRole('button', { name: '✗ stop-untrained 1' }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await box.press('Escape');
    expect(await page.locator('article:visible').count()).toBe(8);
  });
});

describe('the page of ten thousand rows', () => {
  const many = viewPage(largeView(10_000), { of: ['large.jsonl'] });

  test('has as many elements as one of a hundred, but for its carpet', async () => {
    const nodes = async (text: string): Promise<number> => {
      const { page } = await open(text);
      await isRead(page);
      return page.evaluate("document.querySelectorAll('*').length");
    };
    const few = await nodes(viewPage(largeView(100), { of: ['small.jsonl'] }));
    expect(await nodes(many)).toBeLessThan(few + 3_000);
    expect(Buffer.byteLength(many)).toBeLessThan(2_000_000);
  });

  test('makes a row as it would stand there, where it is asked for by link, click, filter or button', async () => {
    const { page, requests, troubles } = await open(many, {}, '#row-7312');
    await isRead(page);
    const row = page.locator('#row-7312');
    await row.waitFor();
    expect((await row.boundingBox())?.y ?? Number.NaN).toBeLessThan(900);
    const whole = await open(viewPage(largeView(1, 7_312), { of: ['one'] }));
    const other = whole.page.locator('#row-7312');
    for (const part of ['.flow .run', '.flow i, .flow mark', '.sr-only', 'small', 'header'])
      expect(await row.locator(part).allTextContents(), part).toEqual(
        await other.locator(part).allTextContents(),
      );
    const faces = (each: typeof row): Promise<string[]> =>
      each.locator('.run').evaluateAll((all) => all.map(({ className }) => className));
    expect(await faces(row)).toEqual(await faces(other));

    await page.getByRole('searchbox').fill('WORD10002');
    await expect.poll(() => page.locator('#shown').innerText()).toBe('1 of 10000 shown');
    expect(await page.locator('article:visible h3').allTextContents()).toEqual(['row 10000']);
    await page.getByRole('searchbox').fill('');
    const more = page.getByRole('button', { name: /^Show 50 more of / });
    await more.waitFor();
    const before = await page.locator('article').count();
    await more.click();
    await expect.poll(() => page.locator('article').count()).toBeGreaterThan(before + 40);
    await page
      .locator('.carpet .cells')
      .nth(2)
      .click({ position: { x: 5, y: 11 } });
    await page.locator('#row-506').waitFor();
    expect([requests, troubles]).toEqual([[], []]);
  });

  test('reads without a script: what was found, the carpet, the first rows', async () => {
    const { page } = await open(many, { javaScriptEnabled: false });
    expect(await page.locator('.carpet .p5').count()).toBe(40);
    expect(await page.locator('article').count()).toBe(50);
    expect(await page.locator('input, button').count()).toBe(0);
  });
});

/** Rows of ids with labels, from row `first`; every hundredth lacks its stop. */
function largeView(count: number, first = 1): View {
  const words = Array.from({ length: 10_100 }, (_, at) => `word${at}`);
  const tokens = ['<s>', '</s>', '\n', ...words];
  const texts = (ids: readonly number[]): string[] => ids.map((id) => tokens[id]?.replace('\n', '⏎') ?? '');
  const kept = Array.from({ length: count }, (_, at): ViewedRow => {
    const row = first + at;
    const ids = [0, row + 3, 2, row + 4, row + 5, 1];
    const bad = row % 100 === 0;
    const columns = ids.map((_, column) => column);
    return {
      number: row,
      form: 'input_ids',
      texts: texts(ids),
      faults: bad ? [{ id: 'stop-untrained', sentence: 'The stop is not trained.', columns: [5] }] : [],
      row: {
        ids,
        trained: columns.map((column) => column > 2 && !(bad && column === 5)),
        roles: columns.map((column) => (column > 2 ? 'completion' : 'prompt')),
        turns: [],
        answers: [],
        said: [],
        straddles: [],
        real: { from: 0, to: 6 },
        lost: 0,
      },
    };
  });
  const flagged = kept.filter(({ faults }) => faults.length > 0);
  return {
    rows: count,
    flagged: flagged.length,
    unread: 0,
    tokens: 6 * count,
    trained: 3 * count,
    roles: [],
    sizes: { tokens: kept.map(() => 6), trained: kept.map(() => 3) },
    counts: [],
    assumed: [],
    kept: [...flagged, ...kept.filter((each) => !flagged.includes(each))],
  };
}

/** The rows that are kept beside the carpet were read. */
async function isRead(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.carpet-now').innerText()).toContain('Point at');
}
