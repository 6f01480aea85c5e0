// How a number is spread over the rows of a run: bars, the ends of the axis, and a sentence for who hears the page.
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';

export interface HistogramOptions {
  readonly title: string;
  /** Whole numbers, or shares from 0 to 1. */
  readonly values: readonly number[];
  readonly shares?: boolean;
}

/** A figure; nothing without values. */
export function histogram({ title, values, shares = false }: HistogramOptions): Markup | undefined {
  if (values.length === 0) return undefined;
  const bins = shares ? shareBins(values) : countBins(values);
  const most = Math.max(...bins.map(({ count }) => count));
  const wide = WIDTH / bins.length;
  const said = `${title}: ${bins
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${name}: ${plural(count, 'row')}`)
    .join('; ')}.`;
  return html`<figure class="histogram"><figcaption>${title}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label="${said}">
${bins.map(({ name, count }, at) => {
  const high = count === 0 ? 0 : Math.max(2, Math.round((count / most) * (HEIGHT - TOP)));
  const x = round(at * wide);
  return html`<g><title>${name}: ${plural(count, 'row')}</title><path class="room" d="M${x} 0h${round(wide)}v${HEIGHT}h-${round(wide)}z"/><path class="bar" d="M${x + 1} ${HEIGHT - high}h${round(wide - 2)}v${high}h-${round(wide - 2)}z"/>${count > 0 && html`<text x="${round(x + wide / 2)}" y="${HEIGHT - high - 3}" text-anchor="middle">${count.toLocaleString('en')}</text>`}</g>
`;
})}<path class="base" d="M0 ${HEIGHT + 0.5}h${WIDTH}"/><text x="0" y="${HEIGHT + FOOT - 4}">${bins[0]?.low ?? ''}</text><text x="${WIDTH}" y="${HEIGHT + FOOT - 4}" text-anchor="end">${bins.at(-1)?.high ?? ''}</text></svg></figure>`;
}

// --- helpers ---

const WIDTH = 340;
const HEIGHT = 96;
const FOOT = 18;
/** For the number above the tallest bar. */
const TOP = 14;
const MOST_BINS = 12;
const SHARE_BINS = 10;

interface Bin {
  /** What it holds: "8 to 11 tokens". */
  readonly name: string;
  readonly low: string;
  readonly high: string;
  readonly count: number;
}

const round = (x: number): number => Math.round(x * 10) / 10;

/** Of equal width, in whole numbers. */
function countBins(values: readonly number[]): readonly Bin[] {
  // Not Math.min(...values): a data set has more rows than a call has arguments.
  const [least, greatest] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number],
  );
  const reach = greatest - least + 1;
  const step = Math.ceil(reach / MOST_BINS);
  return Array.from({ length: Math.ceil(reach / step) }, (_, at) => {
    const from = least + at * step;
    const to = Math.min(greatest, from + step - 1);
    return {
      name: from === to ? plural(from, 'token') : `${from.toLocaleString('en')} to ${plural(to, 'token')}`,
      low: plural(from, 'token'),
      high: plural(to, 'token'),
      count: values.filter((value) => value >= from && value <= to).length,
    };
  });
}

/** Tenths; the last holds what is all trained, too. */
function shareBins(values: readonly number[]): readonly Bin[] {
  return Array.from({ length: SHARE_BINS }, (_, at) => {
    const [from, to] = [at * SHARE_BINS, (at + 1) * SHARE_BINS];
    return {
      name: `${from} to ${to} %`,
      low: `${from} %`,
      high: `${to} %`,
      count: values.filter((value) => Math.min(SHARE_BINS - 1, Math.floor(value * SHARE_BINS)) === at).length,
    };
  });
}
