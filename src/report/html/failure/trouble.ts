// A trainer that failed to answer: what happened, what to do, and the end of what it printed.
import type { TrainerFailure } from '../../../trainer/failure.ts';
import { witnessOf } from '../../failure/trouble.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, cutText } from '../page/text.ts';

export function troubleBlock(trouble: TrainerFailure): Markup {
  const { traceback, printed } = witnessOf(trouble);
  return html`<p class="sentence">${cutText(trouble.message, MESSAGE_CHARACTERS)}</p>
<p class="advice">${cutText(trouble.advice, MESSAGE_CHARACTERS)}</p>
${traceback.length > 0 && html`<h4>Traceback</h4>${printedLines(traceback)}`}
${printed.length > 0 && html`<h4>Last lines of its stderr</h4>${printedLines(printed)}`}`;
}

/** What was printed, line by line; long lines are cut, because what is not a text prints megabytes. */
export function printedLines(lines: readonly string[]): Markup {
  return html`<pre class="printed">${lines.map((line) => html`${cutText(cut(line, LONGEST), LINE_CHARACTERS)}\n`)}</pre>`;
}

const MESSAGE_CHARACTERS = 2_000;
const LINE_CHARACTERS = 500;
/** Beyond this even the length of a line is of no interest. */
const LONGEST = 1_000_000;
