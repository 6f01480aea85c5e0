// Lines over steps as inline SVG: a curve, or several laid over each other, a band that it should keep to, the first point
// that does not. Points that are no numbers break the line and are marked at the top; thousands of points are thinned to
// what a screen can show. Without a script it is all there; with one (plot.js) it tells its numbers and can be zoomed.
import { digits } from '../../text/numbers.ts';
import { html, type Markup, raw } from '../page/markup.ts';
import { axis, extent, type Scale, ticksOf, within } from './axis.ts';

export interface PlotPoint {
  readonly x: number;
  readonly y: number;
}

/** One more line on the same axes. */
export interface PlotCurve {
  readonly name: string;
  readonly points: readonly PlotPoint[];
  /** Held to be healthy: grey and dashed, below the others. */
  readonly baseline?: true;
  /** Which of the points breaks a rule first. */
  readonly violation?: number;
}

export interface SeriesOptions {
  readonly points: readonly PlotPoint[];
  /** What was allowed, as far as it is known, in the order of x. */
  readonly band?: readonly { readonly x: number; readonly low: number; readonly high: number }[];
  /** Which of the points breaks the rule first. */
  readonly violation?: number;
  /** Whose points these are, where there are others. */
  readonly name?: string;
  /** With them, a legend says which is which. */
  readonly others?: readonly PlotCurve[];
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Of y. Points that have no logarithm are marked like those that are no numbers. Default: linear. */
  readonly scale?: Scale;
  /** In units of which a small letter of a tick has 6. Default 160. */
  readonly height?: number;
  /** In the same units: about as many as the plot has pixels where it is shown. Default 480. */
  readonly width?: number;
  /** It carries its numbers, so that a script (plot.js) can tell them and zoom. */
  readonly explored?: true;
}

