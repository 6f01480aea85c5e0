// The report of one run or several as one HTML page: the verdict, what fails and where, then everything else, folded.
import type { Run } from '../../runs.ts';
import { failures, knownFailures } from '../failure/failures.ts';
import { telling } from '../failure/told.ts';
import { html, raw } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { health } from './coverage.ts';
import { matrix } from './matrix.ts';
import { overview, titleOf } from './overview.ts';
import { notesSheet, questionsSheet } from './questions.ts';
import { semanticsSheet } from './semantics.ts';

/** The whole document. */
export function htmlReport(runs: readonly Run[]): string {
  return page({ title: titleOf(runs), body: raw(htmlBody(runs)) });
}

/** What stands in `<main>`. */
export function htmlBody(runs: readonly Run[]): string {
  if (runs.length === 0) return overview(runs).markup;
  const told = telling(runs);
  const several = runs.length > 1;
  return html`${overview(runs)}
${questionsSheet(runs)}
${failures(told, several)}
${notesSheet(runs)}
${knownFailures(told, several)}
${matrix(runs, told.anchorOf, told.isOnlyListed)}
${health(runs)}
${semanticsSheet(runs)}`.markup;
}
