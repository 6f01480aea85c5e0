// The document around a page of the site: head, bar with search, navigation, body. No network; without a script it reads
// the same, and has no control that does nothing.
import { posix } from 'node:path';
import { ICON } from '../../src/report/html/page/icon.ts';
import { html, raw } from '../../src/report/html/page/markup.ts';
import { VERSION } from '../../src/version.ts';
import type { Heading } from './render.ts';

export interface NavigationItem {
  /** Path within the site. */
  readonly path: string;
  readonly title: string;
  /** Where it is another one than the site's. */
  readonly language?: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly items: readonly NavigationItem[];
}

/** Files of scripts/site/page/: those that are one style sheet in the site, and those that lie there as they are. */
export const STYLE_SHEET = 'site.css';
export const STYLES = ['frame.css', 'text.css', 'choices.css', 'search.css'] as const;
export const SCRIPTS = ['search.js', 'page.js'] as const;

export interface ShellOptions {
  /** Path within the site. */
  readonly path: string;
  readonly title: string;
  /** Trusted: our own Markdown, rendered. */
  readonly body: string;
  readonly groups: readonly NavigationGroup[];
  readonly language?: string;
  readonly headings?: readonly Heading[];
}

/** Before anything is drawn: how the reader came, so that no command is seen to change. */
const DOOR = `try { const door = localStorage.getItem('lossproof-door'); if (door) document.documentElement.dataset.door = door; } catch {}`;

export function shell({ path, title, body, groups, language = 'en', headings = [] }: ShellOptions): string {
  const to = (target: string): string => posix.relative(posix.dirname(path), target);
  const root = '../'.repeat(path.split('/').length - 1);
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'lossproof' ? title : `${title} · lossproof`}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${to(STYLE_SHEET)}">
<script>${raw(DOOR)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="${to('index.html')}">lossproof</a>
<search id="site-search" data-root="${root}"></search>
<fieldset class="door"><legend>Commands as installed by</legend>
<input type="radio" name="site-door" id="site-door-pip" value="pip" checked><label for="site-door-pip">pip</label>
<input type="radio" name="site-door" id="site-door-npm" value="npm"><label for="site-door-npm">npm</label>
</fieldset>
<button class="menu" type="button" popovertarget="site-pages">Pages</button>
</header>
<nav id="site-pages" aria-label="Pages" popover>
${groups.map(
  (group) => html`<h2>${group.title}</h2>
<ul>${group.items.map((item) => html`<li><a href="${to(item.path)}"${item.path === path && raw(' aria-current="page"')}${item.language !== undefined && html` lang="${item.language}"`}>${item.title}</a></li>`)}</ul>
`,
)}</nav>
<main id="main">
${raw(withContents(body, headings, language))}
</main>
<footer>lossproof ${VERSION}</footer>
${SCRIPTS.map((script) => html`<script src="${to(script)}"></script>\n`)}</body>
</html>
`;
  return document.markup;
}

/** A list of what a long page holds, folded, behind its title. */
function withContents(body: string, headings: readonly Heading[], language: string): string {
  const parts = headings.filter(({ level }) => level === 2);
  if (parts.length < LONG) return body;
  const list = html`<details class="contents"><summary>${language.startsWith('zh') ? '本页内容' : 'On this page'}</summary>
<ul>${parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>
</details>`;
  return body.replace('</h1>', () => `</h1>\n${list.markup}`);
}

const LONG = 6;
