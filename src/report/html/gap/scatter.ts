// Both sides of tokens as dots: the engine's log-probability to the right, the trainer's upwards. Equal sides lie on the
// diagonal; between the broken lines is what IcePop keeps.
import { ICEPOP } from '../../../gap/compare.ts';
import type { Picture } from '../../../gap/picture.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';

/** @param tokens of the whole file: the dots are drawn evenly from them. */
export function scatter({ points, largest }: Picture, tokens: number): Markup {
  const marked = largest.map(({ sampling, trainer }) => [sampling, trainer] as const);
  const reach = reachOf([...points, ...marked]);
  const x = (value: number): number => round(LEFT + SIZE * (1 + Math.max(value, -reach) / reach));
  const y = (value: number): number => round(TOP + (SIZE * Math.min(-value, reach)) / reach);
  const dot = ([engine, trainer]: readonly [number, number]): string => `M${x(engine)} ${y(trainer)}h0`;
  const cross = ([engine, trainer]: readonly [number, number]): string =>
    `M${round(x(engine) - CROSS)} ${round(y(trainer) - CROSS)}l${2 * CROSS} ${2 * CROSS}m0 -${2 * CROSS}l-${2 * CROSS} ${2 * CROSS}`;
  const shown =
    points.length === tokens
      ? plural(tokens, 'token')
      : `${plural(points.length, 'token')} of ${tokens.toLocaleString('en')}, drawn evenly`;
  return html`<figure class="histogram gap-scatter"><figcaption>Log-probability of the engine and of the trainer: ${shown}</figcaption><svg viewBox="0 0 ${LEFT + SIZE + RIGHT} ${TOP + SIZE + FOOT}" role="img" aria-label="A dot for each of ${shown}: the engine's log-probability to the right, the trainer's upwards, from -${reach} to 0. Equal sides lie on the diagonal. ${plural(marked.length, 'cross', 'crosses')} for the largest gaps, which the table below lists.">
<path class="frame" d="M${LEFT} ${TOP}h${SIZE}v${SIZE}h-${SIZE}z"/>
<path class="equal" d="M${x(-reach)} ${y(-reach)}L${x(0)} ${y(0)}"/>
${ICEPOP.map(
  (bound) => html`<path class="kept" d="${boundary(Math.log(bound), reach, x, y)}"/>
`,
)}<path class="dots" d="${points.map(dot).join('')}"/>
<path class="far" d="${marked.map(cross).join('')}"/>
<text x="${LEFT + SIZE}" y="${TOP + SIZE + FOOT - 4}" text-anchor="end">0 · engine</text><text x="${LEFT}" y="${TOP + SIZE + FOOT - 4}">-${reach}</text><text x="${LEFT - 4}" y="${TOP + 9}" text-anchor="end">0</text><text x="${LEFT - 4}" y="${TOP + SIZE}" text-anchor="end">-${reach}</text><text x="${LEFT + 5}" y="${TOP + 13}">trainer</text></svg></figure>`;
}

/** What the dots and lines mean. */
export function scatterLegend(): Markup {
  return html`<p class="aside">On the line both sides are equal. Above it the token is likelier in the trainer. IcePop keeps tokens between the broken lines. Crosses: the largest gaps, listed below.</p>`;
}

// --- helpers ---

const SIZE = 290;
const LEFT = 30;
const RIGHT = 6;
const TOP = 6;
const FOOT = 18;
const CROSS = 3;
/** Nats: less than one in a billion; what is below is drawn at the edge. */
const MOST_REACH = 20;

const round = (value: number): number => Math.round(value * 10) / 10;

function reachOf(points: Picture['points']): number {
  const least = points.reduce((low, [engine, trainer]) => Math.min(low, engine, trainer), -1);
  return Math.min(MOST_REACH, Math.ceil(-least));
}

/** trainer = engine + by, within the square. */
function boundary(
  by: number,
  reach: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const from = Math.max(-reach, -reach - by);
  const to = Math.min(0, -by);
  return from >= to ? '' : `M${x(from)} ${y(from + by)}L${x(to)} ${y(to + by)}`;
}
