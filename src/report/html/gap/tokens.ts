// The tokens that a gap is largest on, and the ids that have the largest share of it.
import type { Picture } from '../../../gap/picture.ts';
import { percent, short } from '../../gap/numbers.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, tokenText } from '../page/text.ts';

/** A token's text; undefined without a tokenizer. */
export type TextOf = ((id: number) => string) | undefined;

export function largestTable({ largest }: Picture, textOf: TextOf): Markup {
  return html`<div class="wide" role="region" tabindex="0" aria-label="Tokens with the largest gap"><table><caption>Tokens with the largest gap</caption><thead><tr><th scope="col">Row</th><th scope="col" class="number">Place</th><th scope="col" class="number">Id</th>${textOf !== undefined && html`<th scope="col">Token, after</th>`}<th scope="col" class="number">Engine</th><th scope="col" class="number">Trainer</th><th scope="col" class="number">Gap</th><th scope="col" class="number">Weight</th></tr></thead><tbody>
${largest.map(({ where, position, id, before, sampling, trainer }) => {
  const gap = trainer - sampling;
  return html`<tr><th scope="row">${cut(where, MOST_NAME)}</th><td class="number">${position}</td><td class="number">${id}</td>${textOf !== undefined && html`<td class="tokens"><b>${tokenText(textOf(id))}</b> <span class="before">${before.map((each) => html`<span>${tokenText(textOf(each))}</span> `)}</span></td>`}<td class="number">${short(sampling)}</td><td class="number">${short(trainer)}</td><td class="number">${signed(gap)}</td><td class="number">${short(Math.exp(gap))}</td></tr>
`;
})}</tbody></table></div>`;
}

export function idTable({ ids }: Picture, textOf: TextOf): Markup {
  return html`<div class="wide" role="region" tabindex="0" aria-label="Ids with the largest share of the gap"><table><caption>Ids with the largest share of the gap</caption><thead><tr><th scope="col" class="number">Id</th>${textOf !== undefined && html`<th scope="col">Token</th>`}<th scope="col" class="number">Share of the gap</th><th scope="col" class="number">Share of tokens</th><th scope="col" class="number">Mean gap</th></tr></thead><tbody>
${ids.map(
  ({
    id,
    share,
    frequency,
    mean,
  }) => html`<tr><th scope="row" class="number">${id}</th>${textOf !== undefined && html`<td>${tokenText(textOf(id))}</td>`}<td class="number${share > STANDS_OUT * frequency && ' orange'}">${percent(share)}</td><td class="number">${percent(frequency)}</td><td class="number">${signed(mean)}</td></tr>
`,
)}</tbody></table></div>`;
}

// --- helpers ---

const MOST_NAME = 80;
/** Times what the id would have if all tokens had the same gap. */
const STANDS_OUT = 2;

const signed = (value: number): string => `${value > 0 ? '+' : ''}${short(value)}`;
