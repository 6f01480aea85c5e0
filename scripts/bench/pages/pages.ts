// Milliseconds from opening a page in Chromium until it can be used: loaded, its filter there, what its carpet has been told,
// and drawn. Pages of `view` and `trace` of 10,000 rows, and of `check` of 10,000 properties; beside pages of 100. Above a second
// of processor time the command fails, and above one by the clock where the machine has nothing else to do.
//   npm run build && node dist/scripts/bench/pages/pages.js [--write] [--rounds 9]      --write: into docs/benchmarks.md
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { htmlReport } from '../../../src/report/html/run/report.ts';
import { tracePage } from '../../../src/report/html/trace/trace.ts';
import { viewPage } from '../../../src/report/html/view/view.ts';
import { openBrowser } from '../../pictures/browser.ts';
import { median } from '../scaling/exponents.ts';
import { machine, openSheet } from '../shared.ts';
import { runOf } from './check.ts';
import { tracedOf } from './trace.ts';
import { viewOf } from './view.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 9;
const MOST_MILLISECONDS = 1_000;
/** Processes that want a core, of each core: Chromium and this one are less. */
const MOST_LOAD = 1.5;
const SIZES = [100, 10_000] as const;

const PAGES: readonly { readonly name: string; readonly of: (size: number) => string }[] = [
  { name: 'rows of `view`', of: (size) => viewPage(viewOf(size), { of: ['data.jsonl'] }) },
  {
    name: 'rows of `trace`',
    of: (size) => {
      const { ledger, run } = tracedOf(size);
      return tracePage([run], { ledger, unseen: [] });
    },
  },
  { name: 'properties of `check`', of: (size) => htmlReport([runOf(size)]) },
];

interface Times {
  readonly paint: number;
  readonly used: number;
  /** Of the page's process, all threads and its start included. */
  readonly processor: number;
  readonly elements: number;
}

async function opened(browser: Browser, address: string): Promise<Times> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(address, { waitUntil: 'commit' });
    const times = await page.evaluate<Omit<Times, 'processor'>>(`new Promise((done) => {
      const isThere = () => {
        const carpet = document.querySelector('.carpet-now');
        return document.readyState === 'complete'
          && document.querySelector('input[type=search]') !== null
          && (carpet === null || carpet.textContent !== '')
          && performance.getEntriesByName('first-contentful-paint').length > 0;
      };
      const wait = () => {
        if (!isThere()) return setTimeout(wait, 1);
        // And drawn: behind the next frame.
        requestAnimationFrame(() => setTimeout(() => done({
          used: performance.now(),
          paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
          elements: document.querySelectorAll('*').length,
        })));
      };
      wait();
    })`);
    const { metrics } = await session.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'ProcessTime')?.value ?? Number.NaN;
    return { ...times, processor: 1_000 * seconds };
  } finally {
    await page.close();
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'lossproof-pages-'));
const browser = await openBrowser();
try {
  const pages = PAGES.flatMap(({ name, of }, at) =>
    SIZES.map((size) => {
      const text = of(size);
      const file = join(scratch, `${at}-${size}.html`);
      writeFileSync(file, text);
      return {
        name: `${size.toLocaleString('en')} ${name}`,
        size,
        bytes: Buffer.byteLength(text),
        address: pathToFileURL(file).href,
        times: [] as Times[],
      };
    }),
  );
  // In turn, so that whatever else the machine does hits all; a first time each, for the browser to be warm.
  for (let round = -1; round < rounds; round++)
    for (const { address, times } of pages) {
      const took = await opened(browser, address);
      if (round >= 0) times.push(took);
    }
  const { print, table, miss, end } = openSheet();
  const load = loadavg()[0] ?? 0;
  print(
    `${machine()}, on average ${load.toFixed(1)} processes that want one; Chromium ${browser.version()}; of ${rounds} rounds the medians, and the fastest.`,
  );
  print('');
  const middle = (times: readonly Times[], of: keyof Times): number => median(times.map((each) => each[of]));
  table(
    ['page of', 'MB', 'elements', 'ms to first paint', 'ms to be used', 'fastest', 'ms of processor time'],
    pages.map(({ name, bytes, times }) => [
      name,
      (bytes / 1e6).toFixed(1),
      middle(times, 'elements').toLocaleString('en'),
      middle(times, 'paint').toFixed(0),
      middle(times, 'used').toFixed(0),
      Math.min(...times.map(({ used }) => used)).toFixed(0),
      middle(times, 'processor').toFixed(0),
    ]),
  );
  const judged =
    load > MOST_LOAD * cpus().length ? (['processor'] as const) : (['processor', 'used'] as const);
  // Not a number is too much as well.
  for (const { name, times } of pages)
    if (!judged.every((each) => middle(times, each) <= MOST_MILLISECONDS))
      miss(`A page of ${name} takes more than ${MOST_MILLISECONDS} ms to open.`);
  end('pages');
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
