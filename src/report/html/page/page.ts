// The document around any report: one file that asks the network for nothing, reads without script, and runs no style
// and no script but its own.
import { VERSION } from '../../../version.ts';
import { type Asset, assets } from './assets.ts';
import { ICON } from './icon.ts';
import { html, type Markup, raw } from './markup.ts';

export interface PageOptions {
  /** Begins with the sign of the verdict, which an index of pages shows. */
  readonly title: string;
  /** What stands in `<main>`. Its headings begin at h1. */
  readonly body: Markup;
  /** What the scripts read when the page stands: behind all else, so that nothing waits for it. */
  readonly data?: Markup | undefined;
  /** The page is served, and asks for a new body whenever its server says so. */
  readonly live?: boolean;
}

/** A whole document, UTF-8. */
export function page({ title, body, data, live = false }: PageOptions): string {
  const own = assets();
  const scripts = live ? [own.js, own.live] : [own.js];
  const document = html`<!doctype html>
<html lang="en"${live && raw(' data-live')}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy([own.css], scripts, live)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="lossproof ${VERSION}">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${raw(own.css.text)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header class="top"><span class="brand">lossproof</span><div id="controls"></div><span id="live" role="status"></span></header>
<main id="main" tabindex="-1">
${body}
</main>
<footer><p>lossproof ${VERSION}. ${live ? 'This page follows a run on this machine' : 'This page holds all that it shows'} and asks the network for nothing.</p></footer>
${scripts.map(
  ({ text }) => html`<script>${raw(text)}</script>
`,
)}${data}</body>
</html>
`;
  return document.markup;
}

/** Nothing from anywhere; only a served page may ask its own server. */
function policy(styles: readonly Asset[], scripts: readonly Asset[], live: boolean): string {
  const hashes = (all: readonly Asset[]): string => all.map(({ hash }) => hash).join(' ');
  return [
    "default-src 'none'",
    `style-src ${hashes(styles)}`,
    `script-src ${hashes(scripts)}`,
    'img-src data:',
    ...(live ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
