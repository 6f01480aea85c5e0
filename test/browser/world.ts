// A browser for tests of pages: each page from disk, from a folder with a space and an umlaut, watched.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { openBrowser } from '../../scripts/pictures/browser.ts';

export interface Watched {
  readonly page: Page;
  /** Whatever was asked for beside the file itself. */
  readonly requests: readonly string[];
  /** Exceptions, complaints on the console, dialogs. */
  readonly troubles: readonly string[];
}

let browser: Browser | undefined;

/** One browser for a file of tests. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
}

export function theBrowser(): Browser {
  if (browser === undefined) throw new Error('useBrowser() was not called.');
  return browser;
}

/** Where the document lies as a file while the test runs. */
export function onDisk(document: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'a report.html');
  writeFileSync(file, document);
  return pathToFileURL(file).href;
}

/** `hash` stands behind the address, with its `#`. */
export async function open(
  document: string,
  options: BrowserContextOptions = {},
  hash = '',
): Promise<Watched> {
  const address = onDisk(document);
  const context = await theBrowser().newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const requests: string[] = [];
  const troubles: string[] = [];
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== address) requests.push(request.url());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(message.text());
  });
  page.on('dialog', (dialog) => {
    troubles.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(address + hash);
  return { page, requests, troubles };
}

/** Opens all that is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
}

/** Of the document; more than the window means that it scrolls sideways. */
export function widthOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}
