// The site of the documentation as a reader has it: opened from disk, wide and narrow, light and dark, by mouse and keys.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildSite } from '../../scripts/site/build.ts';
import { opNames } from '../../scripts/site/op-facts.ts';
import { explained } from '../../scripts/site/property-page.ts';
import { bugs } from '../../src/bugs/index.ts';
import { theBrowser, useBrowser, widthOf } from './world.ts';

useBrowser();

const { pages, files } = buildSite();
const folder = mkdtempSync(join(tmpdir(), 'loss proof site ü '));
beforeAll(() => {
  for (const [path, content] of [...pages, ...files]) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PHONE = { viewport: { width: 390, height: 844 } };
/** A page of each kind. */
const KINDS = [
  'index.html',
  'README.zh.html',
  'docs/start.html',
  'docs/monitor.html',
  'docs/ops.html',
  'docs/ops/mask.html',
  'docs/properties/mask/prompt-is-never-trained.html',
  'docs/properties/monitor/finite-training.html',
];

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await theBrowser().newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) troubles.push(`asked for ${request.url()}`);
  });
  onTestFinished(() => expect(troubles).toEqual([]));
  await page.goto(`${pathToFileURL(folder).href}/${path}`);
  return page;
}

const results = '#site-found a';

async function type(page: Page, query: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(query);
  await page.locator('#site-found p:not(:empty)').waitFor();
}

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  test.each(KINDS)('%s has nothing that axe complains about', async (path) => {
    const page = await open(path, { colorScheme });
    expect(await complaints(page)).toEqual([]);
  });

  test.each([390, 1280])('the search with its results, and the menu, %i pixels wide', async (width) => {
    const page = await open('docs/ops/mask.html', { colorScheme, viewport: { width, height: 844 } });
    await type(page, 'prompt');
    expect(await page.locator(results).count()).toBeGreaterThan(10);
    expect(await complaints(page)).toEqual([]);
    expect(await widthOf(page)).toBe(width);
    await page.keyboard.press('Escape');
    if (width !== PHONE.viewport.width) return;
    await page.getByRole('button', { name: 'Pages' }).click();
    expect(await page.locator('nav').getByRole('link', { name: 'Glossary' }).isVisible()).toBe(true);
    expect(await complaints(page)).toEqual([]);
  });
});

/** Nothing is fetched for it: a page from disk may not be. */
async function complaints(page: Page): Promise<unknown[]> {
  const { violations } = await new AxeBuilder({ page }).options({ preload: false }).analyze();
  return violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]);
}

/** Pages of properties are hundreds of one make: of them every twelfth, and the one with the longest name. */
const EVERY = 12;
const propertyPages = [...pages.keys()].filter((path) => path.startsWith('docs/properties/'));
const longest = propertyPages.reduce((one, other) => (other.length > one.length ? other : one), '');
const sampled = [...propertyPages.filter((_, at) => at % EVERY === 0), longest];