export function seriesPlot(options: SeriesOptions): Markup {
  const { title, xLabel, yLabel, height = HEIGHT, width = WIDTH, scale = 'linear', others = [] } = options;
  const drawable = (y: number): boolean => Number.isFinite(y) && (scale === 'linear' || y > 0);
  const curves = [
    { name: options.name ?? '', points: options.points, violation: options.violation },
    ...others,
  ].map((curve, index): Drawn => {
    const points = curve.points.filter(({ x }) => Number.isFinite(x));
    const healthy = 'baseline' in curve && curve.baseline === true;
    const violation = curve.violation === undefined ? undefined : curve.points[curve.violation];
    return {
      name: curve.name,
      look: healthy ? 'healthy' : `c${index % COLOURS}`,
      healthy,
      points,
      paths: pathsOf(points, drawable),
      violation,
    };
  });
  const points = curves.flatMap((curve) => curve.points);
  const good = points.filter(({ y }) => drawable(y));
  const band = (options.band ?? []).filter(
    ({ x, low, high }) => Number.isFinite(x) && drawable(low) && drawable(high),
  );
  const reach = extent([...points, ...band].map(({ x }) => x));
  const xTicks = ticksOf(
    reach,
    'linear',
    Math.max(1, Math.min(width < NARROW ? FEW_X_TICKS : X_TICKS, points.length - 1)),
  );
  const xs = axis(reach, 'linear', xTicks.filter(within(reach)));
  const levels = [...good.map(({ y }) => y), ...band.flatMap(({ low, high }) => [low, high])];
  const yTicks = ticksOf(extent(levels, scale), scale, Y_TICKS);
  const yReach = [yTicks[0] ?? 0, yTicks.at(-1) ?? 1] as const;
  const ys = axis(yReach, scale, yTicks);
  const left = MARGIN + CHARACTER * Math.max(...ys.ticks.map((tick) => digits(tick).length));
  const bottom = height - FOOT;
  const px = (x: number): number => left + xs.share(x) * (width - RIGHT - left);
  const py = (y: number): number => bottom - ys.share(y) * (bottom - TOP);
  const said = describe(options, options.points.filter(({ y }) => drawable(y)).length);
  const frame = [left, TOP, width - RIGHT, bottom].map(round).join(' ');
  const numbers =
    options.explored === true && good.length > 0
      ? raw(
          ` data-frame="${frame}" data-x="${reach.join(' ')}" data-y="${yReach.join(' ')}" data-scale="${scale}"`,
        )
      : undefined;
  const curveOf = ({ name, look, points: own, paths }: Drawn): Markup => {
    const dots = own.filter(({ y }) => drawable(y));
    return html`<g class="curve ${look}"${numbers && html` data-name="${name}" data-points="${paths.map((path) => path.map(({ x, y }) => `${short(x)},${short(y)}`).join(' ')).join('|')}"`}>
${paths.map((path) =>
  path.length === 1
    ? path.map(({ x, y }) => html`<circle class="point" cx="${round(px(x))}" cy="${round(py(y))}" r="3"/>`)
    : html`<polyline class="line" points="${path.map(({ x, y }) => at(px(x), py(y))).join(' ')}"/>`,
)}
${dots.length > 1 && dots.length <= MOST_DOTS && curves.length === 1 && dots.map(({ x, y }) => html`<circle class="point" cx="${round(px(x))}" cy="${round(py(y))}" r="2.5"/>`)}
${own
  .filter(({ y }) => !drawable(y))
  .slice(0, MOST_GAPS)
  .map(
    ({ x }) => html`<text class="none" x="${round(px(x))}" y="${TOP + 4}" text-anchor="middle">×</text>`,
  )}</g>
`;
  };
  // Healthy runs lie below what is held against them.
  const ordered = [...curves.filter(({ healthy }) => healthy), ...curves.filter(({ healthy }) => !healthy)];
  return html`<figure class="series"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}. ${said}"${numbers}><title>${title}</title><desc>${said}</desc>
<g class="grid">${ys.ticks.map((tick) => line(left, py(tick), width - RIGHT, py(tick)))}</g>
<g class="ticks">${ys.ticks.map((tick) => html`<text x="${round(left - 6)}" y="${round(py(tick) + 4)}" text-anchor="end">${digits(tick)}</text>`)}${xs.ticks.map((tick) => html`<text x="${round(px(tick))}" y="${round(bottom + 15)}" text-anchor="middle">${digits(tick)}</text>`)}</g>
<text class="label" x="${left}" y="11">${fitting(yLabel, (width - RIGHT - left) / LETTER)}</text><text class="label" x="${width - RIGHT}" y="${height - 3}" text-anchor="end">${xLabel}</text>
<g class="drawn">${band.length > 1 && html`<polygon class="band" points="${[...band.map(({ x, high }) => at(px(x), py(high))), ...band.toReversed().map(({ x, low }) => at(px(x), py(low)))].join(' ')}"/>`}
${ordered.map(curveOf)}
${curves.map(({ violation }) => violation !== undefined && markOf(px(violation.x), drawable(violation.y) ? py(violation.y) : TOP))}</g>
${levels.length === 0 && html`<text class="label" x="${width / 2}" y="${round(height / 2)}" text-anchor="middle">no numbers to show</text>`}
</svg>${curves.length > 1 && legend(curves)}</figure>`;
}

interface Drawn {
  readonly name: string;
  /** As the style sheet knows it. */
  readonly look: string;
  readonly healthy: boolean;
  readonly points: readonly PlotPoint[];
  readonly paths: readonly (readonly PlotPoint[])[];
  readonly violation: PlotPoint | undefined;
}

function legend(curves: readonly Drawn[]): Markup {
  return html`<ul class="legend">${curves.map(
    ({ name, look, healthy }) =>
      html`<li><svg class="curve ${look}" viewBox="0 0 24 8" aria-hidden="true"><line class="line" x1="0" y1="4" x2="24" y2="4"/></svg> ${name}${healthy && ' (baseline)'}</li>`,
  )}</ul>`;
}

