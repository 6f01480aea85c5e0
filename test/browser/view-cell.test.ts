// The masks of a data set in a cell of a notebook: the page of `view` in a frame of its own, which has no address to speak of.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { viewPage } from '../../src/report/html/view/view.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { scan } from '../../src/view/scan.ts';
import { writerOf } from '../../src/view/writer.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';
import { open, useBrowser, widthOf } from './world.ts';

useBrowser();

const tokenizer = loaded(familyFolders.qwen ?? '');
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
/** More rows than the page has room for, so that some are made when they are asked for. */
const view = scan(
  Array.from({ length: 70 }, (_, at) => ({
    number: at + 1,
    value: {
      messages: [
        { role: 'user', content: `Question ${at + 1}?` },
        { role: 'assistant', content: at === 2 ? '' : `Answer ${at + 1}.` },
      ],
    },
  })),
  { tokenizer, writer, truncationSide: 'right' },
  { most: 70 },
);

/** What Python shows of the page. */
const cell = execFileSync(
  'python3',
  [
    '-c',
    'import sys; from lossproof_door._viewed import View; print(View(1, "", sys.stdin.read())._repr_html_())',
  ],
  {
    encoding: 'utf8',
    input: viewPage(view, { of: ['data.jsonl'] }),
    env: { ...process.env, PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python'), PYTHONUTF8: '1' },
  },
);
const document = `<!doctype html><html lang="en"><title>A notebook</title><body style="margin:0"><p id="own">Words of the notebook</p>${cell}</body></html>`;

interface Notebook {
  readonly page: Page;
  readonly frame: FrameLocator;
  readonly troubles: readonly string[];
  readonly requests: readonly string[];
}

/** With the rows of the carpet read. */
async function opened(options: BrowserContextOptions = {}): Promise<Notebook> {
  const { page, troubles, requests } = await open(document, options);
  const frame = page.frameLocator('iframe');
  await frame.locator('.carpet-now', { hasText: 'Point at' }).waitFor();
  return { page, frame, troubles, requests: requests.filter((each) => each !== 'about:srcdoc') };
}

const addressIn = (page: Page): string => page.frames()[1]?.url() ?? '';

test('tells a token under the pointer, and a click on its line leads to the row, within the frame', async () => {
  const { page, frame, troubles, requests } = await opened();
  await frame.locator('.carpet').scrollIntoViewIfNeeded();
  const line = frame.locator('.carpet a.row').nth(4);
  await line.hover({ position: { x: 5, y: 2 } });
  expect(await frame.locator('.carpet-now').innerText()).toMatch(/^row 5 · column 0 · .* · not trained$/);
  await line.click();
  await expect.poll(() => addressIn(page)).toBe('about:srcdoc#row-5');
  await expect.poll(() => topOf(frame, '#row-5')).toBeLessThan(640);
  // The same again, from elsewhere.
  await frame.locator('.carpet').scrollIntoViewIfNeeded();
  await line.click();
  await expect.poll(() => topOf(frame, '#row-5')).toBeLessThan(640);
  // One that does not stand on the page is made.
  expect(await frame.locator('#row-70').count()).toBe(0);
  await frame.locator('.carpet').scrollIntoViewIfNeeded();
  await frame.locator('.carpet').focus();
  await page.keyboard.press('ArrowDown');
  for (let at = 0; at < 4; at++) await page.keyboard.press('PageDown');
  await page.keyboard.press('Enter');
  await frame.locator('#row-70').waitFor();
  expect(await page.locator('#own').count()).toBe(1);
  expect([troubles, requests]).toEqual([[], []]);
});

test('is filtered, and what was found leads to its row', async () => {
  const { page, frame, troubles, requests } = await opened();
  const box = frame.getByRole('searchbox');
  await box.fill('answer 61');
  expect(await frame.locator('#shown').innerText()).toBe('1 of 70 shown');
  expect(await frame.locator('article:visible h3').allTextContents()).toEqual(['row 61']);
  expect(addressIn(page)).toBe('about:srcdoc#filter=answer%2061');
  await box.press('Escape');
  expect(addressIn(page)).toBe('about:srcdoc');
  await frame.locator('section > p a').first().click();
  await expect.poll(() => addressIn(page)).toBe('about:srcdoc#row-3');
  await expect.poll(() => topOf(frame, '#row-3')).toBeLessThan(640);
  expect([troubles, requests]).toEqual([[], []]);
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'has nothing that axe objects to, and does not scroll sideways: %s, %i wide',
  async (colorScheme, width) => {
    const { page, frame, troubles } = await opened({ colorScheme, viewport: { width, height: 900 } });
    const { violations } = await new AxeBuilder({ page }).include('iframe').analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
    const wide = await frame.locator('html').evaluate((root) => [root.scrollWidth, root.clientWidth]);
    expect(wide[0]).toBeLessThanOrEqual(wide[1] ?? 0);
    expect(troubles).toEqual([]);
  },
);

function topOf(frame: FrameLocator, selector: string): Promise<number> {
  return frame.locator(selector).evaluate((each) => each.getBoundingClientRect().top);
}
