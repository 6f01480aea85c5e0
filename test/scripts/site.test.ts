import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { ledgerProperties } from '../../properties/ledger/index.ts';
import { monitorRules } from '../../properties/monitor/index.ts';
import { buildSite } from '../../scripts/site/build.ts';
import { deadLinks } from '../../scripts/site/links.ts';
import { opNames } from '../../scripts/site/op-facts.ts';
import { render } from '../../scripts/site/render.ts';
import type { Entry } from '../../scripts/site/search-index.ts';
import { bugs } from '../../src/bugs/index.ts';

const { pages, files } = buildSite();

test('no link of the site is dead', () => {
  expect(deadLinks(pages, new Set(files.keys()))).toEqual([]);
});

test('every document and every property has a page', () => {
  for (const path of ['index.html', 'PROTOCOL.html', 'docs/bugs.html', 'docs/properties.html'])
    expect(pages.has(path), path).toBe(true);
  for (const { id } of properties) expect(pages.has(`docs/properties/${id}.html`), id).toBe(true);
});

test('published trainers have pages and badges', () => {
  expect(pages.get('docs/conformance.html')).toContain('href="conformance/trl-grpo.html"');
  expect(String(files.get('docs/conformance/trl-grpo.svg'))).toContain('<svg');
});

test('every bug has a place on the page of bugs, and every property a link on the page of properties', () => {
  for (const { id } of bugs) expect(pages.get('docs/bugs.html')).toContain(`id="${id.toLowerCase()}"`);
  for (const { id } of properties)
    expect(pages.get('docs/properties.html')).toContain(`href="properties/${id}.html"`);
});

test('every op, every rule of traces and every rule about logs has a page', () => {
  for (const op of opNames) expect(pages.has(`docs/ops/${op}.html`), op).toBe(true);
  for (const { id } of [...ledgerProperties, ...monitorRules])
    expect(pages.has(`docs/properties/${id}.html`), id).toBe(true);
});

test('no page asks the network for anything, and all scripts but the one of the head are files of the site', () => {
  for (const [path, html] of pages) {
    expect(html, path).not.toMatch(/\ssrc="https?:|<link[^>]* href="https?:/);
    expect(html.match(/<script>/g), path).toHaveLength(1);
  }
  for (const name of ['search.js', 'page.js', 'site.css'])
    expect(String(files.get(name)), name).not.toMatch(/https?:|\bfetch\(|XMLHttpRequest|@import/);
});

test('what the search looks through leads to a page, and to a place on it', () => {
  const entries = searchEntries();
  const addresses = entries.map(([, , , path]) => `<a href="${path}">`).join('');
  const dead = deadLinks(new Map([...pages, ['all.html', addresses]]), new Set(files.keys()));
  expect(dead.filter((complaint) => complaint.startsWith('all.html'))).toEqual([]);
  expect(new Set(entries.map(([kind]) => kind))).toEqual(new Set(['op', 'property', 'bug', 'page']));
  const bugEntries = entries.filter(([kind]) => kind === 'bug').map(([, id]) => id);
  expect(bugEntries).toEqual(bugs.map(({ id }) => id));
});

function searchEntries(): readonly Entry[] {
  const file = String(files.get('search-index.js'));
  return JSON.parse(file.replace('globalThis.LOSSPROOF_INDEX = ', '').replace(/;\s*$/, ''));
}

test('no mark of tabs was left over, and the guides that begin with an installation have one for pip and one for npm', () => {
  for (const [path, html] of pages) expect(html, path).not.toContain('<!-- tabs');
  for (const guide of ['start', 'attach', 'trace', 'golden', 'monitor', 'view']) {
    const html = pages.get(`docs/${guide}.html`) ?? '';
    expect(html, guide).toMatch(/data-tab="pip">.*pip install[\s\S]*data-tab="npm">.*npm install/);
  }
});

test.each([
  ['<a href="b.html">', '"b.html" is not there'],
  ['<a href="a.html#nowhere">', '"a.html#nowhere" names no id of docs/a.html'],
  ['<a href="#nowhere">', '"#nowhere" names no id of docs/a.html'],
  ['<a href="../up.html">', '"../up.html" is not there'],
  ['<img src="picture.png">', '"picture.png" is not there'],
  ['<a href="/docs/a.html">', '"/docs/a.html" is an address of a server, and the site is opened from disk'],
  ['<p id="here">', 'two elements have the id "here"'],
])('%s is reported', (html, complaint) => {
  const found = deadLinks(new Map([['docs/a.html', `<h1 id="here">A</h1>${html}`]]), new Set());
  expect(found).toEqual([`docs/a.html: ${complaint}`]);
});

test.each([
  '<a href="#here">',
  '<a href="a.html#here">',
  '<a href="https://example.com/#anything">',
  '<img src="../picture.svg">',
  '<p>say href=&quot;b.html&quot;</p>',
])('%s is not reported', (html) => {
  const found = deadLinks(
    new Map([['docs/a.html', `<h1 id="here">A</h1>${html}`]]),
    new Set(['picture.svg']),
  );
  expect(found).toEqual([]);
});

test('headings have the ids of GitHub, names of properties and bugs become links', () => {
  const text = '# `a/b`, in two words\n\n## Same\n\n## Same\n\nSee `a/b`, MSK-01 and [MSK-01](x.md).';
  const { title, html } = render(text, (name) => `${name}.md`);
  expect(title).toBe('a/b, in two words');
  expect(html).toContain('<h1 id="ab-in-two-words">');
  expect(html).toContain('<h2 id="same-1">');
  expect(html).toContain(
    '<p>See <a href="a/b.md"><code>a/b</code></a>, <a href="MSK-01.md">MSK-01</a> and <a href="x.md">MSK-01</a>.</p>',
  );
});

test('two blocks behind a mark are tabs; a mark with too few stays, to be found', () => {
  const blocks = '\n```\npip install x\n```\n\n```\nnpm install x\n```\n';
  const { html } = render(`<!-- tabs: pip, npm -->\n${blocks}`, () => undefined);
  expect(html.match(/type="radio"/g)).toHaveLength(2);
  expect(html).toMatch(/data-tab="pip">.*pip install x/);
  expect(render(`<!-- tabs: pip, npm, uv -->\n${blocks}`, () => undefined).html).toContain('<!-- tabs');
});

test.each([
  ['npx lossproof check', true],
  ['lossproof check --bundled', true],
  ['$ npx lossproof --version', true],
  ['lossproof 0.1.0 · seed 7', false],
  ['pip install lossproof\nlossproof check', false],
  ['npm install lossproof\nnpx lossproof check', false],
  ['echo npx lossproof', false],
])('%j reads as one came by pip or npm: %s', (code, both) => {
  const { html } = render(`\`\`\`\n${code}\n\`\`\``, () => undefined);
  expect(html.includes('<span class="npx">npx </span>')).toBe(both);
});

test('the columns of a token strip stay together, sentences and remarks wrap', () => {
  const block = (...lines: string[]): string =>
    render(`\`\`\`\n${lines.join('\n')}\n\`\`\``, () => undefined).html;
  expect(block('A sentence that is longer than the rest.', 'id   0  3', 'tok  a  中文')).toContain(
    '--columns:12',
  );
  expect(block('npx lossproof a    # one', 'npx lossproof b    # two')).not.toContain('aligned');
});
