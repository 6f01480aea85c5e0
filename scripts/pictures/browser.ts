// Chromium without a screen, for the pictures and for the tests of the pages.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions put it; CHROMIUM names another. */
const PLACES = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Nothing of it calls home, so that whatever leaves a page is the page's own doing. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pictures are compared: no smoothing that depends on the screen.
  '--font-render-hinting=none',
  '--disable-lcd-text',
];

export async function openBrowser(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place !== '' && existsSync(place));
  if (executablePath === undefined)
    throw new Error(
      'No Chromium was found: install it (Debian: apt-get install chromium), or name it in CHROMIUM.',
    );
  return chromium.launch({ executablePath, args: QUIET });
}
