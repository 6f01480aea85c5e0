// Tokens inline and wrapping like text, for whole rows of a data set: what is trained is filled and underlined, every
// token's boundary can be seen, and where the role changes its name is said. Two runs of tokens differ in role or in
// training; a reader who hears the page is told run by run, not token by token.
import type { StripToken } from '../../../check/property.ts';
import type { Role } from '../../../vocabulary.ts';
import { plural } from '../../text/plural.ts';
import { visible } from '../../text/visible.ts';
import { BANDS } from '../failure/strip.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut, readable, tokenText } from '../page/text.ts';

export interface FlowOptions {
  readonly tokens: readonly StripToken[];
  /** Of each token. */
  readonly trained: readonly boolean[];
  /** Columns that are wrong. */
  readonly marks: readonly number[];
}

/** One row. */
export function flow({ tokens, trained, marks }: FlowOptions): Markup {
  const marked = new Set(marks);
  const runs = runsOf(tokens, trained);
  return html`<div class="flow">${runs.map((run, at) => {
    const named = runs[at - 1]?.role !== run.role;
    const shown = tokens
      .slice(run.from, run.to)
      .map((token, offset) => tokenSpan(token, run.from + offset, run.trained, marked));
    return html`<span class="run ${BANDS[run.role]}${run.trained && ' on'}"><span class="sr-only">${spoken(run, tokens)}</span><span aria-hidden="true">${named && html`<small>${run.role}</small>`}${shown}</span></span>`;
  })}</div>`;
}

/** What the looks of a flow mean, once for all rows. */
export function flowLegend(): Markup {
  return html`<p class="flow-legend"><span class="flow"><span class="run b-completion on"><i>trained</i></span></span> <span class="flow"><span class="run b-prompt"><i>not trained</i></span></span> <span class="flow"><span class="run b-padding"><i>padding</i></span></span> <span class="flow"><mark>wrong</mark></span> ␣ space · ⏎ new line · ⇥ tab</p>`;
}

/** What is read aloud of one run. */
const SPOKEN_CHARACTERS = 300;

interface Run {
  readonly role: Role;
  readonly trained: boolean;
  readonly from: number;
  to: number;
}

function runsOf(tokens: readonly StripToken[], trained: readonly boolean[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [at, { role }] of tokens.entries()) {
    const on = trained[at] ?? false;
    const last = runs.at(-1);
    if (last !== undefined && last.role === role && last.trained === on) last.to = at + 1;
    else runs.push({ role, trained: on, from: at, to: at + 1 });
  }
  return runs;
}

function spoken({ role, trained, from, to }: Run, tokens: readonly StripToken[]): string {
  const said = `${role}, ${plural(to - from, 'token')}, ${trained ? 'trained' : 'not trained'}`;
  if (role === 'padding') return `${said}. `;
  let text = '';
  for (let at = from; at < to && text.length <= SPOKEN_CHARACTERS; at++) text += tokens[at]?.text ?? '';
  // The sign for a space is seen, not said.
  return text === '' ? `${said}. ` : `${said}: ${cut(text.replace(/[␠␣]/gu, ' '), SPOKEN_CHARACTERS)}. `;
}

function tokenSpan(
  { id, text, role }: StripToken,
  at: number,
  trained: boolean,
  marked: ReadonlySet<number>,
): Markup {
  const title = [
    String(at),
    ...(id === undefined ? [] : [`id ${id}`]),
    role,
    trained ? 'trained' : 'not trained',
    ...(text !== undefined && text.length > TITLED ? [readable(visible(cut(text, TITLE_CHARACTERS)))] : []),
  ].join(' · ');
  const shown = text === undefined ? html`${id === undefined ? '·' : String(id)}` : tokenText(text);
  // A line of the conversation ends where it ended for the model.
  const end = text?.endsWith('\n') === true && html`<br>`;
  return marked.has(at)
    ? html`<mark title="${title}">${shown}</mark>${end}`
    : html`<i title="${title}">${shown}</i>${end}`;
}

/** A token that is longer than this is cut in the row, and its tool tip has more of it. */
const TITLED = 40;
const TITLE_CHARACTERS = 2_000;
