// What a page may be given by trainers and libraries that nobody has seen: any text, any name, any number, any size; and
// browsers that refuse what a page would like to do.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Failure, PropertyResult } from '../../src/check/events.ts';
import type { Strip } from '../../src/check/property.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import type { Run } from '../../src/report/runs.ts';
import { HOSTILE } from '../report/html/page/hostile.ts';
import { failure, REPLAY, result, runStart } from '../report/results.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

test('text that tries to be more than text stays text', async () => {
  const results = HOSTILE.map((text, at) => {
    const [strip] = failure().finding?.strips ?? [];
    const strips = strip && [{ ...strip, tokens: strip.tokens.map((token) => ({ ...token, text })) }];
    return fails(`mask/hostile-${at}`, {
      given: { text },
      stderrTail: text,
      lines: [text],
      finding: { kind: text, sentence: text, note: text, ...(strips && { strips }) },
    });
  });
  const { page, requests, troubles } = await open(reportOf(results));
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

test('properties of a library may be called anything: links lead to them, filters find them', async () => {
  const ids = [
    'my stage/rule with spaces',
    'my-stage/rule-with-spaces',
    'ünï/cödé 規則',
    'q/a"b\'c`d',
    'h/a#b%20c',
    'p/100%',
    'main',
    'constructor',
    'x/<img src=x>',
  ];
  const { page, troubles } = await open(reportOf(ids.map((id) => fails(id))));
  const cards = page.locator('article.card');
  expect(await cards.count()).toBe(ids.length);
  await page.locator('#list > summary').click();
  for (const [at, id] of ids.entries()) {
    await page.locator('.index a').nth(at).click();
    const card = cards.nth(at);
    expect(await card.locator('h3 a').innerText()).toBe(id);
    await expect.poll(async () => Math.abs((await card.boundingBox())?.y ?? Number.NaN) < 900).toBe(true);
    expect(await page.evaluate(`location.hash !== ''`)).toBe(true);
  }
  await page.getByRole('searchbox').fill('規則');
  await expect.poll(() => page.locator('.told:visible').count()).toBe(1);
  expect(await twice(page)).toEqual([]);
  expect(troubles).toEqual([]);
});

test('an address that is none leaves the page as it is', async () => {
  const { page, troubles } = await open(reportOf([fails('mask/a')]), {}, '#100%');
  expect(await page.getByRole('searchbox').count()).toBe(1);
  expect(troubles).toEqual([]);
});

test.each([1280, 390])('names of any length and forty runs do not scroll sideways at %i', async (width) => {
  const names = ['<b>x</b>', 'a"b', '\u202eevil', 'x'.repeat(300), ...Array<string>(36).fill('again')];
  const runs = names.map((name, at) =>
    runOf([at % 3 === 0 ? result({ id: 'mask/a' }) : fails('mask/a', { caseId: String(at % 5) })], name),
  );
  const { page, troubles } = await open(htmlReport(runs), { viewport: { width, height: 800 } });
  const first = await page.locator('.told').first().boundingBox();
  expect(first?.y ?? Number.NaN).toBeLessThan(800);
  await unfold(page);
  expect(await widthOf(page)).toBeLessThanOrEqual(width);
  expect(await page.locator('.stage thead th').count()).toBe(2 + names.length);
  expect(await twice(page)).toEqual([]);
  expect(troubles).toEqual([]);
});

test('numbers that are none, paths that lead nowhere and steps without pictures are shown', async () => {
  const odd = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e300, 5e-324];
  const numbers = odd.map((observed, at) => ({
    where: `at ${at}`,
    expected: odd.at(at - 1) ?? 0,
    observed,
    allowed: at % 2 === 0 ? 0 : Number.NaN,
  }));
  const one = { characters: 0, sentence: '' };
  const { page, troubles } = await open(
    reportOf([
      fails('kl/numbers', { finding: { kind: 'k', sentence: 'long'.repeat(2_000), numbers } }),
      fails('kl/paths', { anyValue: [['no', 'where'], ['prompts', 0, 99], [], ['prompts']] }),
      fails('kl/one-step', { steps: [{ ...one, given: 1 }] }),
      fails('kl/two-steps', { steps: [one, one] }),
      fails('kl/huge', { given: Array.from({ length: 100_000 }, (_, at) => at) }),
      fails('kl/deep', { given: JSON.parse('['.repeat(300) + ']'.repeat(300)) }),
      fails('kl/little', { given: undefined, lines: [] }),
      result({ id: 'kl/nothing', verdict: 'fail' }),
    ]),
    { viewport: { width: 390, height: 800 } },
  );
  await unfold(page);
  expect(await page.locator('[id="kl/numbers"] .numbers').innerText()).toContain('-Infinity');
  expect(await page.locator('[id="kl/one-step"] input').count()).toBe(0);
  expect(await page.locator('[id="kl/two-steps"] .step:visible').count()).toBe(1);
  expect(await widthOf(page)).toBeLessThanOrEqual(390);
  expect(troubles).toEqual([]);
});

test('a row of 4,096 tokens shows both ends, and its first mismatch in view', async () => {
  const columns = Array.from({ length: 4_096 }, (_, at) => at);
  const long: Strip = {
    row: 0,
    tokens: columns.map((at) => ({ text: ` t${at}`, id: at, role: at < 3_000 ? 'prompt' : 'completion' })),
    tracks: [{ name: 'observed', cells: columns.map(String) }],
    marks: [3_000, 4_095],
  };
  const strips = [long, ...Array.from({ length: 60 }, (_, at) => ({ ...long, row: at + 1, marks: columns }))];
  const { page } = await open(
    reportOf([fails('mask/long', { finding: { kind: 'k', sentence: 'Long.', strips } })]),
  );
  const strip = page.locator('.strip').first();
  expect(await strip.locator('.marks .first, .marks .other').count()).toBe(2);
  const [outer, first] = await Promise.all([
    strip.boundingBox(),
    strip.locator('.marks .first').boundingBox(),
  ]);
  expect(first?.x ?? Number.NaN).toBeGreaterThan(outer?.x ?? Number.NaN);
  expect((first?.x ?? 0) + (first?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0));
  expect(Buffer.byteLength(await page.content())).toBeLessThan(1_000_000);
});

test('a trainer that printed 100 kB before it died has its last words on the page', async () => {
  const traceback = `${'  File "x.py", line 3, in f\n    return g(x)\n'.repeat(2_500)}ValueError: the end`;
  const died: PropertyResult = result({
    id: 'mask/a',
    verdict: 'error',
    failure: {
      ...failure(),
      trainerFailure: {
        kind: 'crash',
        message: 'The trainer ended.',
        advice: 'Read it.',
        stderrTail: traceback,
      },
    },
  });
  const document = reportOf([
    died,
    result({ id: 'mask/b', verdict: 'error', reason: 'the trainer is gone' }),
  ]);
  const { page } = await open(document);
  expect(await page.locator('article').innerText()).toContain('ValueError: the end');
  expect(Buffer.byteLength(document)).toBeLessThan(200_000);
});

test('a run of no properties, and no run, are said to be that', async () => {
  const none = await open(reportOf([]));
  expect(await none.page.locator('h1').innerText()).toMatch(/nothing ran|no propert|0 propert/i);
  const nothing = await open(htmlReport([]));
  expect(await nothing.page.locator('h1').innerText()).toBe('No run');
  expect([...none.troubles, ...nothing.troubles]).toEqual([]);
});

test('ten thousand failures are all listed, once, and found', async () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `mask/rule-${at}`);
  const document = reportOf(ids.map((id, at) => fails(id, { caseId: String(at) })));
  expect(Buffer.byteLength(document)).toBeLessThan(5_000_000);
  expect(document.split('<code>mask/rule-9999</code>')).toHaveLength(2);
  const { page, troubles } = await open(document);
  const said = page.locator('#shown');
  await page.getByRole('searchbox').fill('rule-9999');
  await said.filter({ hasText: '1 of 10000 shown' }).waitFor();
  expect(await page.locator('.index > li:visible').count()).toBe(1);
  await page.getByRole('searchbox').fill('s:fail level:must stage:mask');
  await said.filter({ hasText: '10000 of 10000 shown' }).waitFor();
  expect(troubles).toEqual([]);
});

