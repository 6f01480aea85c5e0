// Logged numbers as plots: of a failure, with what was allowed and the first point that breaks it; and small, one beside
// the other, of a whole run.
import type { SeriesWindow } from '../../../check/property.ts';
import type { SeriesView } from '../../../monitor/view.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { type PlotCurve, type PlotPoint, seriesPlot } from './series.ts';

/** Nothing for none. */
export function seriesFigures(series: readonly SeriesWindow[]): Markup | undefined {
  if (series.length === 0) return undefined;
  return html`<div class="logged">${series.map((window) => {
    const { run, name, violation } = window;
    const points = pointsOf(window);
    const band = bandOf(window);
    return seriesPlot({
      points,
      ...(band === undefined ? {} : { band }),
      ...(violation === undefined ? {} : { violation }),
      title: `${name} of ${run}`,
      xLabel: 'step',
      yLabel: series.length > 1 ? `${name} · ${run}` : name,
      scale: scaleOf(window.values),
      explored: true,
    });
  })}</div>`;
}

/** A small plot; `mark` is the step of the first violation. */
export function smallPlot({ series, points: own, brokenAt }: SeriesView): Markup {
  const points = pointsIn(own);
  const violation = markIn(points, brokenAt);
  return seriesPlot({
    points,
    ...(violation === undefined ? {} : { violation }),
    title: `${series.name} of ${series.run}`,
    xLabel: 'step',
    yLabel: series.name,
    scale: scaleOf(points.map(({ y }) => y)),
    height: SMALL_HEIGHT,
    width: SMALL_WIDTH,
    explored: true,
  });
}

/** A series of one name in several runs, of which the first are those that are judged; at least one. */
export function overlaidPlot(runs: readonly SeriesView[], baselines: readonly SeriesView[]): Markup {
  const curves = [
    ...runs.map((view) => curveOf(view)),
    ...baselines.map((view): PlotCurve => ({ ...curveOf(view), baseline: true })),
  ];
  const [first, ...others] = curves as [PlotCurve, ...PlotCurve[]];
  const { name } = (runs[0] ?? baselines[0])?.series ?? { name: '' };
  return seriesPlot({
    points: first.points,
    name: first.name,
    ...(first.violation === undefined ? {} : { violation: first.violation }),
    others,
    title: `${name}, ${plural(curves.length, 'run')}`,
    xLabel: 'step',
    yLabel: name,
    scale: scaleOf(curves.flatMap(({ points }) => points.map(({ y }) => y))),
    height: SMALL_HEIGHT,
    width: SMALL_WIDTH,
    explored: true,
  });
}

// --- helpers ---

const SMALL_HEIGHT = 110;
const SMALL_WIDTH = 320;
/** Beyond this ratio of the largest to the middle value, all but the largest would lie on the axis. */
const WIDE = 300;

function curveOf({ series, points: own, brokenAt }: SeriesView): PlotCurve {
  const points = pointsIn(own);
  const violation = markIn(points, brokenAt);
  return { name: series.run, points, ...(violation === undefined ? {} : { violation }) };
}

function pointsIn(own: SeriesView['points']): readonly PlotPoint[] {
  return own().map(({ step, value }) => ({ x: step, y: value }));
}

/** Where a step is that breaks a rule: in a thinned curve, the next that is left. */
function markIn(points: readonly PlotPoint[], step: number | undefined): number | undefined {
  const at = step === undefined ? -1 : points.findIndex(({ x }) => x >= step);
  return at < 0 ? undefined : at;
}

function pointsOf({ steps, values }: SeriesWindow): { readonly x: number; readonly y: number }[] {
  return steps.map((x, at) => ({ x, y: values[at] ?? Number.NaN }));
}

function scaleOf(values: readonly number[]): 'linear' | 'log' {
  const finite = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [least, middle, most] = [finite[0], finite[finite.length >> 1], finite.at(-1)];
  if (least === undefined || middle === undefined || most === undefined) return 'linear';
  return least > 0 && most > WIDE * middle ? 'log' : 'linear';
}

/** A side without a bound reaches as far as the points do; a logarithmic axis has no room for zero. */
function bandOf({ band, values }: SeriesWindow): { x: number; low: number; high: number }[] | undefined {
  if (band === undefined || band.steps.length === 0) return undefined;
  const finite = values.filter(Number.isFinite);
  const bounds = [...band.lows, ...band.highs].filter(Number.isFinite);
  const all = [...finite, ...bounds];
  if (all.length === 0) return undefined;
  const log = scaleOf(values) === 'log';
  const floor = log
    ? all.filter((value) => value > 0).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    : all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const ceiling = all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return band.steps.map((x, at) => ({
    x,
    low: Math.max(band.lows[at] ?? floor, floor),
    high: Math.min(band.highs[at] ?? ceiling, ceiling),
  }));
}