/** Colours of the style sheet; more curves have them again. */
const COLOURS = 6;
const WIDTH = 480;
const HEIGHT = 160;
const TOP = 20;
const RIGHT = 10;
/** Room for the ticks of x and the label under them. */
const FOOT = 32;
const MARGIN = 12;
/** Of a digit in the size of the ticks. */
const CHARACTER = 6.5;
/** Of a letter in that size, on average and with some room. */
const LETTER = 6.2;
const X_TICKS = 6;
/** Below this width. */
const NARROW = 400;
const FEW_X_TICKS = 5;
const Y_TICKS = 4;
/** Above this many, dots run into a thick line. */
const MOST_DOTS = 40;
/** More crosses than this say no more. */
const MOST_GAPS = 40;
/** Two points for each unit of the width are as many as can be told apart. */
const MOST_POINTS = 960;

/** Broken at every point that cannot be drawn; of long ones the extremes of each stretch. */
function pathsOf(
  points: readonly PlotPoint[],
  drawable: (y: number) => boolean,
): readonly (readonly PlotPoint[])[] {
  const paths: PlotPoint[][] = [[]];
  for (const point of points) {
    if (drawable(point.y)) paths.at(-1)?.push(point);
    else paths.push([]);
  }
  const stretch = Math.max(1, Math.ceil((2 * points.length) / MOST_POINTS));
  return paths.filter((path) => path.length > 0).map((path) => thinned(path, stretch));
}

function thinned(path: readonly PlotPoint[], stretch: number): readonly PlotPoint[] {
  if (stretch < 3) return path;
  const kept: PlotPoint[] = [];
  for (let from = 0; from < path.length; from += stretch) {
    const part = path.slice(from, from + stretch);
    const low = part.reduce((a, b) => (b.y < a.y ? b : a));
    const high = part.reduce((a, b) => (b.y > a.y ? b : a));
    kept.push(...(low === high ? [low] : low.x < high.x ? [low, high] : [high, low]));
  }
  return kept;
}

function describe({ points, violation, others = [], xLabel, yLabel }: SeriesOptions, good: number): string {
  if (good === 0) return `No numbers to show of ${points.length} points.`;
  const [first, last] = [points[0], points.at(-1)];
  const missing = points.length - good;
  const wrong = violation === undefined ? undefined : points[violation];
  return [
    first === undefined || last === undefined
      ? ''
      : `${yLabel} from ${digits(first.y)} at ${xLabel} ${digits(first.x)} to ${digits(last.y)} at ${xLabel} ${digits(last.x)}.`,
    missing > 0
      ? ` ${missing} of ${points.length} points are not drawn, because they are no numbers on this axis.`
      : '',
    wrong === undefined ? '' : ` First violation at ${xLabel} ${digits(wrong.x)}.`,
    others.length === 0 ? '' : ` Beside it: ${others.map(({ name }) => name).join(', ')}.`,
  ].join('');
}

function markOf(x: number, y: number): Markup {
  const below = y + 5;
  return html`<g class="mark"><circle class="violation" cx="${round(x)}" cy="${round(y)}" r="6"/><polygon class="arrow" points="${at(x, below + 3)} ${at(x - 4, below + 10)} ${at(x + 4, below + 10)}"/></g>`;
}

/** A longer name would run over what stands beside it; its end says more than its beginning. */
function fitting(name: string, most: number): string {
  const characters = [...name];
  return characters.length <= most ? name : `…${characters.slice(1 - Math.floor(most)).join('')}`;
}

function line(x1: number, y1: number, x2: number, y2: number): Markup {
  return html`<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function at(x: number, y: number): string {
  return `${round(x)},${round(y)}`;
}

/** What a person reads of a logged number; steps are whole. */
function short(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

/** A tenth of a unit cannot be seen. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
