// Milliseconds from opening a data set's page in Chromium to its first paint, to its first rows standing, and to all its
// rows being told, searched and made; of a page of 10,000 rows, and the ratio to a page of 100.
//   npm run build && node dist/scripts/bench/pages.js
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { viewPage } from '../../src/report/html/view/view.ts';
import type { View, ViewedRow } from '../../src/view/scan.ts';
import { openBrowser } from '../pictures/browser.ts';

const SIZES = [100, 10_000] as const;
const ROUNDS = 7;
const VOCABULARY = 20_000;
const TURNS = 4;
/** Of a turn: half of it at least, and as much more. */
const TURN_TOKENS = 42;
/** Every so many rows one is flagged. */
const FLAGGED = 100;

const names = Array.from({ length: VOCABULARY }, (_, id) => `␠word${id}`);

/** The same on every machine. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}

function rowOf(number: number, next: () => number): ViewedRow {
  const ids: number[] = [];
  const trained: boolean[] = [];
  const roles: ('prompt' | 'completion')[] = [];
  for (let turn = 0; turn < TURNS; turn++)
    for (let left = Math.floor(TURN_TOKENS * (1 + next())); left > 0; left--) {
      // Few words often, most of them hardly ever, as in any language.
      ids.push(Math.floor(VOCABULARY * next() ** 6));
      trained.push(turn % 2 === 1);
      roles.push(turn % 2 === 1 ? 'completion' : 'prompt');
    }
  return {
    number,
    form: 'messages',
    texts: ids.map((id) => names[id] ?? ''),
    faults:
      number % FLAGGED === 0 ? [{ id: 'no-stop', sentence: 'No stop.', columns: [ids.length - 1] }] : [],
    row: {
      ids,
      trained,
      roles,
      turns: [],
      answers: [],
      said: [],
      straddles: [],
      real: { from: 0, to: ids.length },
      lost: 0,
    },
  };
}

function viewOf(rows: number): View {
  const next = numbers(7);
  const all = Array.from({ length: rows }, (_, at) => rowOf(at + 1, next));
  const flagged = all.filter(({ faults }) => faults.length > 0);
  const sizes = {
    tokens: all.map(({ row }) => row?.ids.length ?? 0),
    trained: all.map(({ row }) => row?.trained.filter(Boolean).length ?? 0),
  };
  const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
  return {
    rows,
    flagged: flagged.length,
    unread: 0,
    tokens: sum(sizes.tokens),
    trained: sum(sizes.trained),
    sizes,
    counts: [],
    assumed: [],
    kept: [...flagged, ...all.filter(({ faults }) => faults.length === 0)],
  };
}

interface Times {
  readonly paint: number;
  readonly standing: number;
  readonly told: number;
  readonly nodes: number;
}

async function opened(browser: Browser, address: string): Promise<Times> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    await page.goto(address);
    return await page.evaluate<Times>(`new Promise((done) => {
      const wait = () => {
        const [paint] = performance.getEntriesByName('first-contentful-paint');
        const told = document.querySelector('.carpet-now').textContent !== '' ? performance.now() : undefined;
        if (paint === undefined || told === undefined) return setTimeout(wait, 1);
        const { domContentLoadedEventEnd } = performance.getEntriesByType('navigation')[0];
        done({
          paint: paint.startTime,
          standing: domContentLoadedEventEnd,
          told,
          nodes: document.querySelectorAll('*').length,
        });
      };
      wait();
    })`);
  } finally {
    await page.close();
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const scratch = mkdtempSync(join(tmpdir(), 'lossproof-pages-'));
const browser = await openBrowser();
try {
  const pages = SIZES.map((rows) => {
    const view = viewOf(rows);
    const begin = performance.now();
    const text = viewPage(view, { of: ['data.jsonl'] });
    const file = join(scratch, `${rows}.html`);
    writeFileSync(file, text);
    return {
      rows,
      tokens: view.tokens,
      made: performance.now() - begin,
      bytes: Buffer.byteLength(text),
      address: pathToFileURL(file).href,
      times: [] as Times[],
    };
  });
  // In turn, so that whatever else the machine does hits both.
  for (let round = 0; round < ROUNDS; round++)
    for (const each of pages) each.times.push(await opened(browser, each.address));
  const facts = ['paint', 'standing', 'told', 'nodes'] as const;
  const lines = pages.map(({ rows, tokens, made, bytes, times }) => {
    const [paint, standing, told, nodes] = facts.map((fact) => Math.round(median(times.map((t) => t[fact]))));
    return `${String(rows).padStart(6)} rows, ${tokens.toLocaleString('en')} tokens: ${(bytes / 1e6).toFixed(1)} MB made in ${Math.round(made)} ms; first paint ${paint} ms, standing ${standing} ms, all rows told ${told} ms; ${nodes} elements`;
  });
  const ratios = facts.map((fact) => {
    const [few = Number.NaN, many = Number.NaN] = pages.map(({ times }) => median(times.map((t) => t[fact])));
    return `${fact} ${(many / few).toFixed(2)}`;
  });
  process.stdout.write(`${[...lines, `10,000 to 100 rows: ${ratios.join(', ')}`].join('\n')}\n`);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
