// Text as a terminal or a CI runner shows it, and obeys nothing of it. The one writer (way-out.ts) passes all text through here, so
// that a name in somebody's trainer, file or log cannot move the cursor, set the clipboard or give orders to a job.
import { COLOURED } from '../report/text/paint.ts';
import { escapeOf } from '../visible.ts';

export interface Place {
  /** A terminal: our own lines are drawn again there. */
  readonly isTty: boolean;
}

/** What would act is an escape; our own colours pass, and our own moves at the beginning of the text. */
export function inert(text: string, { isTty }: Place): string {
  const moves = isTty ? (OWN_MOVES.exec(text)?.[0] ?? '') : '';
  const shown = text
    .slice(moves.length)
    .replaceAll(ACTING, (found) => (OWN_COLOURS.has(found) ? found : escapeOf(found) + found.slice(1)));
  // Most text has neither sign.
  return moves + (shown.includes('::') || shown.includes('##') ? withoutOrders(shown) : shown);
}

/** A colour as a whole, so that it can be known as ours; or one character of those that act. A tab moves nothing back. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ACTING = /\u001b\[[\d;]*m|(?![\n\t])[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

/** Read off the brushes: what each begins and ends with. */
const OWN_COLOURS: ReadonlySet<string> = new Set(
  Object.values(COLOURED).flatMap((brush) => brush('|').split('|')),
);

/** The live line and the live block, each at the beginning of what is written. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN_MOVES = /^(?:\r\u001b\[K|\u001b\[\d{1,4}A\r\u001b\[J)/;

/**
 * GitHub obeys `::error` at the beginning of a line, after any white space, and `##[error]` anywhere; Azure `##vso[...]`.
 * https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
 */
function withoutOrders(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, '$1\\x3a').replaceAll(/#(?=#\w*\[)/g, '\\x23');
}
