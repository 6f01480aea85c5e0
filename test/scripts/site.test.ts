import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { buildSite } from '../../scripts/site/build.ts';
import { deadLinks } from '../../scripts/site/links.ts';
import { render } from '../../scripts/site/render.ts';
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

test('every bug has a place on the page of bugs, and every property a link on the page of properties', () => {
  for (const { id } of bugs) expect(pages.get('docs/bugs.html')).toContain(`id="${id.toLowerCase()}"`);
  for (const { id } of properties)
    expect(pages.get('docs/properties.html')).toContain(`href="properties/${id}.html"`);
});

test('no page asks the network for anything or runs a script', () => {
  for (const [path, html] of pages) {
    expect(html, path).not.toMatch(/<script|\ssrc="https?:|<link[^>]* href="https?:/);
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