test('a clipboard that refuses leaves the text selected, and says so', async () => {
  const { page, troubles } = await open(reportOf([fails('mask/a')]));
  await page.evaluate(`{
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;
  }`);
  const button = page.locator('button[data-copy]').first();
  await button.click();
  await expect.poll(() => button.innerText()).toBe('Selected');
  expect(await page.evaluate('getSelection().toString()')).toContain('npx lossproof replay');
  expect(troubles).toEqual([]);
});

test('the keyboard alone goes through the page, and sees where it is', async () => {
  const { page } = await open(reportOf([fails('mask/a')]), { viewport: { width: 640, height: 400 } });
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the report');
  expect((await page.locator('.skip').boundingBox())?.x ?? Number.NaN).toBeGreaterThanOrEqual(0);
  await page.keyboard.press('Enter');
  const seen: string[] = [];
  for (let at = 0; at < 12; at++) {
    await page.keyboard.press('Tab');
    seen.push(await focused(page));
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline, seen.at(-1)).not.toBe('none');
  }
  for (const stop of ['mask/a, row 1, picture 1', 'Copy: with the harness', 'About this rule'])
    expect(seen).toContain(stop);
  expect(seen.indexOf('Copy: with the harness')).toBeGreaterThan(seen.indexOf('mask/a, row 1, picture 1'));
});

test('with the colours of the system, a mismatch still has its frame and a pressed button its own', async () => {
  const { page } = await open(reportOf([fails('mask/a')]), { forcedColors: 'active' });
  const frame = await page.evaluate(
    `getComputedStyle(document.querySelector('.strip .text .first')).borderLeftStyle`,
  );
  expect(frame).toBe('solid');
  await page.getByRole('button', { name: 'fails 1' }).click();
  const outline = await page.evaluate(
    `getComputedStyle(document.querySelector('[aria-pressed=true]')).outlineStyle`,
  );
  expect(outline).not.toBe('none');
});

function fails(id: string, more: Partial<Failure> = {}): PropertyResult {
  return result({ id, verdict: 'fail', failure: failure({ caseId: id, ...more }) });
}

function runOf(results: readonly PropertyResult[], name = 'my-trainer'): Run {
  const start = runStart(results.map(({ id }) => id));
  if (start.type !== 'run-start') throw new Error('not a start');
  return {
    start: { ...start, replay: REPLAY, hello: { ...start.hello, name } },
    results,
    end: { type: 'run-end', interrupted: false, milliseconds: 1 },
  };
}

function reportOf(results: readonly PropertyResult[]): string {
  return htmlReport([runOf(results)]);
}

/** Ids and names of regions that are on the page more than once. */
function twice(page: Page): Promise<string[]> {
  return page.evaluate(`[
    [...document.querySelectorAll('[id]')].map((each) => each.id),
    [...document.querySelectorAll('[role=region]')].map((each) => each.ariaLabel),
  ].flatMap((names) => names.filter((name, at) => names.indexOf(name) !== at))`);
}

function focused(page: Page): Promise<string> {
  return page.evaluate(`document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()`);
}
