// Logs as a page: the report of any run, whose failures have their plots; and between them and the table of rules every
// series that has a role, run by run.
import type { RunView, SeriesView } from '../../../monitor/view.ts';
import { courseWords } from '../../monitor/courses.ts';
import { readWords, roleWords } from '../../monitor/monitor.ts';
import type { Run } from '../../runs.ts';
import { digits } from '../../text/numbers.ts';
import { plural } from '../../text/plural.ts';
import { shortDigits } from '../../text/series-lines.ts';
import { failures, knownFailures } from '../failure/failures.ts';
import { telling } from '../failure/told.ts';
import { html, type Markup } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { matrix } from '../run/matrix.ts';
import { overview, titleOf } from '../run/overview.ts';
import { besideEachOther } from './beside.ts';
import type { MonitorPage } from './logs.ts';
import { smallPlot } from './monitor-series.ts';

export type { MonitorPage };

/** The whole document. `runs` holds the one run that judged the logs. */
export function monitorPage(runs: readonly Run[], logs: MonitorPage): string {
  const told = telling(runs);
  const body = html`${overview(runs)}
${unreadNotice(logs.unread)}
${remarkNotice(logs.remarks ?? [])}
${unjudgedNotice(logs)}
${failures(told, false)}
${knownFailures(told, false)}
${besideEachOther(logs)}
${logged(logs)}
${matrix(runs, told.anchorOf, told.isOnlyListed)}`;
  return page({ title: titleOf(runs), body });
}

// --- helpers ---

/** A plot is about 6 kB: a page of more is slow to open, and nobody scrolls through it. */
const MOST_PLOTS = 300;
/** Sentences; the terminal has them all. */
const MOST_UNREAD = 20;
/** Rows of the table of series without a role. */
const MOST_ROWS = 500;

function unreadNotice(unread: readonly string[]): Markup | undefined {
  if (unread.length === 0) return undefined;
  const more = unread.length - MOST_UNREAD;
  return html`<div class="banner" role="note"><strong>Not read.</strong> These parts were not judged.<ul>${unread
    .slice(0, MOST_UNREAD)
    .map((sentence) => html`<li>${sentence}</li>`)}</ul>${more > 0 && html`<p>and ${more} more</p>`}</div>`;
}

function remarkNotice(remarks: readonly string[]): Markup | undefined {
  if (remarks.length === 0) return undefined;
  return html`<div class="banner" role="note"><strong>Odd in these logs.</strong><ul>${remarks
    .slice(0, MOST_UNREAD)
    .map((sentence) => html`<li>${sentence}</li>`)}</ul></div>`;
}

function unjudgedNotice({ unjudged }: MonitorPage): Markup | undefined {
  if (unjudged === undefined || unjudged.reasons.length === 0) return undefined;
  const { words, reasons } = unjudged;
  const [first] = reasons;
  return html`<details class="unjudged" id="unjudged"><summary><strong>${words}.</strong> <span class="aside">${first?.why ?? ''}</span></summary>
<ul>${reasons.map(({ ids, why }) => html`<li>${plural(ids.length, 'rule')}: ${why} <span class="aside">(${ids.join(', ')})</span></li>`)}</ul></details>`;
}

function logged(logs: MonitorPage): Markup {
  const { runs, files } = logs;
  let left = MOST_PLOTS;
  const sections = runs.map((run, at) => {
    const shown = run.series.slice(0, left);
    left -= shown.length;
    return runSection(run, shown, at);
  });
  return html`<section class="runs-logged" aria-labelledby="logged"><h2 id="logged">What was logged</h2>
<p>${readWords(logs)}, in ${plural(files, 'file')}. Drawn are the series that rules ask for; a point that breaks a rule is framed.</p>
${sections}</section>`;
}

function runSection(run: RunView, shown: readonly SeriesView[], at: number): Markup {
  const { name, series, others, samples, steps } = run;
  const facts = [
    ...(steps === undefined ? [] : [`steps ${digits(steps[0])} to ${digits(steps[1])}`]),
    ...(series.length + others.length > 0 ? [plural(series.length + others.length, 'series', 'series')] : []),
    ...(samples > 0 ? [plural(samples, 'rollout')] : []),
  ];
  const unshown = series.length - shown.length;
  const id = `run-logged-${at + 1}`;
  const courses = courseWords(run);
  return html`<details id="${id}" open><summary><h3>${name}</h3> <span class="aside">${facts.join(' · ')}</span></summary>
${courses.length > 0 && html`<ul class="courses">${courses.map(({ view, words }) => html`<li><code>${view.series.name}</code> ${words}</li>`)}</ul>`}
${shown.length > 0 && html`<div class="plots">${shown.map(plotOf)}</div>`}
${unshown > 0 && html`<p class="note">and ${unshown.toLocaleString('en')} more with a role</p>`}
${others.length > 0 && otherTable(others, id, name)}</details>
`;
}

function plotOf(view: SeriesView): Markup {
  const { series, broken, value, step } = view;
  const wrong = broken.length > 0;
  const facts = [
    ...(roleWords(series) === '' ? [] : [roleWords(series)]),
    `last ${shortDigits(value)} at step ${digits(step)}`,
  ].join(' · ');
  return html`<div class="plot${wrong && ' wrong'}" data-item="series" data-run="${series.run}"${wrong && html` data-s="fail"`}><h4>${wrong && html`<span class="glyph orange" aria-hidden="true">✗</span> `}<code>${series.name}</code></h4><p class="aside">${facts}${broken.map((rule) => html` · <a href="#${rule}">${rule}</a>`)}</p>${smallPlot(view)}</div>
`;
}

/** Nobody judged them but for numbers that are none; the figures are enough. */
function otherTable(others: readonly SeriesView[], id: string, run: string): Markup {
  const rows = others.slice(0, MOST_ROWS);
  const more = others.length - rows.length;
  return html`<details class="screen-only" id="${id}/others"><summary>${plural(others.length, 'series', 'series')} without a role</summary>
<div class="wide" role="region" aria-label="Series without a role of ${run}" tabindex="0"><table class="others"><caption>Series without a role of ${run}</caption>
<thead><tr><th scope="col">Series</th><th scope="col">Points</th><th scope="col">Last</th><th scope="col">Lowest</th><th scope="col">Highest</th></tr></thead>
<tbody>
${rows.map(
  ({ series, count, value, lowest, highest }) =>
    html`<tr data-item="series" data-run="${series.run}"><th scope="row"><code>${series.name}</code></th>${[count.toLocaleString('en'), shortDigits(value), shortDigits(lowest), shortDigits(highest)].map((cell) => html`<td class="number">${cell}</td>`)}</tr>
`,
)}</tbody></table></div>${more > 0 && html`<p class="note">and ${more} more</p>`}</details>`;
}
