// What is asked of the trainers beyond failing cases, and what is noted of them: each with the lines that answer it.
import { isRemark, NOTES_HEAD, type Note, notesIn, REMARKS_HEAD } from '../../notes.ts';
import { type Run, runNames } from '../../runs.ts';
import { html, type Markup } from '../page/markup.ts';

/** Questions without a case; those of a case stand on its card. */
export function questionsSheet(runs: readonly Run[]): Markup | false {
  return sheet(runs, 'questions', 'Questions', ({ results }) =>
    results.flatMap(({ id, verdict, failure, reason = '', answers = [] }) =>
      verdict === 'ask' && failure === undefined ? [{ id, sentence: reason, answers }] : [],
    ),
  );
}

/** Legal, and often not meant; and what is only worth knowing. */
export function notesSheet(runs: readonly Run[]): Markup {
  const asked = (run: Run): readonly Item[] => notesIn(run).filter((note) => !isRemark(note));
  const told = (run: Run): readonly Item[] => notesIn(run).filter(isRemark);
  return html`${sheet(runs, 'notes', NOTES_HEAD, asked)}${sheet(runs, 'remarks', REMARKS_HEAD, told)}`;
}

type Item = Note & { readonly id?: string };

function sheet(
  runs: readonly Run[],
  name: string,
  head: string,
  of: (run: Run) => readonly Item[],
): Markup | false {
  const names = runNames(runs);
  const parts = runs.map((run, at) => ({ whose: names[at], items: of(run) }));
  const told = parts.filter(({ items }) => items.length > 0);
  return (
    told.length > 0 &&
    html`<section class="${name}" aria-labelledby="${name}"><h2 id="${name}">${head}</h2>
${told.map(({ whose, items }) => html`${runs.length > 1 && html`<h3>${whose}</h3>`}${items.map(item)}`)}</section>`
  );
}

function item({ id, sentence, answers }: Item): Markup {
  return html`<div class="told">${id !== undefined && html`<p><code>${id}</code></p>`}<p>${sentence}</p>
<ul>${answers.map((answer) => html`<li><code>${answer}</code></li>`)}</ul></div>
`;
}
