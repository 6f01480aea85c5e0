// GitHub Actions: failures as annotations of the job, and the summary on the page of the run. Both by themselves,
// because whoever looks at a red job looks there first.
import { appendFileSync } from 'node:fs';
import type { Run } from '../../report/runs.ts';
import { type Context, sayDocument } from '../context.ts';
import { asTyped } from '../typed.ts';
import { cannotBeWritten } from './written.ts';

/** Does nothing elsewhere. A summary that cannot be written is said; it was nobody's order, and changes no exit code. */
export async function tellGithub(runs: readonly Run[], context: Context): Promise<void> {
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } = context.env;
  if (GITHUB_ACTIONS !== 'true') return;
  const { annotationLines } = await import('../../report/machine/annotations.ts');
  sayDocument(context, ...annotationLines(runs));
  if (GITHUB_STEP_SUMMARY === undefined || GITHUB_STEP_SUMMARY === '') return;
  const { markdownSummary } = await import('../../report/machine/markdown.ts');
  try {
    appendFileSync(GITHUB_STEP_SUMMARY, asTyped(markdownSummary(runs)));
  } catch (error) {
    context.err.write(`lossproof: the step summary ${cannotBeWritten(error)}\n`);
  }
}
