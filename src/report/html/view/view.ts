// A data set's masks as a page: what was found on top, all rows at one glance, how they are spread, then rows as tokens
// flow, each with its strip folded away. Of ten thousand rows the first stand on the page, flagged ones before others; the
// rest are kept beside the carpet, and made when somebody asks for them.
import { textOf } from '../../../view/flags.ts';
import type { Count, View, ViewedRow } from '../../../view/scan.ts';
import { plural } from '../../text/plural.ts';
import {
  marksOf,
  number,
  placeOf,
  settingsOf,
  sharesOf,
  stripOf,
  titleOf,
  tokensOf,
  verdictOf,
} from '../../view/view.ts';
import { stripTable } from '../failure/strip.ts';
import { html, type Markup, raw } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { readable, withCode } from '../page/text.ts';
import { histogram } from '../rows/histogram.ts';
import { faultHead, isFlagged, rowAnchor, rowFacts, viewCarpet } from './carpet.ts';
import { flow, flowLegend } from './flow.ts';

export interface ViewPage {
  /** The file and the tokenizer. */
  readonly of: readonly string[];
}

/** The whole document. */
export function viewPage(view: View, { of }: ViewPage): string {
  return page({ title: `${verdictOf(view)} · ${of[0] ?? 'a data set'} · lossproof`, ...viewParts(view, of) });
}

// --- helpers ---

/** Tokens that stand on the page as text, so that it stays below 2 MB without the rows that are kept: each is 100 bytes. */
const PAGE_TOKENS = 18_000;
/** Rows that a person scrolls through. */
const PAGE_ROWS = 50;
/** Tokens of one row shown: one long row must not take the page from all others. */
const ROW_TOKENS = 1_500;

/** A longer strip is cut around its marks, and has nothing to show where there are none. */
const STRIP_TOKENS = 24;

function viewParts(view: View, of: readonly string[]): { body: Markup; data: Markup | undefined } {
  let left = PAGE_TOKENS;
  const shown: ViewedRow[] = [];
  for (const viewed of view.kept.slice(0, PAGE_ROWS)) {
    const size = Math.min(viewed.row?.ids.length ?? 0, ROW_TOKENS);
    if (size > left) break;
    left -= size;
    shown.push(viewed);
  }
  const [glyph, sentence] = [verdictOf(view).slice(0, 1), verdictOf(view).slice(2)];
  const onPage = new Set(shown);
  const carpet = viewCarpet(view.kept, view.rows, (viewed) => onPage.has(viewed));
  const body = html`<h1 class="${glyph === '✗' ? 'orange' : 'blue'}"><span class="glyph" aria-hidden="true">${glyph}</span> ${sentence}</h1>
<p>Which tokens are trained: ${[...of, plural(view.rows, 'row'), sharesOf(view.tokens, view.trained)].join(' · ')}</p>
${view.roles.length > 0 && rolesTable(view)}
<ul>${view.assumed.map((line) => html`<li>${line}</li>`)}</ul>
${settingsOf(view).length > 0 && html`<h2>The configuration</h2><ul>${settingsOf(view).map((fault) => html`<li><span class="${fault.note === true ? '' : 'orange'}">${fault.note === true ? '·' : '✗'} <code>${placeOf(fault)}</code></span> ${fault.sentence}</li>`)}</ul>`}
${view.counts.length > 0 && html`<h2>What was found</h2>`}
${view.counts.map((count) => countSection(count, new Set(shown.map((viewed) => viewed.number))))}
${carpet?.section}
${spread(view)}
<section class="viewed" aria-labelledby="rows"><h2 id="rows">Rows</h2>
<p class="aside">${shown.length === view.rows ? 'All rows.' : `${number(shown.length)} of ${plural(view.rows, 'row')}, flagged ones first.`}</p>
${flowLegend()}
${shown.map(rowSection)}<div class="made-rows"></div></section>`;
  return { body, data: carpet?.data };
}

function rolesTable({ roles }: View): Markup {
  return html`<table><thead><tr><th scope="col">Tokens of</th><th scope="col" class="number">all</th><th scope="col" class="number">trained</th><th scope="col" class="number">share</th></tr></thead>
<tbody>${roles.map(
    ({ name, tokens, trained }) =>
      html`<tr><th scope="row">${readable(name)}</th><td class="number">${number(tokens)}</td><td class="number">${number(trained)}</td><td class="number">${Math.round((100 * trained) / tokens)}%</td></tr>`,
  )}</tbody></table>`;
}

/** Of all rows, also of those that are not on the page. */
function spread({ sizes: { tokens, trained } }: View): Markup | undefined {
  if (tokens.length < 2) return undefined;
  return html`<div class="histograms">${histogram({ title: 'Tokens of a row, without padding', values: tokens })}${histogram(
    {
      title: 'Share of a row that is trained',
      values: tokens.map((all, at) => (all === 0 ? 0 : (trained[at] ?? 0) / all)),
      shares: true,
    },
  )}</div>`;
}

function countSection(count: Count, onPage: ReadonlySet<number>): Markup {
  const { what, todo } = textOf(count.id);
  const numbers = count.first.map((row, at) => {
    // A script, which can make the row, makes a link of it.
    const link = onPage.has(row)
      ? html`<a href="#row-${row}">${row}</a>`
      : html`<span data-link="row-${row}">${row}</span>`;
    return html`${at > 0 && ', '}${link}`;
  });
  return html`<section>
<h3 data-term="flag:${count.id}" data-count="${count.rows}">${faultHead(count.id)}</h3>
<p>${plural(count.rows, 'row')}: ${numbers}${count.more && ' and more'}. ${withCode(`${what} ${todo}`)}${
    // Of a row that is not on the page, this is all there is to see.
    !onPage.has(count.first[0] ?? -1) && html` Row ${count.first[0] ?? ''}: ${readable(count.example)}`
  }</p>
</section>
`;
}

function rowSection(viewed: ViewedRow): Markup {
  const { row, faults } = viewed;
  const said = faults.map(
    ({ id, sentence }) => html`<li><strong>${faultHead(id)}</strong> ${readable(sentence)}</li>`,
  );
  // The frame of a card says that something is wrong.
  const card = isFlagged(viewed) && raw(' class="card"');
  return html`<article${card} id="${rowAnchor(viewed)}" data-row>
<header><h3>${titleOf(viewed)}</h3><p class="aside">${rowFacts(viewed)}</p></header>
${said.length > 0 && html`<ul>${said}</ul>`}
${row !== undefined && tokensMarkup(viewed)}
</article>
`;
}

function tokensMarkup(viewed: ViewedRow): Markup {
  const { row, faults } = viewed;
  const tokens = tokensOf(viewed)
    .slice(0, ROW_TOKENS)
    // A token that ends a line ends it on the page, too.
    .map((token) => ({ ...token, text: token.text?.replace(/⏎$/u, '\n') ?? '' }));
  const cut = (row?.ids.length ?? 0) - tokens.length;
  const marks = marksOf(faults);
  return html`${flow({ tokens, trained: row?.trained.slice(0, ROW_TOKENS) ?? [], marks })}
${cut > 0 && html`<p class="aside">${plural(cut, 'more token')} of this row are not on the page.</p>`}
${(marks.length > 0 || tokens.length <= STRIP_TOKENS) && html`<details id="strip-${rowAnchor(viewed)}"><summary>Token, id, role, label</summary>${stripTable(stripOf(viewed), { label: `Tokens of ${titleOf(viewed)}` })}</details>`}`;
}
