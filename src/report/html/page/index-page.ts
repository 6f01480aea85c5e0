// One page over others: what each of them says on top, and where it is. A job that traces a script, checks a trainer and views a data
// set leaves a page of each.
import { plural } from '../../text/plural.ts';
import { html } from './markup.ts';
import { page } from './page.ts';
import { cutText } from './text.ts';

export interface IndexedPage {
  /** From the index to the page, as an address. */
  readonly href: string;
  /** As the user named it. */
  readonly file: string;
  /** Begins with the sign of its verdict. */
  readonly title: string;
}

/** The whole document. */
export function indexPage(pages: readonly IndexedPage[]): string {
  const counted = (...signs: readonly string[]): number =>
    pages.filter(({ title: [sign = ''] }) => signs.includes(sign)).length;
  const failing = counted(FAILS);
  const open = pages.length - counted(FAILS, HOLDS, SURVIVES);
  const line = [
    `${plural(pages.length, 'page')}: ${failing === 0 ? 'none' : failing} ${failing > 1 ? 'have' : 'has'} failures`,
    ...(open === 0 ? [] : [`${open} ${open > 1 ? 'have' : 'has'} no verdict`]),
  ].join(', ');
  const body = html`<h1 class="${failing === 0 ? '' : BRUSHES[FAILS]}">${line}</h1>
<section class="semantics"><div class="wide" role="region" aria-label="Table of pages" tabindex="0"><table><caption>What each page says</caption><thead><tr><th scope="col">Page</th><th scope="col">Verdict</th></tr></thead><tbody>
${pages.map(({ href, file, title }) => {
  const words = title.replace(/ · lossproof$/, '');
  const [sign = ''] = words;
  return html`<tr><th scope="row"><a href="${href}">${file}</a></th><td><span class="${BRUSHES[sign] ?? ''}">${sign}</span>${cutText(words.slice(sign.length), MOST_CHARACTERS)}</td></tr>
`;
})}</tbody></table></div></section>`;
  return page({ title: `${line} · lossproof`, body });
}

/** Of a page of ours its title, from the beginning of its text; undefined: it is none. */
export function titleIn(text: string): string | undefined {
  if (!/<meta name="generator" content="lossproof /.test(text)) return undefined;
  const title = /<title>([^<]*)<\/title>/.exec(text)?.[1];
  return title?.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
}

// --- helpers ---

const [FAILS, HOLDS, SURVIVES] = ['✗', '✓', '◇'] as const;
/** Of what a page says; another program may have written it. */
const MOST_CHARACTERS = 300;
const BRUSHES: Readonly<Record<string, string>> = {
  [FAILS]: 'orange',
  [SURVIVES]: 'orange',
  [HOLDS]: 'blue',
};
const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
