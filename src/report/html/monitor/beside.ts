// Several runs beside each other: a table, and the series that they have in common in one plot each.
import { rankedBy } from '../../../monitor/beside/ranking.ts';
import type { RunView, SeriesView } from '../../../monitor/view.ts';
import { rankColumns } from '../../monitor/ranking.ts';
import { html, type Markup } from '../page/markup.ts';
import type { MonitorPage } from './logs.ts';
import { overlaidPlot } from './monitor-series.ts';

/** Nothing of one run alone. */
export function besideEachOther({ runs, baselines, ranking }: MonitorPage): Markup | undefined {
  const names = new Set(baselines.map(({ name }) => name));
  const judged = runs.filter(({ name }) => !names.has(name));
  if (judged.length + baselines.length < 2) return undefined;
  const plots = commonSeries(judged, baselines);
  if (ranking.length === 0 && plots.length === 0) return undefined;
  const columns = rankColumns(ranking);
  const by = rankedBy(ranking);
  const more = ranking.length - MOST_ROWS;
  return html`<section class="beside" aria-labelledby="beside"><h2 id="beside">Beside each other</h2>
${
  ranking.length > 0 &&
  html`<div class="wide" role="region" aria-label="Runs beside each other" tabindex="0"><table class="others"><caption>Runs${by !== undefined && `, by ${by}`}</caption>
<thead><tr><th scope="col">Run</th>${columns.map(({ long }) => html`<th scope="col">${long}</th>`)}</tr></thead>
<tbody>
${ranking.slice(0, MOST_ROWS).map(
  (row) =>
    html`<tr><th scope="row"><code>${row.name}</code></th>${columns.map(({ cell }) => html`<td class="number">${cell(row)}</td>`)}</tr>
`,
)}</tbody></table></div>${more > 0 && html`<p class="note">and ${more} more</p>`}`
}
${plots.length > 0 && html`<div class="plots overlaid">${plots.map(plotOf)}</div>`}</section>`;
}

// --- helpers ---

const MOST_ROWS = 100;
/** Each holds the points of all its runs. */
const MOST_PLOTS = 40;
/** More lines on one pair of axes are not told apart. */
const MOST_RUNS = 8;
const MOST_BASELINES = 4;

interface Common {
  readonly name: string;
  readonly runs: readonly SeriesView[];
  readonly baselines: readonly SeriesView[];
  /** Runs that are not drawn. */
  readonly left: number;
}

function commonSeries(runs: readonly RunView[], baselines: readonly RunView[]): readonly Common[] {
  const named = (all: readonly RunView[], name: string): SeriesView[] =>
    all.flatMap(({ series }) => series.filter((view) => view.series.name === name));
  const names = new Set(
    [...runs, ...baselines].flatMap(({ series }) => series.map((view) => view.series.name)),
  );
  const common = [...names].flatMap((name): Common[] => {
    const [own, healthy] = [named(runs, name), named(baselines, name)];
    if (own.length + healthy.length < 2) return [];
    // What is wrong is drawn whatever is left out.
    const first = own.toSorted((a, b) => Number(b.broken.length > 0) - Number(a.broken.length > 0));
    const drawn = { runs: first.slice(0, MOST_RUNS), baselines: healthy.slice(0, MOST_BASELINES) };
    const left = own.length + healthy.length - drawn.runs.length - drawn.baselines.length;
    return [{ name, ...drawn, left }];
  });
  return common.slice(0, MOST_PLOTS);
}

function plotOf({ name, runs, baselines, left }: Common): Markup {
  const wrong = runs.some(({ broken }) => broken.length > 0);
  return html`<div class="plot${wrong && ' wrong'}" data-item="series" data-run="${[...runs, ...baselines].map(({ series }) => series.run).join(' ')}"${wrong && html` data-s="fail"`}><h3><code>${name}</code></h3>${left > 0 && html`<p class="aside">${left} more are not drawn</p>`}${overlaidPlot(runs, baselines)}</div>
`;
}
