// The report of files that are still being written: read again when they have changed. A file may grow, be replaced by
// that of a new run, or not be there yet.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { html, type Markup, raw } from '../report/html/markup.ts';
import { page } from '../report/html/page.ts';
import { htmlBody, htmlReport } from '../report/html/report.ts';
import type { Run } from '../report/runs.ts';
import { type Context, isProblem } from './context.ts';
import { readRunFile } from './saved-runs.ts';
import type { Site } from './serve.ts';

export function liveReport(files: readonly string[], context: Pick<Context, 'cwd'>): Site {
  const version = (): string => files.map((file) => stateOf(resolve(context.cwd, file))).join(' ');
  let held: { readonly version: string; readonly read: Read } | undefined;
  const read = (): Read => {
    // Taken before the files are read: what comes in between is read again rather than missed.
    const now = version();
    if (held?.version !== now) held = { version: now, read: readAll(files, context) };
    return held.read;
  };
  return {
    version,
    async page() {
      const { runs, problems } = read();
      if (runs.length > 0 && problems.length === 0) return htmlReport(runs, { live: true });
      return page({ title: 'trainproof', body: bodyOf(read(), files), live: true });
    },
    async body() {
      return bodyOf(read(), files).markup;
    },
  };
}

interface Read {
  readonly runs: readonly Run[];
  readonly problems: readonly string[];
}

const ABSENT = 'absent';

/** The same text as long as nobody has written it; a new file in its place is another one, whatever its size. */
function stateOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    return ABSENT;
  }
}

function readAll(files: readonly string[], context: Pick<Context, 'cwd'>): Read {
  const all = files
    .filter((file) => stateOf(resolve(context.cwd, file)) !== ABSENT)
    .map((file) => readRunFile(file, context));
  return {
    runs: all.flatMap((each) => (isProblem(each) ? [] : each.runs)),
    problems: all.flatMap((each) => (isProblem(each) ? [each.problem] : each.problems)),
  };
}

function bodyOf({ runs, problems }: Read, files: readonly string[]): Markup {
  const notes = problems.map((problem) => html`<p role="alert">${problem}</p>`);
  if (runs.length > 0) return html`${notes}${raw(htmlBody(runs))}`;
  return html`<h1>Waiting for the run to begin</h1>
${notes}
<p>This page follows ${files.map((file, at) => html`${at > 0 && ', '}<code>${file}</code>`)} and shows the run as soon as there is one:
<code>npx trainproof check</code> in another shell begins one.</p>`;
}
