// How much a run really tried: what was refused or set aside, how long it took, and the share of cases with each label
// against what the property promises. What makes the result worth less stands above, as warnings.
import type { PropertyResult } from '../../../check/events.ts';
import { percent, thinSentence } from '../../../check/labels.ts';
import { refusalLines } from '../../refusals.ts';
import { renewedLines } from '../../renewed.ts';
import { type Run, runNames } from '../../runs.ts';
import { seconds } from '../../summary.ts';
import { plural } from '../../text/plural.ts';
import { tooFewJudged } from '../../text/table.ts';
import { html, type Markup } from '../page/markup.ts';

export function health(runs: readonly Run[]): Markup {
  const names = runNames(runs);
  return html`<section class="health" aria-labelledby="health"><h2 id="health">Health of the run</h2>
${runs.map((run, at) => {
  const tried = run.results.filter(({ cases }) => cases > 0);
  const listed = tried.slice(0, MOST_ROWS);
  const said = run.end === undefined ? [] : [...refusalLines(run.end), ...renewedLines(run.end)];
  const warnings = [...said.map((line) => html`<li>${line}</li>`), ...run.results.flatMap(warningsOf)];
  const name = runs.length > 1 ? `${names[at] ?? ''}: what` : 'What';
  return html`${warnings.length > 0 && html`<ul class="warnings">${warnings}</ul>`}
<details class="screen-only" id="health-${at + 1}"><summary>${name} the cases tried, property by property</summary>
<p>${TEXT}</p>
<div class="wide" role="region" aria-label="Health of ${names[at] ?? ''}" tabindex="0"><table>
<caption>Cases and labels of ${names[at] ?? ''}</caption>
<thead><tr><th scope="col" class="what">Property</th><th scope="col" class="number">Judged</th><th scope="col" class="number">Not judged</th><th scope="col" class="number">Time</th><th scope="col">Labels, share of judged cases</th></tr></thead>
<tbody>
${listed.map(row)}</tbody></table></div>${untried(run, tried.length)}${more(tried.length - listed.length)}</details>
`;
})}</section>`;
}

/** A row has a dozen labels: twice the whole catalogue is room enough, and thousands would be most of the page. */
const MOST_ROWS = 500;

const TEXT =
  'The bar is the share of judged cases with a label, the stroke across it the least share that the property asks for. Refused: by the trainer. Set aside: by the check, because the case says nothing about its rule.';

function warningsOf(result: PropertyResult): Markup[] {
  const few = tooFewJudged(result);
  const said = [...result.thin.map(thinSentence), ...(few === undefined ? [] : [few])];
  return said.map(
    (sentence) =>
      html`<li data-property="${result.id}"><span class="verdict orange"><span class="glyph" aria-hidden="true">%</span> <code>${result.id}</code></span>: ${sentence}.</li>
`,
  );
}

function row(result: PropertyResult): Markup {
  const { id, cases, rejected, setAside, milliseconds } = result;
  const judged = cases - rejected - setAside;
  const left = [rejected > 0 && `${rejected} refused`, setAside > 0 && `${setAside} set aside`].filter(
    Boolean,
  );
  const share = left.length === 0 ? '' : ` (${whole((rejected + setAside) / cases)})`;
  return html`<tr data-property="${id}"><th scope="row"><code>${id}</code></th><td class="number">${judged}</td><td class="number">${left.join(', ')}${share}</td><td class="number">${seconds(milliseconds)}</td><td>${judged > 0 && labels(result, judged)}</td></tr>
`;
}

/** Those with a threshold have a bar, the one that is closest to its own first; of the others the share is enough. */
function labels({ labels: counts, coverage = {}, thin }: PropertyResult, judged: number): Markup {
  const share = (label: string): number => (counts[label] ?? 0) / judged;
  const promised = Object.entries(coverage).sort(([a, x], [b, y]) => share(a) / x - share(b) / y);
  const others = Object.keys(counts)
    .filter((label) => coverage[label] === undefined)
    .sort((a, b) => share(b) - share(a));
  return html`${promised.map(([label, least]) => {
    const short = thin.some((each) => each.label === label);
    return html`<div class="label${short && ' thin'}">${bar(share(label), least)} ${short && html`<b>thin</b> `}${label} ${whole(share(label))} <small>(at least ${whole(least)})</small></div>`;
  })}${others.length > 0 && html`<small>${others.map((label) => `${label} ${whole(share(label))}`).join(' · ')}</small>`}`;
}

/** The numbers stand beside it. */
function bar(share: number, least: number): Markup {
  const [at, mark] = [share, least].map((part) => Math.round(Math.min(1, part) * WIDTH));
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 10" aria-hidden="true"><rect width="${at}" height="10"/><path d="M${mark} 0v10"/></svg>`;
}

const WIDTH = 80;

function more(left: number): Markup | undefined {
  if (left === 0) return undefined;
  return html`<p>${plural(left, 'further row')}: the file of events has them.</p>`;
}

function untried({ results }: Run, tried: number): Markup | undefined {
  const rest = results.length - tried;
  if (rest === 0) return undefined;
  return html`<p>${plural(rest, 'property', 'properties')} had no case, and ${rest === 1 ? 'is' : 'are'} not listed here.</p>`;
}

/** A number is not torn from its sign at the end of a line. */
function whole(share: number): string {
  return percent(share).replace(' ', '\u00a0');
}
