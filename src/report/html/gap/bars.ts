// The gap along completions: a bar for each range of places, the mean of all as a line, and a sentence for who hears the page.
import type { Bin } from '../../../gap/picture.ts';
import { short } from '../../gap/numbers.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';

export interface BarsOptions {
  readonly title: string;
  readonly bins: readonly Bin[];
  /** Mean |gap| of all tokens. */
  readonly mean: number;
}

/** A figure; nothing of a single bar. */
export function gapBars({ title, bins, mean }: BarsOptions): Markup | undefined {
  if (bins.length < 2) return undefined;
  const most = Math.max(mean, ...bins.map(({ meanAbs }) => meanAbs));
  const high = (value: number): number => (most === 0 ? 0 : round((value / most) * (HEIGHT - TOP)));
  const wide = (WIDTH - LEFT) / bins.length;
  const said = `${title}: ${bins.map((bin) => `${nameOf(bin)}: ${short(bin.meanAbs)}`).join('; ')}.`;
  return html`<figure class="histogram gap-bars"><figcaption>${title}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label="${said}">
<text x="0" y="${TOP + 4}">${short(most)}</text>
${bins.map((bin, at) => {
  const x = round(LEFT + at * wide);
  const tall = high(bin.meanAbs);
  const labelled = at % LABELLED === 0;
  return html`<g><title>${nameOf(bin)}: mean |gap| ${short(bin.meanAbs)}, ${plural(bin.tokens, 'token')}</title><path class="room" d="M${x} 0h${round(wide)}v${HEIGHT}h-${round(wide)}z"/><path class="bar${bin.meanAbs > STANDS_OUT * mean && ' out'}" d="M${x + 1} ${HEIGHT - tall}h${round(wide - 2)}v${tall}h-${round(wide - 2)}z"/>${labelled && html`<text x="${round(x + wide / 2)}" y="${HEIGHT + FOOT - 4}" text-anchor="middle">${bin.from}</text>`}</g>
`;
})}<path class="base" d="M${LEFT} ${HEIGHT + 0.5}h${WIDTH - LEFT}"/><path class="mean" d="M${LEFT} ${round(HEIGHT - high(mean))}h${WIDTH - LEFT}"/></svg></figure>`;
}

// --- helpers ---

const WIDTH = 340;
const HEIGHT = 120;
const FOOT = 18;
const TOP = 8;
/** For the number of the axis. */
const LEFT = 34;
/** Every third place is written below its bar. */
const LABELLED = 3;
/** Times the mean of all. */
const STANDS_OUT = 2;

const round = (x: number): number => Math.round(x * 10) / 10;

const nameOf = ({ from, to }: Bin): string => (from === to ? `place ${from}` : `places ${from} to ${to}`);
