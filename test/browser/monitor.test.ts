// The page that `monitor --html` writes: from disk, on a narrow screen, on paper, for who hears it.
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { rankingOf } from '../../src/monitor/beside/ranking.ts';
import { viewsOf } from '../../src/monitor/view.ts';
import { monitorPage } from '../../src/report/html/monitor/monitor.ts';
import { runsOf } from '../../src/report/runs.ts';
import { eventsOf, finite, ledgerOf, limit, log, noBad } from '../monitor/logged.ts';
import { testPage } from './page.ts';
import { open, useBrowser } from './world.ts';

useBrowser();

const LONG =
  'a_name/that_nobody_would_think_of_and_that_has_no_place_to_break_train_grad_norm_of_the_policy_loss';

function pageOf(): string {
  const rules = [finite, limit('kl'), limit('reward'), limit('entropy'), noBad];
  const history = ledgerOf(rules);
  for (const [run, jump] of [
    ['runs/grpo ü', 60],
    ['runs/seed 2', 70],
    ['runs/calm', 0],
  ] as const) {
    const values = Array.from({ length: 90 }, (_, at) => (jump > 0 && at >= jump ? 40 : 1 + (at % 7) / 10));
    log(history, run, 'objective/kl', values);
    log(
      history,
      run,
      'train/reward',
      values.map((value) => Math.min(value, 2) / 10),
    );
    log(history, run, LONG, jump > 0 ? [0.5, Number.NaN, 0.4] : [0.5, 0.4]);
    for (let at = 0; at < 30; at++) log(history, run, `layer/${at}/norm`, [at]);
  }
  const healthy = ledgerOf([]);
  for (const [name, level] of [
    ['objective/kl', 1],
    ['train/reward', 0.15],
  ] as const)
    log(
      healthy,
      'runs/good',
      name,
      Array.from({ length: 80 }, (_, at) => level * (1 + (at % 5) / 10)),
    );
  history.sample({
    run: 'runs/calm',
    where: 'r.jsonl line 3',
    prompt: 'Say <it>',
    completion: 'one bad <b>word</b>',
    reward: 1,
  });
  history.complain('runs/calm/events.1: The record at byte 18,332 has a wrong checksum.');
  return monitorPage(runsOf(eventsOf(history, rules)), {
    files: 4,
    points: history.points(),
    samples: history.samples(),
    runs: viewsOf(history),
    baselines: viewsOf(healthy),
    ranking: rankingOf(history.runs(), healthy.runs()),
    unread: history.complaints(),
  });
}

const document = pageOf();

