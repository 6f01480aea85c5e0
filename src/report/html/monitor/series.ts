// A line over steps as inline SVG: one curve, a band that it should keep to, the first point that does not. Points that
// are no numbers break the line and are marked at the top; thousands of points are thinned to what a screen can show.
import { digits } from '../../text/numbers.ts';
import { html, type Markup } from '../page/markup.ts';

export interface SeriesOptions {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** What was allowed, as far as it is known, in the order of x. */
  readonly band?: readonly { readonly x: number; readonly low: number; readonly high: number }[];
  /** Which of the points breaks the rule first. */
  readonly violation?: number;
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Of y. Points that have no logarithm are marked like those that are no numbers. Default: linear. */
  readonly scale?: 'linear' | 'log';
  /** In units of which a small letter of a tick has 6. Default 160. */
  readonly height?: number;
  /** In the same units: about as many as the plot has pixels where it is shown. Default 480. */
  readonly width?: number;
}

export function seriesPlot(options: SeriesOptions): Markup {
  const { title, xLabel, yLabel, height = HEIGHT, width = WIDTH, scale = 'linear' } = options;
  const drawable = (y: number): boolean => Number.isFinite(y) && (scale === 'linear' || y > 0);
  const points = options.points.filter(({ x }) => Number.isFinite(x));
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
  const ys = axis([yTicks[0] ?? 0, yTicks.at(-1) ?? 1], scale, yTicks);
  const left = MARGIN + CHARACTER * Math.max(...ys.ticks.map((tick) => digits(tick).length));
  const bottom = height - FOOT;
  const px = (x: number): number => left + xs.share(x) * (width - RIGHT - left);
  const py = (y: number): number => bottom - ys.share(y) * (bottom - TOP);
  const violation = options.violation === undefined ? undefined : options.points[options.violation];
  const said = describe(options, good.length);
  return html`<figure class="series"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}. ${said}"><title>${title}</title><desc>${said}</desc>
<g class="grid">${ys.ticks.map((tick) => line(left, py(tick), width - RIGHT, py(tick)))}</g>
<g class="ticks">${ys.ticks.map((tick) => html`<text x="${round(left - 6)}" y="${round(py(tick) + 4)}" text-anchor="end">${digits(tick)}</text>`)}${xs.ticks.map((tick) => html`<text x="${round(px(tick))}" y="${round(bottom + 15)}" text-anchor="middle">${digits(tick)}</text>`)}</g>
<text class="label" x="${left}" y="11">${yLabel}</text><text class="label" x="${width - RIGHT}" y="${height - 3}" text-anchor="end">${xLabel}</text>
${band.length > 1 && html`<polygon class="band" points="${[...band.map(({ x, high }) => at(px(x), py(high))), ...band.toReversed().map(({ x, low }) => at(px(x), py(low)))].join(' ')}"/>`}
${pathsOf(points, drawable).map((path) =>
  path.length === 1
    ? path.map(({ x, y }) => html`<circle class="point" cx="${round(px(x))}" cy="${round(py(y))}" r="3"/>`)
    : html`<polyline class="line" points="${path.map(({ x, y }) => at(px(x), py(y))).join(' ')}"/>`,
)}
${good.length > 1 && good.length <= MOST_DOTS && good.map(({ x, y }) => html`<circle class="point" cx="${round(px(x))}" cy="${round(py(y))}" r="2.5"/>`)}
${points
  .filter(({ y }) => !drawable(y))
  .slice(0, MOST_GAPS)
  .map(({ x }) => html`<text class="none" x="${round(px(x))}" y="${TOP + 4}" text-anchor="middle">×</text>`)}
${violation !== undefined && markOf(px(violation.x), drawable(violation.y) ? py(violation.y) : TOP)}
${levels.length === 0 && html`<text class="label" x="${width / 2}" y="${round(height / 2)}" text-anchor="middle">no numbers to show</text>`}
</svg></figure>`;
}

const WIDTH = 480;
const HEIGHT = 160;
const TOP = 20;
const RIGHT = 10;
/** Room for the ticks of x and the label under them. */
const FOOT = 32;
const MARGIN = 12;
/** Of a digit in the size of the ticks. */
const CHARACTER = 6.5;
const X_TICKS = 6;
/** Below this width. */
const NARROW = 400;
const FEW_X_TICKS = 4;
const Y_TICKS = 4;
/** Above this many, dots run into a thick line. */
const MOST_DOTS = 40;
/** More crosses than this say no more. */
const MOST_GAPS = 40;
/** Two points for each unit of the width are as many as can be told apart. */
const MOST_POINTS = 960;

