// The page that `gap --html` writes: from disk, on a narrow screen, in the dark, without script, for who hears it.
import { expect, test } from 'vitest';
import { gapPage } from '../../src/report/html/gap/gap.ts';
import { gapWith, hostileGap, PLANTED_PAGES, pageOf } from '../report/html/gap/gaps.ts';
import { HOSTILE } from '../report/html/page/hostile.ts';
import { testPage } from './page.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const document = gapPage(
  pageOf(gapWith(PLANTED_PAGES.cause), { textOf: (id) => `token ${id}`, notes: ['1 row left out.'] }),
);

testPage(document, 'shift explains');

test('the dots are seen, in another colour than the crosses and than the ground', async () => {
  const { page } = await open(document, { colorScheme: 'dark' });
  const stroke = (name: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('.gap-scatter .${name}')).stroke`);
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  expect(new Set([await stroke('dots'), await stroke('far'), ground]).size).toBe(3);
  const box = await page.locator('.gap-scatter .dots').boundingBox();
  expect(box?.width ?? 0).toBeGreaterThan(100);
});

test('is read without script: figures with a sentence, tables with headings', async () => {
  const { page } = await open(document, { javaScriptEnabled: false });
  expect(await page.getByRole('img', { name: /equal sides lie on the diagonal/i }).count()).toBe(1);
  const causes = page.getByRole('region', { name: 'All causes' });
  expect(await causes.getByRole('rowheader', { name: 'shift', exact: true }).count()).toBe(1);
});

test('text that tries to be more than text stays text', async () => {
  for (const text of HOSTILE) {
    const { page, requests, troubles } = await open(gapPage(hostileGap(text)));
    await unfold(page);
    expect([...requests, ...troubles]).toEqual([]);
    expect(await page.locator('main script, main img, main style').count()).toBe(0);
    expect(await widthOf(page)).toBeLessThanOrEqual(1280);
  }
});
