// What a rule is for: why it matters, and the real bugs that it catches, with where they were seen and what to do.
import { type Bug, bugsOf, threadUrl } from '../../../bugs/index.ts';
import type { PropertyFacts } from '../../../check/events.ts';
import { html, type Markup } from '../page/markup.ts';
import { withCode } from '../page/text.ts';

/** Folded. */
export function aboutRule({ id: property, why, catches }: PropertyFacts, id: string): Markup {
  const bugs = bugsOf(catches);
  return html`<details class="about" id="${id}/about"><summary><h4>About this rule</h4></summary>
${why !== '' && html`<p>${withCode(why)}</p>`}
${bugs.length > 0 && html`<ul class="bugs">${bugs.map(bugItem)}</ul>`}
<p class="note">More: <code>npx lossproof explain ${property}</code></p></details>`;
}

function bugItem({ id, what, todo, seen }: Bug): Markup {
  return html`<li><p><b>${withCode(what)}</b> <span class="aside">${id}</span></p>${todo !== '' && html`<p>${withCode(todo)}</p>`}${
    seen.length > 0 &&
    html`<p class="aside">Seen in ${seen.map((thread, at) => html`${at > 0 && ', '}<a href="${threadUrl(thread)}" rel="noreferrer">${thread}</a>`)}</p>`
  }</li>
`;
}
