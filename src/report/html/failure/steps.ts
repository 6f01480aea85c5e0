// How a case shrank: the size of the case over the steps, and the steps one below the other; a script turns them into a
// slider that shows one at a time.
import type { ShrinkStep } from '../../../check/events.ts';
import { plural } from '../../text/plural.ts';
import { seriesPlot } from '../monitor/series.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, cutText, readable } from '../page/text.ts';
import { caseBlock } from './case.ts';
import { stripTable } from './strip.ts';

export interface StepsOptions {
  readonly steps: readonly ShrinkStep[];
  /** Begins every id in it. */
  readonly id: string;
}

/** Folded; nothing where there was no way to go. */
export function shrinkSteps({ steps, id }: StepsOptions): Markup {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || steps.length < 2) return html``;
  const sizes = steps.map(({ characters }) => characters);
  const wide = Math.max(...sizes) > LOG_ABOVE * Math.max(1, Math.min(...sizes));
  return html`<details class="steps" id="${id}/steps"><summary><h4>How it shrank</h4> <span class="aside">from ${plural(first.characters, 'character')} to ${last.characters.toLocaleString('en')}, in ${plural(steps.length, 'step')} to look at</span></summary>
${seriesPlot({
  points: sizes.map((y, at) => ({ x: at + 1, y })),
  title: 'Size of the case by step',
  xLabel: 'step',
  yLabel: 'characters of the case',
  scale: wide ? 'log' : 'linear',
  height: PLOT_HEIGHT,
})}
<div class="slider"><label for="${id}/step">Step</label><input type="range" id="${id}/step" data-steps min="1" max="${steps.length}" value="${steps.length}" step="1" aria-valuetext="${said(last, steps.length, steps.length)}"><output for="${id}/step">${steps.length} of ${steps.length}</output></div>
<ol class="step-list">${steps.map((step, at) => stepItem(step, at + 1, steps.length, id))}</ol>
</details>`;
}

/** On a linear axis, less than a fiftieth of the height is the same as nothing. */
const LOG_ABOVE = 50;
const PLOT_HEIGHT = 130;
const SENTENCE_CHARACTERS = 600;
/** What is read aloud while the slider moves. */
const SPOKEN_CHARACTERS = 160;

function stepItem(step: ShrinkStep, number: number, count: number, id: string): Markup {
  const shown = number === count ? 'step shown' : 'step';
  return html`<li class="${shown}" data-said="${said(step, number, count)}"><p><span class="aside">${plural(step.characters, 'character')}</span> ${cutText(step.sentence, SENTENCE_CHARACTERS)}</p>
${step.strip !== undefined && stripTable(step.strip, { label: `Step ${number} of ${id}` })}
${step.given === undefined ? html`<p class="note">The case of this step is too long to be read.</p>` : caseBlock(step.given)}</li>
`;
}

function said({ characters, sentence }: ShrinkStep, number: number, count: number): string {
  const spoken = cut(sentence, SPOKEN_CHARACTERS);
  const short = readable(spoken === sentence ? sentence : `${spoken}…`);
  return `Step ${number} of ${count}, ${plural(characters, 'character')}. ${short}`;
}
