// The page of files that runs are written into: it waits for the first, shows them as they grow, and says what of them
// cannot be read.
import type { Run } from '../../runs.ts';
import { html, type Markup, raw } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { titleOf } from './overview.ts';
import { htmlBody } from './report.ts';

export interface Followed {
  /** As they were typed. */
  readonly files: readonly string[];
  readonly runs: readonly Run[];
  /** What cannot be read, one sentence each. */
  readonly problems: readonly string[];
}

/** The whole document, which asks its server for a new body when something has happened. */
export function followingPage(followed: Followed): string {
  const { runs } = followed;
  const title = runs.length === 0 ? 'lossproof' : titleOf(runs);
  return page({ title, body: followingBody(followed), live: true });
}

/** What stands in its `<main>`. */
export function followingBody({ files, runs, problems }: Followed): Markup {
  const notes = problems.map((problem) => html`<p role="alert">${problem}</p>`);
  if (runs.length > 0) return html`${notes}${raw(htmlBody(runs))}`;
  return html`<h1>Waiting for the run to begin</h1>
${notes}
<p>This page follows ${files.map((file, at) => html`${at > 0 && ', '}<code>${file}</code>`)} and shows the run as soon as there is one:
<code>npx lossproof check</code> in another shell begins one.</p>`;
}
