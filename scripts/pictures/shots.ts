// How the page of the recorded failing run is photographed: each way in which people look at it.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** The recorded run, its trainer and its blessed pictures. */
export const GOLDEN: string = join(PACKAGE_ROOT, 'golden', 'report');

export interface Shot {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  readonly media: 'screen' | 'print';
}

/** The width of a laptop, of a phone, and of a page of paper at 96 dots an inch. */
export const SHOTS: readonly Shot[] = [
  { name: 'light', width: 1280, height: 1600, colorScheme: 'light', media: 'screen' },
  { name: 'dark', width: 1280, height: 1600, colorScheme: 'dark', media: 'screen' },
  { name: 'narrow', width: 390, height: 1600, colorScheme: 'light', media: 'screen' },
  { name: 'print', width: 794, height: 1600, colorScheme: 'light', media: 'print' },
];

/** Which browser drew a picture, and with which letters: pictures of others differ in every line. */
export interface Drawn {
  readonly chromium: string;
  /** Of a line of text in both families of the page, in pixels. */
  readonly widths: readonly number[];
}

export async function drawnBy(browser: Browser, address: string): Promise<Drawn> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.goto(address);
    const widths = await page.evaluate<number[]>(`['var(--mono)', 'inherit'].map((family) => {
      const line = document.body.appendChild(document.createElement('span'));
      line.style.fontFamily = family;
      line.textContent = 'Token 12 <|eot_id|> ␣⏎⇥ ✗✓▲△ trained';
      return line.getBoundingClientRect().width;
    })`);
    return { chromium: browser.version(), widths };
  } finally {
    await page.close();
  }
}

/** Beside the pictures. */
export const DRAWN: string = join(GOLDEN, 'drawn.json');

/** The top of the page, as a PNG. */
export async function shoot(browser: Browser, address: string, shot: Shot): Promise<Buffer> {
  const { width, height, colorScheme, media } = shot;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
  try {
    await page.emulateMedia({ media, colorScheme });
    await page.goto(address);
    return await still(() => page.screenshot({ animations: 'disabled' }));
  } finally {
    await page.close();
  }
}

/** What is laid out only where it is seen may come a frame late: the first picture that is also the next. */
async function still(picture: () => Promise<Buffer>): Promise<Buffer> {
  let before = await picture();
  for (let trial = 0; trial < MOST_PICTURES; trial++) {
    const next = await picture();
    if (next.equals(before)) return next;
    before = next;
  }
  throw new Error(`of ${MOST_PICTURES} pictures of the page no two in a row are the same`);
}

const MOST_PICTURES = 20;

/** A card from its head to its smallest case: what a reader needs to see what is wrong. */
export async function shootCard(browser: Browser, address: string, id: string): Promise<Buffer> {
  // Tall, because what is below the window is not laid out before it is scrolled to.
  const viewport = { width: CARD_WIDTH, height: 4_000 };
  const page = await browser.newPage({ viewport, deviceScaleFactor: 2, colorScheme: 'light' });
  try {
    await page.goto(address);
    const card = page.locator(`[id="${id}"]`);
    const [box, end] = await Promise.all([card.boundingBox(), card.locator('details.steps').boundingBox()]);
    if (box === null || end === null) throw new Error(`${id} has no card with steps`);
    return await still(() => page.screenshot({ clip: { ...box, height: end.y - box.y } }));
  } finally {
    await page.close();
  }
}

/** Wide enough for a short row of tokens in one piece, narrow enough to be read in a README. */
const CARD_WIDTH = 1_060;
