// Three ways to see a failure again, each with a button that copies it: through the harness, through the adapter alone,
// and as a Python literal of the smallest case. The text itself can always be read and selected.
import type { Failure, Replay } from '../../../check/events.ts';
import { commandsOf, seedOf } from '../../failure/reproduce.ts';
import { plural } from '../../text/plural.ts';
import { pythonLiteral } from '../../text/python.ts';
import { html, type Markup } from '../page/markup.ts';

export function reproduceSection(failure: Failure, replay: Replay | undefined): Markup {
  const commands = replay === undefined ? [] : commandsOf(failure, replay);
  // Nobody calls anything with the place in a log or in a traced script that it was found in; a golden case was asked.
  const isPlace = replay?.logged === true || (replay?.traced === true && replay.golden !== true);
  const literal = failure.given === undefined || isPlace ? '' : `case = ${pythonLiteral(failure.given)}`;
  return html`<section class="reproduce"><h4>Reproduce</h4>
<dl>${commands.map(({ way, command }) => copyRow(WAYS[way], command))}${
    literal !== '' &&
    (literal.length <= MOST_LITERAL
      ? copyRow(PYTHON, literal)
      : html`<div><dt>${PYTHON}</dt><dd class="aside">The case has ${plural(literal.length, 'character')} and is better read from its file.</dd></div>`)
  }${replay?.traced !== true && html`<div><dt>by seed</dt><dd class="aside">${seedOf(failure)}</dd></div>`}</dl></section>`;
}

const WAYS: Readonly<Record<ReturnType<typeof commandsOf>[number]['way'], string>> = {
  harness: 'with the harness',
  adapter: 'with the adapter alone',
  again: 'run it again',
};
const PYTHON = 'as a Python literal';
/** What is pasted at a prompt; a longer case would make the page out of itself. */
const MOST_LITERAL = 2_000;

function copyRow(name: string, text: string): Markup {
  return html`<div><dt>${name}</dt><dd><code class="copied-text">${text}</code><button type="button" data-copy aria-label="Copy: ${name}">Copy</button></dd></div>
`;
}
