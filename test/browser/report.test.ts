// The page of one failing run as people use it: from disk, with the mouse, the keyboard, a screen reader, on paper.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { GOLDEN } from '../../scripts/shots.ts';
import { htmlReport } from '../../src/report/html/report.ts';
import { readEvents } from '../../src/report/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { HOSTILE } from '../report/html/hostile.ts';
import { failure, result, runStart } from '../report/results.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const recorded = readEvents(readFileSync(join(GOLDEN, 'run.ndjson'), 'utf8'));
const report = htmlReport(runsOf(recorded.events));
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
    expect(await page.locator('h1').innerText()).toMatch(/6 fail, 5 errors/);
    expect(requests).toEqual([]);
    expect(troubles).toEqual([]);
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
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^npx trainproof replay [0-9a-f]+$/,
    );
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('has nothing that axe objects to: %s, %i wide', async (colorScheme, width) => {
    const page = await opened({ colorScheme, viewport: { width, height: 900 } });
    await unfold(page);
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
    expect(text).toContain('npx trainproof replay');
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
  });

  test('is small', () => {
    expect(recorded.problems).toEqual([]);
    expect(Buffer.byteLength(report)).toBeLessThan(1_000_000);
  });
});

test('text that tries to be more than text stays text', async () => {
  const results = HOSTILE.map((text, at) => {
    const found = failure();
    const [strip] = found.finding?.strips ?? [];
    return result({
      id: `mask/hostile-${at}`,
      verdict: 'fail',
      title: text,
      failure: failure({
        given: { text },
        stderrTail: text,
        lines: [text],
        finding: {
          kind: text,
          sentence: text,
          note: text,
          ...(strip === undefined
            ? {}
            : {
                strips: [{ ...strip, tokens: strip.tokens.map((token) => ({ ...token, text })) }],
              }),
        },
      }),
    });
  });
  const document = htmlReport([
    {
      start: runStart(results.map(({ id }) => id)) as never,
      results,
      end: { type: 'run-end', interrupted: false, milliseconds: 1 },
    },
  ]);
  const { page, requests, troubles } = await open(document);
  await unfold(page);
  expect(requests).toEqual([]);
  expect(troubles).toEqual([]);
  expect(await page.locator('article').count()).toBe(HOSTILE.length);
  expect(await page.locator('main script, main img, main style').count()).toBe(0);
  expect(await page.locator('[id="mask/hostile-0"] .strip').first().innerText()).toContain(
    '<script>alert(1)</script>',
  );
  expect(await widthOf(page)).toBeLessThanOrEqual(1280);
});

test('ten thousand failures can be opened and filtered', async () => {
  const results = Array.from({ length: 10_000 }, (_, at) =>
    result({ id: `mask/rule-${at}`, verdict: 'fail', failure: failure({ caseId: String(at) }) }),
  );
  const document = htmlReport([
    {
      start: runStart(results.map(({ id }) => id)) as never,
      results,
      end: { type: 'run-end', interrupted: false, milliseconds: 1 },
    },
  ]);
  const { page, troubles } = await open(document);
  await page.keyboard.press('/');
  await page.keyboard.type('rule-9999');
  await expect.poll(() => page.locator('.index > li:visible').count(), { timeout: 30_000 }).toBe(1);
  expect(troubles).toEqual([]);
});

/** Of the widest side, in pixels. */
function borderOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(`(() => {
    const { borderLeftWidth, borderRightWidth } = getComputedStyle(document.querySelector(${JSON.stringify(selector)}));
    return Math.max(...[borderLeftWidth, borderRightWidth].map((width) => Number.parseFloat(width) || 0));
  })()`);
}
