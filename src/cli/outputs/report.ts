// `report`: shows saved runs as a page, or writes them as JUnit, SARIF and the like. Several files become one report with
// a column per file. --serve serves the page and follows a run in progress.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { type Run, runNames } from '../../report/runs.ts';
import { runLine } from '../../report/summary.ts';
import { type Context, isProblem, type Problem, refuse, say } from '../context.ts';
import { HOLDS, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { openInBrowser } from './browser.ts';
import { isPage, writeIndex } from './index-of-pages.ts';
import { LAST_RUN } from './last-run.ts';
import { addOutputOptions, type OutputOptions, type Outputs, openOutputs } from './outputs.ts';
import { readRunFile, readRuns, STANDARD_INPUT } from './saved-runs.ts';
import { serve } from './serve.ts';
import { tellWebhook } from './webhook.ts';

interface ReportOptions extends OutputOptions {
  readonly serve?: boolean;
  readonly port?: number;
  readonly open?: boolean;
}

export function addReport(program: Command, { context, finish }: Invocation): void {
  const command = tell(program.command('report'), WORDS)
    .summary('show saved runs as a page, JUnit, SARIF, ...')
    .description('show saved runs as a page, or write them as JUnit, SARIF, ...; several runs become columns')
    .argument(
      '[files...]',
      `files of --events, or pages; - is standard input (default: ${LAST_RUN}, the last run)`,
    )
    .option('--serve', 'serve the page on this machine, and update it while a run goes on')
    .option('--port <n>', 'port of --serve (default: any free port)', portNumber)
    .option('--open', 'open the page in a browser');
  addOutputOptions(command).action(async (files: readonly string[], options: ReportOptions) =>
    finish(await report(files.length === 0 ? [LAST_RUN] : files, options, context)),
  );
}

const PAGE = 'lossproof-report.html';

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof report', does: `the last run, as ${PAGE}` },
    { command: 'npx lossproof report before.ndjson after.ndjson --html both.html' },
    { command: 'npx lossproof report run.ndjson --junit junit.xml --markdown -' },
    { command: 'npx lossproof report *.html', does: 'one index page for them' },
    { command: 'npx lossproof report --serve', does: 'then `check` in another shell' },
  ],
  notes: [
    `Without an output option it writes ${PAGE}. An output to - goes to standard output. To see a page that another machine serves, use \`ssh -L 8000:127.0.0.1:8000 HOST\` and --port 8000. The port must be the same on both sides.`,
  ],
  exit: {
    0: 'written, also if a run failed',
    2: 'a file cannot be read or written',
  },
};

const MOST_PORT = 65_535;

function portNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > MOST_PORT)
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${MOST_PORT}.`);
  return value;
}

async function report(files: readonly string[], options: ReportOptions, context: Context): Promise<number> {
  if (files.some(isPage)) return reportPages(files, options, context);
  const asked = openOutputs(options, context);
  if (isProblem(asked)) return refuse(context, asked);
  if (options.serve === true) {
    if (isAsked(asked))
      return refuse(context, { problem: '--serve writes no files; run report once more for them' });
    return serveReport(files, options, context);
  }
  if (options.port !== undefined) return refuse(context, { problem: '--port is of --serve' });
  const read = await readRuns(files, context);
  if (isProblem(read)) return refuse(context, read);
  const html = options.html ?? (!isAsked(asked) || options.open === true ? PAGE : undefined);
  const outputs = html === options.html ? asked : openOutputs({ ...options, html: PAGE }, context);
  if (isProblem(outputs)) return refuse(context, outputs);
  for (const problem of read.problems) context.err.write(`lossproof: ${problem}\n`);
  const problems = await outputs.write(read.runs);
  const notes = outputs.onStandardOutput ? context.err : context.out;
  notes.write(`${verdictLines(read.runs).join('\n')}\n`);
  for (const problem of problems) context.err.write(`lossproof: ${problem}\n`);
  await tellWebhook(read.runs, options, context);
  if (problems.length > 0) return NO_VERDICT;
  if (outputs.files.length > 0) notes.write(`wrote ${outputs.files.join(', ')}\n`);
  if (options.open === true && html !== undefined) await openPage(html, context);
  return HOLDS;
}

async function reportPages(
  files: readonly string[],
  { html = PAGE, open, ...others }: ReportOptions,
  context: Context,
): Promise<number> {
  const [other] = Object.keys(others);
  if (other !== undefined)
    return refuse(context, { problem: `--${other} needs runs; from pages only --html can be written` });
  const code = writeIndex(files, html, context);
  if (code === HOLDS && open === true) await openPage(html, context);
  return code;
}

const openPage = (file: string, context: Context): Promise<void> =>
  openInBrowser(pathToFileURL(resolve(context.cwd, file)).href, context);

function isAsked({ files, onStandardOutput }: Outputs): boolean {
  return files.length > 0 || onStandardOutput;
}

/** The final line of each run, and whose trainer it was. */
function verdictLines(runs: readonly Run[]): string[] {
  const names = runNames(runs);
  return runs.map((run, at) => `${names[at] ?? ''} · ${runLine(run)}`);
}

/** Until Ctrl-C, which is how it is meant to end. */
async function serveReport(
  files: readonly string[],
  { port = 0, open }: ReportOptions,
  context: Context,
): Promise<number> {
  const problem = files.map((file) => unservable(file, context)).find((each) => each !== undefined);
  if (problem !== undefined) return refuse(context, problem);
  const { liveReport } = await import('./live-report.ts');
  let interrupt = (): void => {};
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  const dispose = context.onInterrupt(() => interrupt());
  try {
    const serving = await serve(liveReport(files, context), port);
    if (isProblem(serving)) return refuse(context, serving);
    say(context, `following ${files.join(', ')}; Ctrl-C ends it`, serving.address);
    if (open === true) await openInBrowser(serving.address, context);
    await interrupted;
    await serving.close();
    return HOLDS;
  } finally {
    dispose();
  }
}

/** A file that is not there may come; one that holds something else will not become a run. */
function unservable(file: string, context: Context): Problem | undefined {
  if (file === STANDARD_INPUT)
    return { problem: '--serve follows files; standard input cannot be read twice' };
  if (!existsSync(resolve(context.cwd, file))) return undefined;
  const read = readRunFile(file, context);
  return isProblem(read) ? read : undefined;
}
