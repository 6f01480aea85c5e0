// A run in a cell of a notebook: looks as on its page, reaches nothing outside of the cell, and needs no script.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { GOLDEN } from '../../scripts/pictures/shots.ts';
import { htmlFragment } from '../../src/report/html/run/fragment.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { open, useBrowser, widthOf } from './world.ts';

useBrowser();

const [run] = runsOf(readEvents(readFileSync(join(GOLDEN, 'run.ndjson'), 'utf8')).events);
if (run === undefined) throw new Error('golden/report/run.ndjson holds no run');
const few = {
  ...run,
  results: run.results.filter(({ failure }) => failure?.finding !== undefined).slice(0, 2),
};
const OWN =
  '<p id="own" style="margin:0">Words of the notebook, <a href="#own">a link</a>, <code>code</code></p><table id="table"><tr><td>1</td></tr></table>';
const notebook = (cells: string): string =>
  `<!doctype html><html lang="en"><title>A notebook</title><body style="margin:0">${OWN}${cells}</body></html>`;
const document = notebook(htmlFragment([few]));

/** What a style sheet would have changed. */
const LOOKS = `['html', 'body', '#own', '#own a', '#own code', '#table', '#table td'].map((each) => {
  const style = getComputedStyle(document.querySelector(each));
  return [style.color, style.backgroundColor, style.font, style.boxSizing, style.overflowWrap, style.borderCollapse].join();
})`;

test('leaves the rest of the notebook as it was, asks for nothing and complains of nothing', async () => {
  const { page, requests, troubles } = await open(document);
  const { page: without } = await open(notebook(''));
  expect(await page.evaluate(LOOKS)).toEqual(await without.evaluate(LOOKS));
  expect([requests, troubles]).toEqual([[], []]);
});

test('looks as on the page of the run without its scripts', async () => {
  const looks = `['.card', '.card .sentence', '.strip td.first', '.verdict'].map((each) => {
    const style = getComputedStyle(document.querySelector('article ' + each) ?? document.querySelector(each));
    return [style.color, style.backgroundColor, style.fontSize, style.fontFamily, style.borderTopWidth].join();
  })`;
  const { page } = await open(document);
  const { page: whole } = await open(htmlReport([few]), { javaScriptEnabled: false });
  expect(await page.evaluate(looks)).toEqual(await whole.evaluate(looks));
});

test('shows the first mismatch of a wide strip, to which no script scrolls', async () => {
  const { page } = await open(document);
  const strip = page.locator('.strip.wide').first();
  const [outer, first] = await Promise.all([
    strip.boundingBox(),
    strip.locator('td.first').first().boundingBox(),
  ]);
  if (outer === null || first === null) throw new Error('nothing is shown');
  expect(first.x).toBeGreaterThanOrEqual(outer.x);
  expect(first.x + first.width).toBeLessThanOrEqual(outer.x + outer.width);
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const)(
  'has nothing that axe objects to, and does not scroll sideways: %s, %i wide',
  async (colorScheme, width) => {
    const { page } = await open(document, { colorScheme, viewport: { width, height: 900 } });
    const { violations } = await new AxeBuilder({ page }).include('.lossproof-cell').analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
  },
);
