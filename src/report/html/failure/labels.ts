// What failing cases have that those that hold lack: each label with two bars, the share of failing and of holding cases
// that have it, the widest apart first. It says where to look, and no more than that.
import type { ComparedLabels, PropertyResult } from '../../../check/events.ts';
import { percent } from '../../../check/labels.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut } from '../page/text.ts';

/** Folded: a sentence says what is sharpest, if anything is. */
export function labelBars({ comparedLabels }: PropertyResult, id: string): Markup | undefined {
  if (comparedLabels === undefined) return undefined;
  const { failing, holding } = comparedLabels;
  const rows = rowsOf(comparedLabels);
  const [first] = rows;
  if (first === undefined) return undefined;
  const more = rows.length - MOST_ROWS;
  return html`<details class="labels" id="${id}/labels"><summary><h4>Labels of failing and holding cases</h4> <span class="aside">furthest apart: ${cut(first.label, LABEL_CHARACTERS)}</span></summary>
<p class="note">${plural(failing, 'case')} ${failing === 1 ? 'fails' : 'fail'} in this way, ${plural(holding, 'case')} ${holding === 1 ? 'holds' : 'hold'}. A label is what the harness knows of a case before the trainer sees it.</p>
<div class="wide" role="region" tabindex="0" aria-label="Labels of ${id}"><table><thead><tr><th scope="col">Label</th><th scope="col" colspan="2">✗ of failing</th><th scope="col" colspan="2">✓ of holding</th></tr></thead>
<tbody>
${rows.slice(0, MOST_ROWS).map(({ label, shares: [fails, holds] }) => html`<tr><th scope="row">${cut(label, LABEL_CHARACTERS)}</th>${cells('fails', fails)}${cells('holds', holds)}</tr>\n`)}</tbody></table></div>
${more > 0 && html`<p class="note">and ${plural(more, 'more label')}</p>`}</details>`;
}

// --- helpers ---

const MOST_ROWS = 30;
const LABEL_CHARACTERS = 80;
const WIDTH = 120;

interface Row {
  readonly label: string;
  readonly shares: readonly [failing: number, holding: number];
}

function rowsOf({ failing, holding, labels }: ComparedLabels): readonly Row[] {
  return Object.entries(labels)
    .map(([label, counts]): Row => ({ label, shares: [counts.failing / failing, counts.holding / holding] }))
    .sort((a, b) => apart(b) - apart(a));
}

const apart = ({ shares: [failing, holding] }: Row): number => Math.abs(failing - holding);

function cells(whose: 'fails' | 'holds', share: number): Markup {
  const text = percent(Math.round(100 * share) / 100).replace(' ', '\u00a0');
  return html`<td><svg class="${whose}" viewBox="0 0 ${WIDTH} 10" aria-hidden="true"><path d="M0 0h${Math.round(share * WIDTH)}v10h-${Math.round(share * WIDTH)}z"/></svg></td><td class="number">${text}</td>`;
}
