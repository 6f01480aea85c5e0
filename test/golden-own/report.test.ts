// What a failing run looks like in a terminal and as a page, word for word and tag for tag: golden/report/terminal.txt and
// page.html, of the run that golden/report/run.ndjson recorded. Where a change is wanted, read the difference, and
// `npx vitest run --project harness test/golden-own/report -u` blesses it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../src/report/runs.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { GOLDEN } from './files.ts';

const { events, problems } = readEvents(readFileSync(join(GOLDEN, 'report', 'run.ndjson'), 'utf8'));
/** Elements that begin a line. */
const BLOCK =
  /<\/?(main|header|footer|section|article|details|table|ol|ul|dl)\b|<(h\d|p|summary|tr|div|li|pre|nav)\b/g;

const blessed = (name: string): string => join(GOLDEN, 'report', name);

test('the recorded run is read without a complaint', () => {
  expect(problems).toEqual([]);
});

test('the terminal shows the failing run as it was blessed', async () => {
  let text = '';
  const report = terminalReport({
    write: (piece) => {
      text += piece;
    },
    width: 100,
    paint: PLAIN,
    replay: {
      command: 'npx lossproof replay',
      adapter: 'python3 trainer.py',
      folder: '.lossproof/cases',
    },
    live: false,
    quiet: false,
    // The clock stands: what is said after a silence is no part of what is blessed.
    now: () => 0,
  });
  for (const event of events) report(event);
  await expect(text).toMatchFileSnapshot(blessed('terminal.txt'));
});

test('the page shows a failure, an error, a known failure and a pass as it was blessed', async () => {
  const [run] = runsOf(events);
  if (run === undefined) throw new Error('golden/report/run.ndjson holds no run');
  await expect(markupOf(htmlReport([cut(run)]))).toMatchFileSnapshot(blessed('page.html'));
});

test('a colour or a cell that changes would be seen', () => {
  const page = readFileSync(blessed('page.html'), 'utf8');
  expect(page).toContain('<bdi>&lt;|eot_id|&gt;</bdi>');
  expect(page).toMatch(/<td class="first">/);
  expect(page).toContain('class="verdict orange"');
  expect(page).toContain('class="verdict blue"');
});

// --- helpers ---

/** One of each that a page can show, of the 248 results: the whole page is half a megabyte. */
function cut(run: Run): Run {
  const shown = new Set<string>();
  for (const verdict of ['fail', 'error', 'known', 'unsupported', 'skipped', 'pass']) {
    const found = run.results.find((result) => result.verdict === verdict);
    if (found !== undefined) shown.add(found.id);
  }
  const ofThem = ({ id }: { readonly id: string }): boolean => shown.has(id);
  return {
    ...run,
    start: { ...run.start, properties: run.start.properties.filter(ofThem) },
    results: run.results.filter(ofThem),
  };
}

/** The body, a row of a table or a block a line, without styles and scripts, which have tests of their own. */
function markupOf(page: string): string {
  const body = /<body[\s\S]*<\/body>/.exec(page)?.[0] ?? '';
  const bare = body.replaceAll(/<(style|script)\b[^>]*>[\s\S]*?<\/\1>/g, '<$1></$1>');
  const lines = bare.replaceAll(/\n\s*/g, '').replaceAll(BLOCK, '\n$&').trim();
  return `${lines}\n`;
}