test('at 390 pixels no page scrolls sideways, and no code on it', { timeout: 600_000 }, async () => {
  const page = await open('index.html', PHONE);
  const others = [...pages.keys()].filter((path) => !propertyPages.includes(path));
  expect(sampled.length).toBeGreaterThan(20);
  for (const path of new Set([...KINDS, ...others, ...sampled])) {
    await page.goto(`${pathToFileURL(folder).href}/${path}`);
    expect(await widthOf(page), path).toBe(390);
    const wide = await page
      .locator('pre')
      .evaluateAll((all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
      );
    expect(wide, path).toEqual([]);
  }
});

test('the columns of a token strip stand below each other at 390 pixels', async () => {
  const page = await open('index.html', PHONE);
  const strip = page.locator('pre.aligned').first();
  const heights = await strip
    .locator('.line')
    .evaluateAll((all) => all.slice(1).map((each) => each.getBoundingClientRect().height));
  expect(new Set(heights.map((height) => Math.round(height))).size).toBe(1);
});

describe('search', () => {
  test('finds every property by its id and by the words of its title, every op and every bug', async () => {
    const page = await open('index.html');
    await type(page, 'mask');
    /** Of each query the names that are found, best first; at once, as there are thousands. */
    const find = async (queries: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
      const asked = [...new Set(queries)];
      const found: string[][] = await page.evaluate(
        `${JSON.stringify(asked)}.map((query) => lossproofSearch(query).map(({ name }) => name))`,
      );
      return new Map(asked.map((query, at) => [query, found[at] ?? []]));
    };
    const all = explained();
    const wordsOf = (title: string): string[] => title.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
    const found = await find(all.flatMap(({ id, title }) => [id, ...wordsOf(title), title]));
    for (const { id, title } of all) {
      expect(found.get(id)?.[0], id).toBe(id);
      for (const word of wordsOf(title)) expect(found.get(word), `${word}, of ${id}`).toContain(id);
      const alike = all.filter((other) => other.title === title).length;
      expect(found.get(title)?.slice(0, alike + 2), title).toContain(id);
    }
    const names = [...opNames, ...bugs.map(({ id }) => id), 'Five mask conventions', 'Complaints of doctor'];
    for (const [query, [first]] of await find(names)) expect(first).toBe(query);
    expect((await find(['prompt nothing-has-this'])).get('prompt nothing-has-this')).toEqual([]);
  });

  test.each([
    ['mask/prompt-is-never-trained', 'docs/properties/mask/prompt-is-never-trained.html'],
    ['No token of the prompt is trained', 'docs/properties/mask/prompt-is-never-trained.html'],
    ['finite-training', 'docs/properties/monitor/finite-training.html'],
    ['gae', 'docs/ops/gae.html'],
    ['msk-01', 'docs/bugs.html#msk-01'],
    ['five mask conv', 'docs/glossary.html#five-mask-conventions'],
  ])('"%s" and Enter opens %s, from a page below', async (query, path) => {
    const page = await open('docs/ops/mask.html');
    await type(page, query);
    await page.locator(results).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/${path}`);
    const hash = path.split('#')[1];
    if (hash !== undefined) expect(await page.locator(`[id="${hash}"]`).count()).toBe(1);
  });

  test('arrows go through what is found and back to the box, Escape empties it', async () => {
    const page = await open('index.html');
    await type(page, 'temperature');
    const links = page.locator(results);
    const second = await links.nth(1).getAttribute('href');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(second);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(await page.locator('#site-found').isVisible()).toBe(false);
    await type(page, 'no-such-word');
    expect(await page.locator('#site-found').textContent()).toBe('Nothing has all of these words.');
  });

  test('what is typed into the box is shown as text', async () => {
    const page = await open('index.html');
    await type(page, '<b>(.*');
    await page.keyboard.press('Escape');
    await type(page, '(b, t)');
    expect(await page.locator('#site-found b').count()).toBe(0);
  });
});

describe('pip and npm', () => {
  const command = (page: Page): Promise<string> =>
    page
      .locator('pre .line', { hasText: 'doctor --' })
      .innerText()
      .then((text) => text.trim());

  test('tabs work by keys, speak for all commands, and are remembered on the next page', async () => {
    const page = await open('docs/start.html');
    expect(await page.locator('.tabs').getByText('pip install lossproof').isVisible()).toBe(true);
    expect(await page.locator('.tabs').getByText('npm install --save-dev lossproof').isVisible()).toBe(false);
    expect(await command(page)).toBe('lossproof doctor -- python3 adapter.py');
    await page.locator('.tabs input[value=pip]').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.tabs').getByText('pip install lossproof').isVisible()).toBe(false);
    expect(await page.locator('.tabs').getByText('npm install --save-dev lossproof').isVisible()).toBe(true);
    expect(await command(page)).toBe('npx lossproof doctor -- python3 adapter.py');
    await page.goto(`${pathToFileURL(folder).href}/docs/attach.html`);
    expect(await page.locator('#site-door-npm').isChecked()).toBe(true);
    expect(await page.locator('.tabs input[value=npm]').isChecked()).toBe(true);
    await page.getByText('pip', { exact: true }).first().click();
    expect(await page.locator('.tabs input[value=pip]').isChecked()).toBe(true);
  });

  test('without a script tabs and the choice of commands work, and nothing is there that does nothing', async () => {
    const page = await open('docs/start.html', { javaScriptEnabled: false });
    await page.locator('.tabs label', { hasText: 'npm' }).click();
    expect(await page.locator('.tabs').getByText('npm install --save-dev lossproof').isVisible()).toBe(true);
    await page.locator('header label', { hasText: 'npm' }).click();
    expect(await command(page)).toBe('npx lossproof doctor -- python3 adapter.py');
    expect(await page.locator('.copy, input[type=search]').count()).toBe(0);
    await page.setViewportSize(PHONE.viewport);
    await page.getByRole('button', { name: 'Pages' }).click();
    expect(await page.locator('nav').getByRole('link', { name: 'Glossary' }).isVisible()).toBe(true);
  });
});

test('the button copies the code as it is read: the chosen command, whole lines, remarks', async () => {
  const page = await open('docs/attach.html', { permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = async (text: string): Promise<string> => {
    const block = page.locator('.code', { hasText: text }).first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    return page.evaluate('navigator.clipboard.readText()');
  };
  const commands = await copied('init');
  expect(commands).toMatch(/^lossproof init {7}# adapter\.py.*\nlossproof doctor .*\nlossproof check\n$/);
  await page.locator('header label', { hasText: 'npm' }).click();
  expect(await copied('init')).toMatch(
    /^npx lossproof init .*\nnpx lossproof doctor .*\nnpx lossproof check\n$/,
  );
  expect(await copied('import grpo')).toContain(
    '\n\n@lossproof.op\ndef logprobs(logits, input_ids):\n    return {',
  );
});
