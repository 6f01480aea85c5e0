// The page of the recorded run looks as it was blessed: golden/report/*.png. Where a change of looks is wanted, look at
// the page, and `npm run pictures` blesses it anew.
//   Where the same Chromium draws with the same letters as those of the blessed pictures, every dot counts. Elsewhere lines
// break at other words, so that only patches of colour are compared: these say that the page is there, in its colours;
// whether a frame is thin or a strip is gone from a narrow page they cannot say, and the tests of the page itself do.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DRAWN, type Drawn, drawnBy, GOLDEN, SHOTS, shoot } from '../../scripts/pictures/shots.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { sizeOf, unlikeDots, unlikePatches, whereUnlike } from './likeness.ts';
import { onDisk, theBrowser, useBrowser } from './world.ts';

useBrowser();

const report = htmlReport(runsOf(readEvents(readFileSync(join(GOLDEN, 'run.ndjson'), 'utf8')).events));
const blessed = (name: string): Buffer => readFileSync(join(GOLDEN, `${name}.png`));

/** The share of dots that may differ: a digit of a version, not a line. The same page drawn twice differs in none. */
const MOST_DOTS = 0.001;
/**
 * The share of patches that may differ. With serifs, with wide and with narrow letters it is up to 0.06 on a wide page and
 * up to 0.10 on a narrow one, where more lines break; with the colours swapped at least 0.08 and 0.12.
 */
const MOST_PATCHES: Readonly<Record<string, number>> = { light: 0.07, dark: 0.07, narrow: 0.11, print: 0.11 };

describe.each(SHOTS)('the page: $name', (shot) => {
  const most = MOST_PATCHES[shot.name] ?? 0;

  test('looks as it was blessed', async () => {
    const picture = await shoot(theBrowser(), onDisk(report), shot);
    const [from, to] = [blessed(shot.name), picture].map(sizeOf);
    expect(to).toEqual(from);
    expect(unlikePatches(blessed(shot.name), picture), BLESS).toBeLessThan(most);
    if (!(await isSameMachine())) return;
    const isSame = (each: Buffer): boolean => unlikeDots(blessed(shot.name), each) < MOST_DOTS;
    // A browser on a busy machine has once drawn a part of it otherwise; what has changed is there again.
    const last = isSame(picture) ? picture : await shoot(theBrowser(), onDisk(report), shot);
    expect(isSame(last), `${whereUnlike(blessed(shot.name), last)}; ${BLESS}`).toBe(true);
  });

  test('would not pass with blue and orange swapped', async () => {
    const picture = await shoot(theBrowser(), onDisk(swapped(report)), shot);
    expect(unlikePatches(blessed(shot.name), picture)).toBeGreaterThan(most);
    expect(unlikeDots(blessed(shot.name), picture)).toBeGreaterThan(MOST_DOTS);
  });

  test('would not pass without its strips', async () => {
    const picture = await shoot(theBrowser(), onDisk(withoutStrips(report)), shot);
    expect(unlikeDots(blessed(shot.name), picture)).toBeGreaterThan(MOST_DOTS);
    if (shot.width > WIDE) expect(unlikePatches(blessed(shot.name), picture)).toBeGreaterThan(most);
  });
});

const BLESS = 'look at the page; if it should look so, `npm run pictures`';
/** Wider than this, a strip has bands side by side that are seen from afar. */
const WIDE = 1_000;

async function isSameMachine(): Promise<boolean> {
  const drawn: Drawn | undefined = existsSync(DRAWN) ? JSON.parse(readFileSync(DRAWN, 'utf8')) : undefined;
  return JSON.stringify(drawn) === JSON.stringify(await drawnBy(theBrowser(), onDisk(report)));
}

function withoutStrips(document: string): string {
  const without = document.replaceAll(/<div class="strip[\s\S]*?<\/div>/g, '');
  expect(without).not.toBe(document);
  return without;
}

/** The policy goes as well: it would refuse a style sheet that is not ours. */
function swapped(document: string): string {
  return document
    .replace(/<meta http-equiv[^>]*>/, '')
    .replaceAll(/--(blue|orange)(?=(-soft)?: #)/g, (_, name) => (name === 'blue' ? '--orange' : '--blue'));
}
