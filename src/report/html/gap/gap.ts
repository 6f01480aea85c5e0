// A gap as a page: the verdict, the causes that are named, both sides as a picture and along completions, what it does to
// training, the tokens that matter, and all causes that competed.
import type { Gap } from '../../../gap/gap.ts';
import { departs, sidesOf } from '../../../gap/model.ts';
import { verdictOf } from '../../gap/gap.ts';
import { type Judged, scoringSentence, sidesSentence, sideText } from '../../gap/model.ts';
import { short } from '../../gap/numbers.ts';
import { biasLines, type Line, measureLines, sourcesShown, trainingSentence } from '../../gap/training.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { cut, cutText } from '../page/text.ts';
import { gapBars } from './bars.ts';
import { causeCard, competition } from './causes.ts';
import { scatter, scatterLegend } from './scatter.ts';
import { idTable, largestTable, type TextOf } from './tokens.ts';

export interface GapPage {
  readonly gap: Gap;
  /** The files. */
  readonly name: string;
  /** Undefined without a tokenizer. */
  readonly textOf: TextOf;
  /** Sentences about the whole: which rows were left out. */
  readonly notes: readonly string[];
  /** Each side beside a model, where there is one. */
  readonly judged?: Judged | undefined;
}

/** The whole document. */
export function gapPage({ gap, name, textOf, notes, judged }: GapPage): string {
  const { analysis, picture } = gap;
  const sentence = verdictOf(gap);
  const [glyph, words] = [sentence.slice(0, 1), sentence.slice(2)];
  const [head = words, ...rest] = words.split(/(?<=[.:]) /);
  const brush = { noise: 'blue', cause: 'orange', unexplained: 'orange' }[analysis.verdict];
  const body = html`<h1 class="${brush}"><span class="glyph" aria-hidden="true">${glyph}</span> ${head}</h1>
${rest.length > 0 && html`<p>${rest.join(' ')}</p>`}
${facts(gap, name)}
${notes.length > 0 && html`<div class="banner" role="note">${notes.map((note) => html`<p>${cutText(note, MOST_CHARACTERS)}</p>`)}</div>`}
${
  analysis.named.length > 0 &&
  html`<section aria-labelledby="named"><h2 id="named">${analysis.named.length === 1 ? 'Cause' : 'Causes'}</h2>
${analysis.named.map(causeCard)}</section>`
}
${judged !== undefined && modelSection(judged, gap)}
<section aria-labelledby="picture"><h2 id="picture">Both sides</h2>
${scatterLegend()}
<div class="histograms">${scatter(picture, gap.comparison.tokens)}<div class="gap-side">${bars(gap)}</div></div></section>
${trainingSection(gap)}
<section class="semantics gap-tokens" aria-labelledby="tokens"><h2 id="tokens">Tokens that matter</h2>
<h3>Largest gaps</h3>
${largestTable(picture, textOf)}
<h3>Ids</h3>
${idTable(picture, textOf)}
${textOf === undefined && html`<p class="aside">With --tokenizer DIR the ids have their text.</p>`}</section>
<section class="semantics gap-causes" aria-labelledby="causes"><h2 id="causes">Causes that competed</h2>
${competition(gap)}</section>
${breakdownSection(gap)}`;
  return page({ title: `${glyph} ${cut(head, MOST_TITLE)} · ${cut(name, MOST_TITLE)} · lossproof`, body });
}

// --- helpers ---

/** Of file names, or of a sentence about a row. */
const MOST_CHARACTERS = 800;
const MOST_TITLE = 200;

function facts({ comparison, names }: Gap, name: string): Markup {
  const entries: readonly (readonly [string, string])[] = [
    ['files', name],
    ['compared', `${plural(comparison.rows, 'row')}, ${plural(comparison.tokens, 'token')}`],
    ['engine', names.sampling],
    ['trainer', names.trainer],
    ['mean |gap|, RMS', `${short(comparison.meanAbs)}, ${short(comparison.rms)} nats`],
  ];
  return html`<dl class="facts">${entries.map(
    ([term, value]) => html`<div><dt>${term}</dt><dd>${cutText(value, MOST_CHARACTERS)}</dd></div>`,
  )}</dl>`;
}

function modelSection(judged: Judged, { missing }: Gap): Markup {
  const sides = sidesOf(judged.against);
  return html`<section class="semantics" aria-labelledby="model"><h2 id="model">Each side against the model</h2>
<p><b>${sidesSentence(judged)}</b></p>
<table><caption>Each side against the model</caption><thead><tr><th scope="col">Side</th><th scope="col">Beside the model</th></tr></thead><tbody>
${sides.map(
  ({
    name,
    side,
  }) => html`<tr><th scope="row">${name}</th><td${departs(side) && html` class="orange"`}>${sideText(side)}</td></tr>
`,
)}</tbody></table>
${sides.flatMap(({ side }) =>
  (missing === undefined ? side.analysis.named : []).map(
    ({ id, fit }) => html`<p><code>${id}</code>: ${cutText(fit.sentence, MOST_CHARACTERS)}</p>
`,
  ),
)}<p class="aside">${cutText(scoringSentence(judged), MOST_CHARACTERS)}</p></section>
`;
}

function bars({ picture, comparison: { meanAbs: mean } }: Gap): Markup {
  return html`${gapBars({ title: 'Mean |gap| by tokens before, in the completion', bins: picture.places, mean })}${gapBars(
    { title: 'Mean |gap| by tokens after, in the completion', bins: picture.ends, mean },
  )}`;
}

function trainingSection(gap: Gap): Markup {
  const row = ({ what, value, healthy, isOutside = false }: Line): Markup =>
    html`<tr><th scope="row">${what}</th><td${isOutside && html` class="orange"`}>${isOutside && html`<span class="glyph" aria-hidden="true">!</span> `}${value}${isOutside && html`<span class="sr-only"> (outside)</span>`}</td><td>${healthy ?? ''}</td></tr>
`;
  return html`<section class="semantics" aria-labelledby="training"><h2 id="training">In training</h2>
<p>${trainingSentence(gap)}</p>
<div class="wide" role="region" tabindex="0" aria-label="What the gap does to training"><table><caption>What the gap does to training</caption><thead><tr><th scope="col">Measure</th><th scope="col">Value</th><th scope="col">Healthy</th></tr></thead><tbody>
${measureLines(gap).map(row)}${biasLines(gap).map(row)}</tbody></table></div>
<p class="aside">The weight of a token is p(trainer) / p(engine): what the gradient should count it, if the engine recorded what it sampled from. Bias is without advantages. Ranges: ${sourcesShown().map(
    ({ name, page: address }, at) => html`${at > 0 && ', '}<a href="${address}" rel="noreferrer">${name}</a>`,
  )}.</p></section>`;
}

function breakdownSection({ breakdowns }: Gap): Markup {
  return html`<section aria-labelledby="parts"><h2 id="parts">Mean |gap|</h2>
<div class="gap-parts">${breakdowns.map(
    ({
      by,
      parts,
    }) => html`<table><thead><tr><th scope="col">By ${by}</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Mean |gap|</th><th scope="col" class="number">Mean gap</th></tr></thead><tbody>
${parts.map(
  (
    part,
  ) => html`<tr><th scope="row">${cut(part.name, MOST_TITLE)}</th><td class="number">${part.tokens.toLocaleString('en')}</td><td class="number">${short(part.meanAbs)}</td><td class="number">${short(part.mean)}</td></tr>
`,
)}</tbody></table>
`,
  )}</div></section>`;
}
