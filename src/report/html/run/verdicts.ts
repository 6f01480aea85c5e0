// A verdict on the page: glyph, word and colour class, the same everywhere; counts of them; and what they mean.
import type { PropertyResult } from '../../../check/events.ts';
import { VERDICTS, type Verdict } from '../../../vocabulary.ts';
import { countVerdicts } from '../../summary.ts';
import { countOf, LOOKS } from '../../verdict.ts';
import { html, type Markup } from '../page/markup.ts';

/** `✗ fails`. */
export function verdictMark(verdict: Verdict): Markup {
  const { glyph, word, brush } = LOOKS[verdict];
  return html`<span class="verdict ${brush}"><span class="glyph" aria-hidden="true">${glyph}</span> ${word}</span>`;
}

/** `✓ 29 hold  ✗ 2 fail`, in the order of the final line. */
export function verdictCounts(results: readonly Pick<PropertyResult, 'verdict'>[]): Markup {
  const counts = countVerdicts(results);
  return html`<span class="counts">${VERDICTS.filter((verdict) => counts[verdict] > 0).map((verdict) => {
    const { glyph, brush } = LOOKS[verdict];
    return html` <span class="verdict ${brush}"><span class="glyph" aria-hidden="true">${glyph}</span> ${countOf(verdict, counts[verdict])}</span>`;
  })}</span>`;
}

/** What every verdict means. */
export function legend(): Markup {
  return html`<details id="legend"><summary>What the words mean</summary><dl class="legend">
${Object.keys(LOOKS).map((key) => html`<div><dt data-verdict="${key}">${verdictMark(key as Verdict)}</dt><dd>${LOOKS[key as Verdict].meaning}</dd></div>\n`)}</dl></details>`;
}
