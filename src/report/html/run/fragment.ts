// A run as a piece of somebody else's page, a cell of a notebook: what the page has, with styles that reach nothing outside
// of it, and nothing that a script must do.
import type { Run } from '../../runs.ts';
import { assets } from '../page/assets.ts';
import { htmlBody } from './report.ts';

export function htmlFragment(runs: readonly Run[]): string {
  return fragment(htmlBody(runs));
}

/** Any body of a page. */
export function fragment(body: string): string {
  return `<div class="${CLASS}"><style>.${CLASS} {\n${within(assets().css.text)}\n}</style>\n<div class="main">${body.replaceAll(KEPT, '')}</div></div>`;
}

const CLASS = 'lossproof-cell';
/** What only a script reads; no text of a page can look like it, as its quotes are written otherwise. */
const KEPT = / data-kept="[\w+/=]*"/g;

/** Nested into a class, what speaks of the whole document speaks of the cell; scripts of the notebook are none of the page's. */
function within(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll('(scripting: none)', 'all')
    .replaceAll(/:root\b/g, '&')
    .replaceAll(/(^|[\s,{}])(?:html|body)(?=[\s,{.:])/g, '$1&')
    .replaceAll(/(^|[\s,{}])main(?=[\s,{.:])/g, '$1.main');
}