describe('the page of logs', () => {
  testPage(document, '5 rules: 1 holds, 3 fail, 1 unsupported');

  test('has for each failing rule the series of each run, what was allowed, and the first point that was not', async () => {
    const { page } = await open(document);
    const card = page.locator('[id="monitor/kl-limit"]');
    expect(await card.locator('.sentence').innerText()).toContain('objective/kl is 40 at step 61');
    expect(await card.locator('svg').count()).toBe(2);
    expect(await card.locator('svg .band').count()).toBe(2);
    expect(await card.locator('svg .violation').count()).toBe(2);
    expect(await card.locator('.advice').innerText()).toBe('What to do. Look at the data of that step.');
    expect(await card.locator('svg desc').first().textContent()).toContain('First violation at step 61.');
  });

  test('has the rollout that breaks a rule, with its text marked and none of it as markup', async () => {
    const { page } = await open(document);
    const card = page.locator('[id="monitor/no-bad-words"]');
    expect(await card.locator('.strip').first().innerText()).toContain('bad');
    expect(await page.locator('main b', { hasText: /^word$/ }).count()).toBe(0);
  });

  test('draws every series with a role, and leads from one that is wrong to what is wrong with it', async () => {
    const { page } = await open(document);
    const section = page.locator('#run-logged-1');
    expect(await section.locator('.plot').count()).toBe(3);
    const link = section.locator('.plot.wrong a').first();
    expect(await link.getAttribute('href')).toBe('#monitor/kl-limit');
    await link.click();
    expect(await page.locator('[id="monitor/kl-limit"]').count()).toBe(1);
    expect(await page.locator('#run-logged-3 .plot.wrong').count()).toBe(0);
  });

  test('keeps letters of a size that can be read, in small plots and on a small screen', async () => {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 800 },
    ]) {
      const { page } = await open(document, { viewport });
      for (const place of ['.plots', '.logged']) {
        const pixels = await page.evaluate<number>(`(() => {
          const svg = document.querySelector('${place} svg');
          const size = parseFloat(getComputedStyle(svg.querySelector('.ticks text')).fontSize);
          return (size * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width;
        })()`);
        expect(pixels, `${place} at ${viewport.width}`).toBeGreaterThan(8.5);
      }
    }
  });

  test('is printed with its plots, and without what is a table of figures', async () => {
    const { page } = await open(document);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#run-logged-1 .plot').first().isVisible()).toBe(true);
  });

  test('has the runs in one table and their series in one plot each, healthy ones dashed', async () => {
    const { page } = await open(document);
    const section = page.locator('section.beside');
    expect(await section.locator('tbody tr').count()).toBe(4);
    expect(await section.locator('tbody tr', { hasText: 'runs/good' }).innerText()).toContain('baseline');
    const plot = section.locator('.plot', { hasText: 'objective/kl' });
    expect(await plot.locator('.drawn .curve').count()).toBe(4);
    const legend = await plot.locator('.legend li').allInnerTexts();
    expect(legend.map((each) => each.trim())).toEqual([
      'runs/grpo ü',
      'runs/seed 2',
      'runs/calm',
      'runs/good (baseline)',
    ]);
    expect(await plot.locator('.violation').count()).toBe(2);
    const dashes = await page.evaluate(
      "getComputedStyle(document.querySelector('section.beside .drawn .healthy .line')).strokeDasharray",
    );
    expect(dashes).not.toBe('none');
  });

  test('tells under the pointer the step and the values of each run', async () => {
    const { page } = await open(document);
    const plot = page.locator('section.beside .plot', { hasText: 'objective/kl' });
    const frame = await frameOf(plot.locator('svg[data-frame]'));
    await page.mouse.move(frame.right - 1, frame.middle);
    expect(await plot.locator('.readout').innerText()).toBe(
      'step 90: runs/grpo ü 40 · runs/seed 2 40 · runs/calm 1.5 · runs/good 1.4 (step 80)',
    );
    await page.mouse.move(frame.left + 1, frame.middle);
    expect(await plot.locator('.readout').innerText()).toContain('step 1: runs/grpo ü 1 · runs/seed 2 1');
    await page.mouse.move(1, 1);
    expect(await plot.locator('.readout').innerText()).toBe('');
  });

  test('zooms where it is dragged over, and back by a double click', async () => {
    const { page, troubles } = await open(document);
    const plot = page.locator('#run-logged-1 .plot').first();
    const svg = plot.locator('svg[data-frame]');
    const before = await plot.locator('polyline').getAttribute('points');
    const frame = await frameOf(svg);
    const across = (share: number): number => frame.left + share * (frame.right - frame.left);
    await page.mouse.move(across(0.6), frame.middle);
    await page.mouse.down();
    await page.mouse.move(across(0.7), frame.middle);
    await page.mouse.up();
    const ticks = (await plot.locator('.zoomed text').allTextContents()).map(Number);
    expect(Math.max(...ticks.slice(-4))).toBeGreaterThan(53);
    expect(Math.max(...ticks.slice(-4))).toBeLessThan(64);
    expect(await plot.locator('polyline').getAttribute('points')).not.toBe(before);
    expect(await plot.locator('.mark').getAttribute('transform')).toMatch(/^translate/);
    expect(await plot.locator('.readout').innerText()).toContain('shows all');
    await svg.dblclick();
    expect(await plot.locator('.zoomed text').count()).toBe(0);
    expect(await plot.locator('.mark').getAttribute('transform')).toBeNull();
    expect(troubles).toEqual([]);
  });

  test('is filtered by the name of a series, by run and by what is wrong, in plots and in tables', async () => {
    const { page } = await open(document);
    const shown = page.locator('#shown');
    const box = page.getByRole('searchbox', { name: 'Filter properties and series' });
    await box.fill('objective/kl');
    expect(await shown.innerText()).toBe('1 of 5 properties, 4 of 102 series shown');
    const plots = page.locator('[data-item=series]:visible h4, [data-item=series]:visible h3');
    expect((await plots.allInnerTexts()).map((each) => each.replace('✗ ', ''))).toEqual(
      Array(4).fill('objective/kl'),
    );
    await box.fill('layer/7/');
    expect(await page.locator('tr[data-item=series]:visible').count()).toBe(3);
    expect(await page.locator('.runs-logged > details:visible').count()).toBe(3);
    await box.fill('layer run:runs/calm');
    expect(await page.locator('.runs-logged > details:visible').count()).toBe(1);
    await page.getByRole('button', { name: /fails \d/ }).click();
    await box.fill('s:fail');
    expect(await page.locator('.plot:visible').count()).toBe(await page.locator('.plot.wrong').count());
    await box.fill('');
    expect(await page.locator('[data-item=series][hidden]').count()).toBe(0);
  });

  test('is explored by keys alone', async () => {
    const { page } = await open(document);
    const plot = page.locator('#run-logged-1 .plot').first();
    await plot.locator('svg[data-frame]').focus();
    expect(await plot.locator('.readout').innerText()).toContain('Left and right');
    await page.keyboard.press('End');
    expect(await plot.locator('.readout').innerText()).toBe('step 90: 40');
    await page.keyboard.press('ArrowLeft');
    expect(await plot.locator('.readout').innerText()).toContain('step 89: ');
    await page.keyboard.press('+');
    expect(await plot.locator('.zoomed text').count()).toBeGreaterThan(0);
    await page.keyboard.press('0');
    expect(await plot.locator('.zoomed text').count()).toBe(0);
  });

  test('reads the same without a script', async () => {
    const { page } = await open(document, { javaScriptEnabled: false });
    const plot = page.locator('section.beside .plot', { hasText: 'objective/kl' });
    expect(await plot.locator('polyline').count()).toBe(4);
    expect(await page.locator('.readout').count()).toBe(0);
    expect(await page.locator('[tabindex="0"] svg, svg[tabindex]').count()).toBe(0);
  });
});

/** Where a plot lies on the screen, in pixels. */
async function frameOf(svg: Locator): Promise<{ left: number; right: number; middle: number }> {
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  const [left = 0, top = 0, right = 0, bottom = 0] = ((await svg.getAttribute('data-frame')) ?? '')
    .split(' ')
    .map(Number);
  const width = Number((await svg.getAttribute('viewBox'))?.split(' ')[2]);
  const scale = (box?.width ?? 0) / width;
  const at = (x: number): number => (box?.x ?? 0) + x * scale;
  return { left: at(left), right: at(right), middle: (box?.y ?? 0) + ((top + bottom) / 2) * scale };
}
