// The page that `trace --html` writes: from disk, on a narrow screen, on paper, without script, for who hears it.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { tracePage } from '../../src/report/html/trace/trace.ts';
import { tracedLedger, tracedRun } from '../report/traced-run.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const ledger = tracedLedger({ long: 700 });
const document = tracePage([tracedRun(ledger, true)], { ledger, unseen: ['Sampling is done by vLLM.'] });
/** Row 2 of the first step: its header is trained. */
const HEADER = '#row-0-0-2';
const color = (selector: string, property: string): string =>
  `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`;

describe('the page of a traced run', () => {
  test('opens from disk, asks for nothing, complains of nothing', async () => {
    const { page, requests, troubles } = await open(document);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('h1').innerText()).toContain('1 holds, 1 fails');
    expect(requests).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('frames what is wrong, and writes out a target that is another token', async () => {
    const { page } = await open(document);
    expect(await page.locator(`${HEADER} .wrong bdi`).allTextContents()).toEqual(['assistant', '⏎']);
    expect(await page.locator('#row-0-0-3 .wrong small').textContent()).toContain('c');
    expect(await page.locator('#row-0-0-0 .wrong').count()).toBe(0);
  });

  test('tells up from down, strong from weak and expected from not by more than colour', async () => {
    const { page } = await open(document);
    await page.locator('#row-0-1-0').scrollIntoViewIfNeeded();
    const image = (selector: string): Promise<string> => page.evaluate(color(selector, 'backgroundImage'));
    expect(await image('#row-0-1-0 b')).toContain('repeating-linear-gradient');
    expect(await image('#row-0-1-1 b')).toBe('none');
    const height = (selector: string): Promise<number> =>
      page.evaluate(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().height`);
    expect(await height('#row-0-0-2 .y b')).toBeGreaterThan(await height('#row-0-1-1 .y b'));
    expect(
      await page.evaluate(
        `getComputedStyle(document.querySelector('${HEADER} .y'), '::after').borderBottomStyle`,
      ),
    ).toBe('solid');
  });

  test('folds padding and the middle of a long prompt, and keeps every trained token of a long row', async () => {
    const { page } = await open(document);
    const long = page.locator('#row-0-2-0');
    expect(await long.locator('.fold').count()).toBeGreaterThan(0);
    expect(await long.locator('b').count()).toBeGreaterThan(2_000);
    expect(await page.locator('#row-0-0-1 .pads').innerText()).toBe('×6');
    expect(await page.evaluate(`document.querySelector('#row-0-2-0 .heat').clientHeight`)).toBeLessThan(500);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing, all unfolded, %s', async (colorScheme) => {
    const small = tracedLedger();
    const page = (
      await open(tracePage([tracedRun(small, true)], { ledger: small, unseen: ['No.'] }), { colorScheme })
    ).page;
    await unfold(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)])).toEqual([]);
  });

  test('is said run by run, and what is wrong token by token', async () => {
    const { page } = await open(document);
    const said = await page.locator(`${HEADER} .sr-only`).textContent();
    expect(said).toMatch(/completion, 2 tokens, trained: Hello!/);
    expect(said).toMatch(
      /Wrong: 28 · assistant · id \d+ · prompt · target: itself · weight 0.02 · should not be trained\./,
    );
  });

  test('does not scroll sideways at 360 pixels, all unfolded', async () => {
    const { page } = await open(document, { viewport: { width: 360, height: 740 } });
    await unfold(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(360);
  });

  test('is printed whole: no row scrolls on paper', async () => {
    const { page } = await open(document);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(color('div.heat', 'overflow'))).toBe('visible');
    expect(await page.evaluate(color('div.heat', 'maxHeight'))).toBe('none');
  });

  test('is read without script', async () => {
    const { page } = await open(document, { javaScriptEnabled: false });
    expect(await page.locator('#step-0').textContent()).toContain('Hello');
    expect(await page.locator('.carpet .cells .p5').count()).toBe(1);
    expect(await page.locator('.carpet a.row').first().getAttribute('href')).toBe('#row-0-0-0');
  });

  test('tells the token under the pointer, its target and its weight', async () => {
    const { page } = await open(document);
    await isRead(page);
    const box = await page.locator('.carpet a.row rect').nth(2).boundingBox();
    const cell = Number(await page.locator('.carpet').getAttribute('data-cell'));
    if (box === null) throw new Error('the carpet has no row');
    await page.mouse.move(box.x + 28.5 * cell, box.y + 1);
    expect(await page.locator('.carpet-now').innerText()).toBe(
      'step 0, forward pass 0, row 2 · column 28 · assistant · target: itself · weight 0.02 · should not be trained',
    );
    await page.mouse.move(box.x + 0.5 * cell, box.y + 1);
    expect(await page.locator('.carpet-now').innerText()).toMatch(/column 0 · .* · not trained/);
  });

  test('goes from token to token by the arrow keys, and to the row by Enter or a click', async () => {
    const { page } = await open(document);
    await isRead(page);
    const now = (): Promise<string> => page.locator('.carpet-now').innerText();
    await page.locator('.carpet').focus();
    await page.keyboard.press('ArrowDown');
    expect(await now()).toContain('row 0 · column 0');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    expect(await now()).toContain('row 1 · column 1 ·');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#row-0-0-1');
    const top = (): Promise<number> =>
      page.evaluate(`document.querySelector('${HEADER}').getBoundingClientRect().top`);
    const far = await top();
    await page.locator('.carpet').scrollIntoViewIfNeeded();
    await page.locator('.carpet a.row').nth(2).click();
    expect(new URL(page.url()).hash).toBe(HEADER);
    expect(await top()).toBeLessThan(Math.max(far, 800));
  });

  test('tells a token of a heat strip under the pointer and by the arrow keys, below the strip', async () => {
    const { page } = await open(document);
    const readout = page.locator(`${HEADER} .readout`);
    await page.locator(`${HEADER} .wrong`).first().hover();
    expect(await readout.innerText()).toMatch(
      /^28 · assistant · id \d+ · prompt · target: itself · weight 0.02/,
    );
    await page.keyboard.press('Tab');
    await page.locator(`${HEADER} .heat`).focus();
    await page.keyboard.press('ArrowRight');
    expect(await readout.innerText()).toContain('29 · ⏎');
    await page.keyboard.press('Home');
    expect(await readout.innerText()).toMatch(/^0 · .* · not trained · /);
    expect(await page.locator(`${HEADER} .c.here`).count()).toBe(1);
  });

  test('does not open with what is raw: the place is folded, and nobody calls anything with it', async () => {
    const { page } = await open(document);
    const card = page.locator('article.card').first();
    expect(await card.locator('pre:visible').count()).toBe(0);
    expect(await card.innerText()).not.toContain('as a Python literal');
    expect((await card.boundingBox())?.height ?? Number.NaN).toBeLessThan(600);
  });

  test('makes a row that the page has no room for, and finds rows by what is in them', async () => {
    const many = tracedLedger({ right: true });
    const rows = Array.from({ length: 80 }, (_, at) =>
      many.rows.map((row) => ({ ...row, forward: 10 * (at + 1) + row.step })),
    ).flat();
    const large = { ...many, rows: [...ledger.rows.slice(0, 4), ...rows] };
    const { page, troubles } = await open(
      tracePage([tracedRun(ledger, true)], { ledger: large, unseen: [] }),
    );
    await isRead(page);
    expect(await page.locator('#row-0-801-1').count()).toBe(0);
    await page.locator('.carpet').focus();
    await page.keyboard.press('End');
    for (let at = 0; at < 40; at++) await page.keyboard.press('PageDown');
    // The last one has weights of 0.
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const last = page.locator('.made-rows article').last();
    // It is made, then brought into view; what is out of view has no text yet (content-visibility).
    await expect.poll(() => last.locator('h3').innerText()).toContain('forward pass 801, row ');
    await expect.poll(() => last.locator('.run.on').first().innerText()).toContain('A');
    expect(await last.locator('i').last().getAttribute('title')).toMatch(/ · id \d+ · not trained/);
    await page.getByRole('searchbox').fill('is:wrong');
    await expect.poll(() => page.locator('#shown').innerText()).toContain('3 of 564 rows shown');
    expect(await page.locator('[data-row]:visible').count()).toBe(3);
    await page.getByRole('searchbox').fill('step:1 country');
    await expect.poll(() => page.locator('#shown').innerText()).toContain('160 of 564 rows shown');
    expect(await page.locator('[data-row]:visible').count()).toBe(50);
    expect(troubles).toEqual([]);
  });
});

/** The rows that are kept beside the carpet were read. */
async function isRead(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.carpet-now').innerText()).toContain('Point at');
}
