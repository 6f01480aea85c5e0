// The page that `twin --html` writes: from disk, on a narrow screen, on paper, without script, for who hears it.
import { expect, test } from 'vitest';
import { twinPage } from '../../src/report/html/twin/twin.ts';
import { HOSTILE } from '../report/html/page/hostile.ts';
import { hostileTwin, twinOf } from '../report/html/twin/twins.ts';
import { testPage } from './page.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const document = twinPage(
  twinOf(undefined, { notes: ['The runs changed files that were there before: out.txt.'] }),
);

testPage(document, 'checkpointing changed what is trained');

test('the first place is framed, and told from a difference of its size by more than colour', async () => {
  const { page } = await open(document);
  const first = page.locator('td.first');
  expect(await first.count()).toBe(1);
  expect(await first.innerText()).toContain('400');
  const style = (selector: string, property: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  expect(await style('td.first', 'outlineStyle')).toBe('solid');
  expect(await style('td.o2:not(.first)', 'outlineStyle')).toBe('none');
  expect(Number(await style('td.o2', 'fontWeight'))).toBeGreaterThan(
    Number(await style('td.d2', 'fontWeight')),
  );
});

test('is read without script: a table with headings for rows and columns', async () => {
  const { page } = await open(document, { javaScriptEnabled: false });
  const table = page.getByRole('region', { name: 'Differences by module and step: checkpointing' });
  expect(await table.getByRole('rowheader', { name: 'layers.1.mlp', exact: true }).count()).toBe(1);
  expect(await table.getByRole('columnheader').allInnerTexts()).toContain('step 1');
  expect(await page.locator('#change-repeat summary').innerText()).toContain('the same to the last bit');
});

test('is printed whole', async () => {
  const { page } = await open(document);
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.twin-picture')).overflow`)).toBe(
    'visible',
  );
});

test('text that tries to be more than text stays text', async () => {
  for (const text of HOSTILE) {
    const { page, requests, troubles } = await open(twinPage(hostileTwin(text)));
    await unfold(page);
    expect([...requests, ...troubles]).toEqual([]);
    expect(await page.locator('main script, main img, main style').count()).toBe(0);
    expect(await widthOf(page)).toBeLessThanOrEqual(1280);
  }
});
