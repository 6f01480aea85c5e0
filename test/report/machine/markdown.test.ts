import MarkdownIt from 'markdown-it';
import { expect, test } from 'vitest';
import { markdownSummary } from '../../../src/report/machine/markdown.ts';
import { failure, maskStrip, result } from '../results.ts';
import { broken, cutOff, failing, HOSTILE, runWith } from './finished.ts';

// As GitHub does: tables, and HTML that is written as such.
const markdown = new MarkdownIt('default', { html: true });

/** Texts of the cells, row by row, of all tables. */
function cells(text: string): string[][] {
  const rows: string[][] = [];
  const tokens = markdown.parse(text, {});
  for (const [at, { type }] of tokens.entries()) {
    if (type === 'tr_open') rows.push([]);
    if (type === 'td_open' || type === 'th_open')
      rows.at(-1)?.push((tokens[at + 1]?.children ?? []).map(({ content }) => content).join(''));
  }
  return rows;
}

const blocksOf = (text: string): string[] =>
  markdown
    .parse(text, {})
    .filter(({ type }) => type === 'fence')
    .map(({ content }) => content);

test('a summary has the verdict, what fails, the strip, how to see it again, and the stages', () => {
  const text = markdownSummary([
    runWith([failing('mask/prompt-is-never-trained'), result(), result({ id: 'kl/is-zero' })]),
  ]);
  expect(text).toMatch(/^## lossproof: my-trainer 0.4\n\n\*\*✗ 3 properties: 2 hold, 1 fails · seed 1836021/);
  expect(cells(text)).toContainEqual([
    '✗ fails',
    'mask/prompt-is-never-trained',
    'must',
    "Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.",
  ]);
  const [strip, commands] = blocksOf(text);
  expect(strip).toMatch(/observed +0 +0 +0 +0 +0 +1 +1 +0\n/);
  expect(commands).toBe(
    'npx lossproof check --seed 1836021 --cases 100 --only mask/prompt-is-never-trained -- python adapter.py\n' +
      'npx lossproof replay 7f3a9c  # with .lossproof/cases of this run\n',
  );
  expect(cells(text)).toContainEqual(['mask', '1', '1']);
  expect(cells(text)).toContainEqual(['kl', '1', '']);
});

test('a run that holds is told in few lines, and one that was cut off is never told as good', () => {
  const good = markdownSummary([runWith([result()])]);
  expect(good).toContain('**✓ 1 property: 1 holds');
  expect(blocksOf(good)).toEqual([]);
  const torn = markdownSummary([cutOff(runWith([result()]))]);
  expect(torn).not.toContain('✓ 1 property');
  expect(torn).toContain('**Cut off.** The events end before the run does, after 1 of 1 properties');
  expect(torn).toContain('npx lossproof check --seed 1836021');
  expect(markdownSummary([])).toContain('No run was recorded');
  expect(markdownSummary([runWith([result({ verdict: 'unsupported', reason: 'no op' })])])).toContain(
    '**– 0 of 1 property applies',
  );
});

test('hostile text is no markup, ends no cell and no fence', () => {
  const strip = { ...maskStrip(), tokens: maskStrip().tokens.map((token) => ({ ...token, text: HOSTILE })) };
  const hostile = failure({ finding: { kind: 'k', sentence: HOSTILE, strips: [strip] }, given: HOSTILE });
  const known = {
    ...failing('mask/known'),
    verdict: 'known',
    reason: HOSTILE,
    link: 'https://x.org/|<b>',
  } as const;
  const text = markdownSummary([
    runWith([result({ verdict: 'fail', failure: hostile }), broken(HOSTILE, HOSTILE), known], {
      hello: { protocol: 1, name: HOSTILE, ops: {} },
      command: `python '${HOSTILE}'`,
    }),
  ]);
  const page = markdown.render(text);
  expect(page).not.toMatch(/<script|<em>c|<strong>c|<a href="f"|<b>/);
  expect(page).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cs}\u202e]/u);
  const rows = cells(text).filter((row) => row[0]?.startsWith('✗') || row[0]?.startsWith('!'));
  expect(rows.map((row) => row.length)).toEqual([4, 4]);
  expect(rows[0]?.[3]).toContain('a ``` b ~~~~ *c* _d_ [e](f) <span>$</span>g');
  // What opens is closed: the last thing of the page is outside of every block.
  expect(page.split('<details>')).toHaveLength(page.split('</details>').length);
  expect(blocksOf(text).some((block) => block.includes('<details>'))).toBe(false);
});

test('10,000 failures stay below the bound and say how many are left out', () => {
  const many = Array.from({ length: 10_000 }, (_, at) =>
    failing(`mask/property-${at}`, `Case ${at} | fails.`),
  );
  for (const runs of [[runWith(many)], Array.from({ length: 40 }, () => runWith(many.slice(0, 110)))]) {
    const text = markdownSummary(runs);
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    expect(text).toMatch(/and \d+ more properties/);
    expect(text).toMatch(/\d+ more failures had no room here/);
  }
});

test('an endless failure does not push out the rest', () => {
  const finding = { kind: 'k', sentence: 'x'.repeat(500_000), note: 'a line\n'.repeat(50_000) };
  const endless = result({ id: 'mask/x', verdict: 'fail', failure: failure({ finding }) });
  const text = markdownSummary([runWith([endless, failing('mask/y')])]);
  expect(Buffer.byteLength(text)).toBeLessThan(30_000);
  expect(text).toContain('mask/y');
  expect(text).toContain('(the rest is left out)');
});
