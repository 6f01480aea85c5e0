// The numbers that differ, worst first, with what was allowed, as a table.
import type { NumberDifference } from '../../../check/property.ts';
import { apart, badness, digits, worstFirst } from '../../text/numbers.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, cutText } from '../page/text.ts';

/** Nothing for no numbers. */
export function numbersTable(numbers: readonly NumberDifference[]): Markup {
  if (numbers.length === 0) return html``;
  const worst = worstFirst(numbers);
  const more = numbers.length - MOST_ROWS;
  return html`<div class="numbers" role="region" tabindex="0" aria-label="Numbers that differ, worst first: ${cut(worst[0]?.where ?? '', WHERE_CHARACTERS)}"><table>
<thead><tr><th scope="col">where</th><th scope="col">expected</th><th scope="col">observed</th><th scope="col">difference</th><th scope="col">relative</th><th scope="col">allowed</th><th scope="col">times allowed</th></tr></thead>
<tbody>${worst.slice(0, MOST_ROWS).map(numberRow)}</tbody></table></div>
${more > 0 && html`<p class="note">and ${plural(more, 'more number')}</p>`}`;
}

/** The worst tell it; the rest is counted. */
const MOST_ROWS = 12;
const WHERE_CHARACTERS = 60;
/** Two digits say how bad it is. */
const SHARE_DIGITS = 2;

function numberRow(number: NumberDifference): Markup {
  const { where, expected, observed, allowed } = number;
  const off = observed - expected;
  const [want, got] = apart(expected, observed);
  return html`<tr><th scope="row">${cutText(where, WHERE_CHARACTERS)}</th><td class="expected">${want}</td><td class="observed">${got}</td><td>${digits(off)}</td><td>${relative(off, expected)}</td><td>${digits(allowed)}</td><td>${times(badness(number))}</td></tr>
`;
}

function relative(off: number, expected: number): string {
  const share = Math.abs(off / expected);
  return Number.isFinite(share) ? short(share) : '–';
}

function times(bad: number): string {
  return Number.isFinite(bad) && bad < Number.MAX_VALUE ? `${short(bad)} ×` : '–';
}

function short(value: number): string {
  return value >= 10 && value < 1e7
    ? Math.round(value).toLocaleString('en')
    : digits(Number(value.toPrecision(SHARE_DIGITS)));
}
