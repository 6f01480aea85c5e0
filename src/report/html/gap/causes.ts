// The causes that competed: of each, what it explains, how sure that is, and whether it is named.
import { isClear, LEAST_CERTAINTY, LEAST_SHARE, type Named, type Ranked } from '../../../gap/analyse.ts';
import { CAUSES } from '../../../gap/causes/index.ts';
import type { Gap } from '../../../gap/gap.ts';
import { percent, short } from '../../gap/numbers.ts';
import { html, type Markup } from '../page/markup.ts';
import { cutText } from '../page/text.ts';

/** A card for each cause that is named. */
export function causeCard({ id, share, fit, second }: Named): Markup {
  return html`<article class="card" aria-labelledby="cause-${id}"><header><h3 id="cause-${id}"><code>${id}</code> explains ${percent(share)} of the gap</h3></header>
<p>${cutText(fit.sentence, MOST_CHARACTERS)}</p>
<p><b>To decide:</b> ${cutText(fit.experiment, MOST_CHARACTERS)}.</p>
${second !== undefined && html`<p class="aside">Next best: <code>${second.id}</code>, ${percent(Math.max(0, second.score.share))} of the gap.</p>`}</article>
`;
}

/** A table of all causes; below it, what competed for the rest where one is named. */
export function competition({ analysis: { rounds } }: Gap): Markup {
  const [first = [], ...more] = rounds;
  const taken = rounds.map(([best]) => best).filter((best) => best !== undefined && isClear(best));
  return html`${rounds.length > 0 ? table(first, 'All causes') : html`<p>The gap has the size of float32 rounding: no cause was fitted.</p>`}
${more.map(
  (round, at) => html`<details><summary><h3>What is left without ${taken
    .slice(0, at + 1)
    .map((best) => best?.id)
    .join(' and ')}</h3></summary>
${table(round, 'Causes of the rest', new Set(taken.slice(0, at + 1).map((best) => best?.id)))}</details>
`,
)}<p class="aside">Causes are fitted to half of the rows and compete on the other half. Named: more than ${LEAST_CERTAINTY} standard errors better than noise, and more than ${percent(LEAST_SHARE)} of what is left of the gap.</p>`;
}

// --- helpers ---

/** Of a sentence with the parameters in it. */
const MOST_CHARACTERS = 800;

function table(
  ranked: readonly Ranked[],
  caption: string,
  gone: ReadonlySet<string | undefined> = new Set(),
): Markup {
  const others = CAUSES.filter(({ id }) => !gone.has(id) && !ranked.some((each) => each.id === id));
  return html`<div class="wide" role="region" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr><th scope="col">Cause</th><th scope="col">Outcome</th><th scope="col" class="number">Explains</th><th scope="col" class="number">Nats per row</th><th scope="col" class="number">Standard errors</th></tr></thead><tbody>
${ranked.map(
  (
    each,
    at,
  ) => html`<tr><th scope="row"><code>${each.id}</code></th><td>${outcomeOf(each, at === 0)}</td><td class="number">${percent(Math.max(0, each.score.share))}</td><td class="number">${short(each.score.gain)}</td><td class="number">${short(each.score.certainty)}</td></tr>
`,
)}${others.map(
  ({
    id,
  }) => html`<tr><th scope="row"><code>${id}</code></th><td>no better than noise</td><td class="number">0 %</td><td></td><td></td></tr>
`,
)}</tbody></table></div>`;
}

function outcomeOf(ranked: Ranked, isBest: boolean): Markup | string {
  if (isClear(ranked)) return isBest ? html`<b class="orange">named</b>` : 'fits worse than the best';
  return ranked.score.certainty > LEAST_CERTAINTY ? 'explains too little' : 'within chance';
}