type Point = SeriesOptions['points'][number];

function extent(values: readonly number[], scale: 'linear' | 'log' = 'linear'): readonly [number, number] {
  if (values.length === 0) return scale === 'log' ? [1, 10] : [0, 1];
  // Not Math.min(...values): a run log has more points than a call has arguments.
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low < high || scale === 'log') return [low, high];
  const room = Math.abs(low) / 2 || 1;
  return [low - room, low + room];
}

/** Round numbers that enclose the extent, few; powers of ten on a logarithmic axis. */
function ticksOf([low, high]: readonly [number, number], scale: 'linear' | 'log', most: number): number[] {
  if (scale === 'log') return powersOf(low, high, most);
  const rough = (high - low) / most;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((each) => each * magnitude >= rough) ?? 10);
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  // Not finite where the extent is wider than numbers are.
  if (!Number.isFinite(step) || !(last - first < 3 * most)) return [low, high];
  return Array.from({ length: last - first + 1 }, (_, each) =>
    Number(((first + each) * step).toPrecision(12)),
  );
}

function powersOf(low: number, high: number, most: number): number[] {
  const first = Math.min(MOST_POWER - 1, Math.max(LEAST_POWER, Math.floor(Math.log10(low))));
  const last = Math.min(MOST_POWER, Math.max(first + 1, Math.ceil(Math.log10(high))));
  const step = Math.ceil((last - first) / most);
  const count = Math.ceil((last - first) / step);
  return Array.from({ length: count + 1 }, (_, each) =>
    Number(`1e${Math.min(MOST_POWER, first + each * step)}`),
  );
}

/** The powers of ten that numbers hold. */
const LEAST_POWER = -323;
const MOST_POWER = 308;

function within([low, high]: readonly [number, number]): (value: number) => boolean {
  return (value) => value >= low && value <= high;
}

/** Where a value stands on an axis, as a share of its length. */
function axis(
  [low, high]: readonly [number, number],
  scale: 'linear' | 'log',
  ticks: readonly number[],
): { readonly ticks: readonly number[]; readonly share: (value: number) => number } {
  const on = (value: number): number => (scale === 'log' ? Math.log10(value) : value);
  // Halves, because the whole may be more than a number holds.
  const [from, to] = [on(low) / 2, on(high) / 2];
  return { ticks, share: (value) => (on(value) / 2 - from) / (to - from) };
}

/** Broken at every point that cannot be drawn; of long ones the extremes of each stretch. */
function pathsOf(points: readonly Point[], drawable: (y: number) => boolean): readonly (readonly Point[])[] {
  const paths: Point[][] = [[]];
  for (const point of points) {
    if (drawable(point.y)) paths.at(-1)?.push(point);
    else paths.push([]);
  }
  const stretch = Math.max(1, Math.ceil((2 * points.length) / MOST_POINTS));
  return paths.filter((path) => path.length > 0).map((path) => thinned(path, stretch));
}

function thinned(path: readonly Point[], stretch: number): readonly Point[] {
  if (stretch < 3) return path;
  const kept: Point[] = [];
  for (let from = 0; from < path.length; from += stretch) {
    const part = path.slice(from, from + stretch);
    const low = part.reduce((a, b) => (b.y < a.y ? b : a));
    const high = part.reduce((a, b) => (b.y > a.y ? b : a));
    kept.push(...(low === high ? [low] : low.x < high.x ? [low, high] : [high, low]));
  }
  return kept;
}

function describe({ points, violation, xLabel, yLabel }: SeriesOptions, good: number): string {
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
  ].join('');
}

function markOf(x: number, y: number): Markup {
  const below = y + 5;
  return html`<circle class="violation" cx="${round(x)}" cy="${round(y)}" r="6"/><polygon class="arrow" points="${at(x, below + 3)} ${at(x - 4, below + 10)} ${at(x + 4, below + 10)}"/>`;
}

function line(x1: number, y1: number, x2: number, y2: number): Markup {
  return html`<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function at(x: number, y: number): string {
  return `${round(x)},${round(y)}`;
}

/** A tenth of a unit cannot be seen. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
