// The page of one failing run as people use it: from disk, with the mouse, the keyboard, a screen reader, on paper.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { GOLDEN } from '../../scripts/pictures/shots.ts';
import type { PropertyResult } from '../../src/check/events.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../src/report/runs.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const recorded = readEvents(readFileSync(join(GOLDEN, 'run.ndjson'), 'utf8'));
const runs = runsOf(recorded.events);
const report = htmlReport(runs);
const [run] = runs;
if (run === undefined) throw new Error('golden/report/run.ndjson holds no run');
const CARD = '[id="tokenize/stop-token-is-trained"]';

async function opened(options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const { page } = await open(report, options);
  return page;
}

describe('the page of a failing run', () => {
  test('opens from disk, asks for nothing, complains of nothing', async () => {
    const { page, requests, troubles } = await open(report);
    await page.waitForLoadState('networkidle');
    expect(await page.title()).toContain('my-trainer');
    expect(await page.locator('h1').innerText()).toMatch(/7 fail, 5 errors/);
    expect(requests).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('shows the failing token before anything is scrolled', async () => {
    const page = await opened({ viewport: { width: 1280, height: 800 } });
    const box = await page.locator(`${CARD} .strip .marks .first`).first().boundingBox();
    expect(box?.y ?? Number.NaN).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(800);
    expect(box?.x ?? Number.NaN).toBeLessThan(1280);
  });

  test('shows the first mismatch in view, with a heavier outline than anything else', async () => {
    const page = await opened();
    const mark = page.locator(`${CARD} td.first`).first();
    await mark.scrollIntoViewIfNeeded();
    expect(await page.locator(`${CARD} .first`).allInnerTexts()).toContain('<|eot_id|>');
    const [width, other] = await Promise.all([
      borderOf(page, `${CARD} td.first`),
      borderOf(page, `${CARD} .strip td:first-of-type`),
    ]);
    expect(width).toBeGreaterThan(other);
    const inView = await page.evaluate(`(() => {
      const strip = document.querySelector(${JSON.stringify(`${CARD} .strip`)});
      const [box, first] = [strip, strip.querySelector('.first')].map((each) => each.getBoundingClientRect());
      return first.left >= box.left && first.right <= box.right + 1;
    })()`);
    expect(inView).toBe(true);
  });

  test('has a slider that walks through the steps of shrinking', async () => {
    const page = await opened();
    await page.locator(`${CARD} details.steps > summary`).click();
    const slider = page.locator(`${CARD} input[type=range]`);
    const step = page.locator(`${CARD} .step:visible`);
    await expect.poll(() => step.count()).toBe(1);
    const last = await step.innerText();
    const said = await slider.getAttribute('aria-valuetext');
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await step.count()).toBe(1);
    expect(await step.innerText()).not.toBe(last);
    expect(await slider.getAttribute('aria-valuetext')).not.toBe(said);
    await page.keyboard.press('End');
    expect(await step.innerText()).toBe(last);
  });

  test('copies what the button stands beside', async () => {
    const page = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    const button = page.locator(`${CARD} button[data-copy]`).first();
    await button.click();
    await expect.poll(() => button.innerText()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^npx lossproof replay [0-9a-f]+$/);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('has nothing that axe objects to: %s, %i wide', async (colorScheme, width) => {
    const { page } = await open(htmlReport([fewOf(run)]), {
      colorScheme,
      viewport: { width, height: 900 },
    });
    await unfold(page);
    expect(await page.locator('.verdict').count()).toBeGreaterThan(KINDS.size);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });

  test.each([360, 768, 1280])('does not scroll sideways at %i', async (width) => {
    const page = await opened({ viewport: { width, height: 900 } });
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
  });

  test('reads without script, and has no control that does nothing', async () => {
    const page = await opened({ javaScriptEnabled: false });
    const text = await page.locator('main').innerText();
    expect(text).toContain('ends the last answer, but SFT does not train it');
    expect(text).toContain('npx lossproof replay');
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
  });

  test.each([
    ['without script', { javaScriptEnabled: false }],
    ['on paper', {}],
  ])('shows the first mismatch of a wide strip %s', async (how, options) => {
    const page = await opened({ ...options, viewport: { width: 794, height: 1123 } });
    if (how === 'on paper') await page.emulateMedia({ media: 'print' });
    const strip = page.locator(`${CARD} .strip.wide`).first();
    const [outer, first] = await Promise.all([
      strip.boundingBox(),
      strip.locator('.first').first().boundingBox(),
    ]);
    if (outer === null || first === null) throw new Error('nothing is shown');
    expect(first.x).toBeGreaterThanOrEqual(outer.x);
    expect(first.x + first.width).toBeLessThanOrEqual(outer.x + outer.width);
    expect(first.y + first.height).toBeLessThanOrEqual(outer.y + outer.height);
  });

  test('is small', () => {
    expect(recorded.problems).toEqual([]);
    expect(Buffer.byteLength(report)).toBeLessThan(1_000_000);
  });
});

/** One failure with tokens, one with numbers, an error, a known failure and a property of every other verdict. */
const KINDS: ReadonlySet<string> = new Set([
  'tokenize/stop-token-is-trained',
  'advantages/equal-the-declared-formula',
  'advantages/zero-mean-in-each-group',
  'advantages/same-twice',
  'kl/equals-the-estimator',
]);

/** The same kinds of elements as the whole page and few of each, because axe looks at every one. */
function fewOf({ start, results, ...rest }: Run): Run {
  const others = results.filter(({ id }) => !KINDS.has(id));
  const one = (verdict: string): PropertyResult[] =>
    others.filter((result) => result.verdict === verdict).slice(0, 1);
  const kept = [
    ...results.filter(({ id }) => KINDS.has(id)),
    ...['pass', 'skipped', 'unsupported'].flatMap(one),
  ];
  const ids = new Set(kept.map(({ id }) => id));
  return {
    ...rest,
    start: { ...start, properties: start.properties.filter(({ id }) => ids.has(id)) },
    results: kept,
  };
}

/** Of the widest side, in pixels. */
function borderOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(`(() => {
    const { borderLeftWidth, borderRightWidth } = getComputedStyle(document.querySelector(${JSON.stringify(selector)}));
    return Math.max(...[borderLeftWidth, borderRightWidth].map((width) => Number.parseFloat(width) || 0));
  })()`);
}
