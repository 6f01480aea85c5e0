// What a script adds to the page: filters, keys, paper, and keeping up with a run that is served.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/check/events.ts';
import { followingPage } from '../../src/report/html/run/following.ts';
import { htmlBody, htmlReport } from '../../src/report/html/run/report.ts';
import { runsOf } from '../../src/report/runs.ts';
import { failure, REPLAY, result, runStart } from '../report/results.ts';
import { open, theBrowser, useBrowser } from './world.ts';

useBrowser();

function start(): RunEvent {
  const event = runStart(['render/a', 'mask/b', 'mask/c', 'kl/d', 'kl/e']);
  if (event.type !== 'run-start') throw new Error('not a start');
  const properties = event.properties.map((facts) => ({
    ...facts,
    title: facts.id === 'render/a' ? 'Rendering is stable.' : facts.title,
    level: facts.id === 'kl/d' ? ('should' as const) : facts.level,
  }));
  return { ...event, properties, replay: REPLAY };
}

const EVENTS: readonly RunEvent[] = [
  start(),
  { type: 'property-end', result: result({ id: 'render/a' }) },
  { type: 'property-end', result: result({ id: 'mask/b', verdict: 'fail', failure: failure() }) },
  {
    type: 'property-end',
    result: result({ id: 'mask/c', verdict: 'fail', failure: failure({ caseId: 'c2' }) }),
  },
  { type: 'property-end', result: result({ id: 'kl/d' }) },
  {
    type: 'property-end',
    result: result({ id: 'kl/e', verdict: 'unsupported', cases: 0, reason: 'the trainer has no op kl' }),
  },
  { type: 'run-end', interrupted: false, milliseconds: 1200 },
];

const REPORT = htmlReport(runsOf(EVENTS));

test.each([
  ['s:fail', ['mask/b', 'mask/c']],
  ['s:holds', ['render/a', 'kl/d']],
  ['s:fail s:unsupported', ['mask/b', 'mask/c', 'kl/e']],
  ['level:should', ['kl/d']],
  ['stage:mask !mask/b', ['mask/c']],
  ['stable', ['render/a']],
  ['belongs prompt', ['mask/b', 'mask/c']],
  ['', ['render/a', 'mask/b', 'mask/c', 'kl/d', 'kl/e']],
  ['nothing-has-this', []],
])('the filter "%s" leaves %j', async (text, ids) => {
  const { page } = await open(REPORT);
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  const rows = page.locator('.stage tbody tr:not([hidden])');
  expect(await rows.evaluateAll((all) => all.map((each) => each.getAttribute('data-property')))).toEqual(ids);
  const said = text === '' ? '' : `${ids.length} of 5 shown`;
  expect(await page.locator('#shown').textContent()).toBe(said);
});

test('a verdict button filters, says so, and lets go again', async () => {
  const { page } = await open(REPORT);
  const button = page.getByRole('button', { name: 'fails 2' });
  await button.click();
  expect(await button.getAttribute('aria-pressed')).toBe('true');
  expect(await page.locator('.stage:visible').count()).toBe(1);
  await button.click();
  expect(await button.getAttribute('aria-pressed')).toBe('false');
  expect(await page.locator('.stage:visible').count()).toBe(3);
});

test('a filter in the address holds, and a link to a failure wins over it', async () => {
  const filtered = await open(REPORT, {}, '#filter=stage%3Akl');
  expect(await filtered.page.locator('#shown').textContent()).toBe('2 of 5 shown');
  await filtered.page.evaluate("location.hash = '#mask/c'");
  await filtered.page.locator('article[id="mask/c"]').waitFor({ state: 'visible' });
  expect(await filtered.page.getByRole('searchbox').inputValue()).toBe('');
});

test('j and k go from failure to failure, and are letters in a field', async () => {
  const { page } = await open(REPORT);
  const focused = (): Promise<string> =>
    page.evaluate("document.activeElement.textContent.trim().split(' ').at(-1)");
  await page.keyboard.press('j');
  expect(await focused()).toBe('mask/b');
  await page.keyboard.press('j');
  expect(await focused()).toBe('mask/c');
  await page.keyboard.press('k');
  expect(await focused()).toBe('mask/b');
  await page.keyboard.press('/');
  await page.keyboard.type('j?');
  expect(await page.getByRole('searchbox').inputValue()).toBe('j?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

test('printing unfolds what is needed on paper and folds it again', async () => {
  const { page } = await open(REPORT);
  const closed = 'main details:not([open], .screen-only, [id$="/asked"])';
  const before = await page.locator(closed).count();
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await page.locator(closed).count()).toBe(0);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  expect(await page.locator(closed).count()).toBe(before);
});

test('a served page keeps up with its run, and keeps what the reader has opened and typed', async () => {
  let told = 3;
  let say = (): void => {};
  const server = createServer(({ url }, answer) => {
    const runs = runsOf(EVENTS.slice(0, told));
    if (url === '/token/events') {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('data: hello\n\n');
      say = () => answer.write('data: more\n\n');
    } else if (url === '/token/body') answer.end(htmlBody(runs));
    else
      answer
        .setHeader('content-type', 'text/html')
        .end(followingPage({ files: ['run.ndjson'], runs, problems: [] }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const page = await theBrowser().newPage();
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token/`);
    await page.locator('#live', { hasText: 'Live' }).waitFor();
    await page.locator('#legend > summary').click();
    await page.getByRole('searchbox').fill('mask');
    told = EVENTS.length;
    say();
    await page.locator('h1', { hasText: '5 properties' }).waitFor();
    expect(await page.locator('#legend[open]').count()).toBe(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('mask');
    await page.locator('#shown', { hasText: '2 of 5 shown' }).waitFor();
    expect(await page.title()).toContain('5 properties');
  } finally {
    await page.close();
    server.close();
    server.closeAllConnections();
  }
});
