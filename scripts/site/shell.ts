// The document around a page of the site: head, navigation, body. No script, no network, one style sheet.
import { posix } from 'node:path';
import { ICON } from '../../src/report/html/page/icon.ts';
import { html, raw } from '../../src/report/html/page/markup.ts';
import { VERSION } from '../../src/version.ts';

export interface NavigationItem {
  /** Path within the site. */
  readonly path: string;
  readonly title: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly items: readonly NavigationItem[];
}

export const STYLE_SHEET = 'site.css';

export interface ShellOptions {
  /** Path within the site. */
  readonly path: string;
  readonly title: string;
  /** Trusted: our own Markdown, rendered. */
  readonly body: string;
  readonly groups: readonly NavigationGroup[];
}

export function shell({ path, title, body, groups }: ShellOptions): string {
  const to = (target: string): string => posix.relative(posix.dirname(path), target);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'lossproof' ? title : `${title} · lossproof`}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${to(STYLE_SHEET)}">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<nav aria-label="Pages">
<a class="brand" href="${to('index.html')}">lossproof</a>
${groups.map(
  (group) => html`<h2>${group.title}</h2>
<ul>${group.items.map((item) => html`<li><a href="${to(item.path)}"${item.path === path && raw(' aria-current="page"')}>${item.title}</a></li>`)}</ul>
`,
)}</nav>
<main id="main">
${raw(body)}
</main>
<footer>lossproof ${VERSION}</footer>
</body>
</html>
`;
  return document.markup;
}
