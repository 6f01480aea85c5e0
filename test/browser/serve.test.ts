// `report --serve` beside a run that goes on, both as processes of their own: what a reader sees meanwhile.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { theBrowser, useBrowser } from './world.ts';

useBrowser();

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');
/** Its mask is wrong; what comes behind the mask takes the run on for a while. */
const FAULTY = ['--', 'python3', '-m', 'lossproof.examples.faulty', 'mask-for-right-padding'];
const STAGES = ['--only', 'mask/*', '--only', 'kl/*', '--only', 'loss/*', '--only', 'preference_loss/*'];
/** Starting from the sources on a machine that has other work takes seconds. */
const PATIENCE = { timeout: 90_000 };

test('a page that was opened before the run follows it to its verdict, to the next run, and says when it is alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = start(folder, 'report', '--serve');
  const address = await server.said(/http:\/\/127\.0\.0\.1:\d+\/\S+/);
  const [page, other] = await Promise.all([opened(address), opened(address)]);
  await page.locator('h1', { hasText: 'Waiting for the run to begin' }).waitFor(PATIENCE);
  await page.locator('#live', { hasText: 'Live' }).waitFor(PATIENCE);

  const run = start(folder, 'check', '--seed', '7', '--cases', '300', ...STAGES, ...FAULTY);
  await page.locator('.banner', { hasText: 'Not finished' }).waitFor(PATIENCE);
  expect(await page.getByRole('progressbar').count()).toBe(1);
  const about = page.locator('article.card').first().locator('details.about');
  await about.locator('summary').click(PATIENCE);
  const opener = await about.getAttribute('id');
  const soFar = await page.locator('h1').innerText();
  expect(soFar).toContain('so far');

  expect(await run.code, run.text()).toBe(1);
  for (const each of [page, other])
    await each.locator('h1:not(:text("so far"))', { hasText: 'fail' }).waitFor(PATIENCE);
  expect(await page.locator('h1').innerText()).not.toBe(soFar);
  expect(await page.getByRole('progressbar').count()).toBe(0);
  expect(await about.getAttribute('id')).toBe(opener);
  expect(await about.getAttribute('open')).not.toBeNull();
  expect(await other.locator('details.about[open]').count()).toBe(0);

  // The next run begins the same file anew.
  const next = start(folder, 'check', '--seed', '8', '--cases', '5', '--only', 'kl/*', ...FAULTY);
  expect(await next.code, next.text()).toBe(0);
  await page.locator('.facts', { hasText: /Seed\s*8/ }).waitFor(PATIENCE);
  await page.locator('h1', { hasText: 'hold' }).waitFor(PATIENCE);
  expect(await page.locator('article.card').count()).toBe(0);

  server.child.kill('SIGINT');
  expect(await server.code).toBe(0);
  await page.locator('#live', { hasText: 'Not connected' }).waitFor(PATIENCE);
  expect(await page.locator('h1').innerText()).toContain('hold');
});

interface Started {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;
  text(): string;
  /** Waits until it has printed this. */
  said(pattern: RegExp): Promise<string>;
}

function start(folder: string, ...argv: readonly string[]): Started {
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', PYTHONPATH: resolve('src/python') },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  const code = new Promise<number | null>((done) => void child.on('close', done));
  return {
    child,
    code,
    text: () => text,
    async said(pattern) {
      await expect.poll(() => text, PATIENCE).toMatch(pattern);
      return pattern.exec(text)?.[0] ?? '';
    },
  };
}

async function opened(address: string): Promise<Page> {
  const page = await theBrowser().newPage({ viewport: { width: 1280, height: 900 } });
  onTestFinished(() => page.close());
  await page.goto(address);
  return page;
}
