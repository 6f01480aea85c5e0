// The top of the page: the verdict as one sentence, what ran, and a banner where that is not all of it.
import type { PropertyResult } from '../../../check/events.ts';
import { FAILING } from '../../../vocabulary.ts';
import {
  BUNDLED,
  cutOffWords,
  isCutOff,
  notBegun,
  type Run,
  type RunEnd,
  reached,
  runNames,
  whoseTrainer,
} from '../../runs.ts';
import { countsLine, notesOf, nounOf, seconds } from '../../summary.ts';
import { unjudgedLines } from '../../unjudged.ts';
import { LOOKS } from '../../verdict.ts';
import { html, type Markup } from '../page/markup.ts';
import { withCode } from '../page/text.ts';
import { verdictCounts } from './verdicts.ts';

export function overview(runs: readonly Run[]): Markup {
  const names = runNames(runs);
  const [first] = runs;
  if (first === undefined)
    return html`<h1>No run</h1><p>These events hold no run. \`check --events FILE\` writes one.</p>`;
  const { glyph, brush } = standing(runs);
  return html`<h1 class="${brush}"><span class="glyph" aria-hidden="true">${glyph}</span> ${headline(runs)}</h1>
${runs.length === 1 ? html`${whose(first)}${banner(first)}${unjudged(first)}${notices(first)}${facts(first)}` : listOf(runs, names)}
${several(runs, names)}`;
}

/** More than this many runs stand between the verdict and the first failure, and are folded. */
const MOST_RUNS = 6;

function listOf(runs: readonly Run[], names: readonly string[]): Markup {
  const list = html`<ul class="runs">${runs.map(
    (run, at) =>
      html`<li><strong>${names[at]}</strong> ${verdictCounts(run.results)}${whose(run)}${banner(run)}${unjudged(run)}${notices(run)}<details id="run-${at + 1}"><summary>What ran</summary>${facts(run)}</details></li>
`,
  )}</ul>`;
  return runs.length <= MOST_RUNS
    ? list
    : html`<details id="runs"><summary>The runs, one by one</summary>${list}</details>`;
}

/** For the title of the window: `2 fail, 29 hold`, and of whom. */
export function titleOf(runs: readonly Run[]): string {
  const sentence = runs.length === 1 ? headline(runs).replace(/^[^:]*: /u, '') : headline(runs);
  const bundled = runs.length > 0 && runs.every(({ start }) => start.bundled === true) ? `, ${BUNDLED}` : '';
  return `${standing(runs).glyph} ${sentence} · ${runNames(runs).join(', ')}${bundled} · lossproof`;
}

/** What the page is about before anything is read: whether something fails, all holds, or nobody can tell yet. */
function standing(runs: readonly Run[]): { readonly glyph: string; readonly brush: string } {
  if (runs.some(fails)) return LOOKS.fail;
  if (runs.some(({ end }) => end === undefined)) return { glyph: '…', brush: 'bold' };
  if (runs.some(({ end }) => end?.noVerdict !== undefined)) return LOOKS.unsupported;
  const told = runs.every(
    (run) => !isCutOff(run) && run.start.shard === undefined && run.results.some(holds),
  );
  return told ? LOOKS.pass : LOOKS.interrupted;
}

function holds({ verdict }: PropertyResult): boolean {
  return verdict === 'pass' || verdict === 'known';
}

function fails({ results }: Run): boolean {
  return results.some(({ verdict }) => FAILING.includes(verdict));
}

function headline(runs: readonly Run[]): string {
  const [only, ...others] = runs;
  if (only !== undefined && others.length === 0)
    return `${only.end === undefined ? 'so far ' : ''}${countsLine(only.results, nounOf(only.start.replay))}`;
  const failing = runs.filter(fails).length;
  const never = runs.filter((run) => notBegun(run) !== undefined).length;
  const missing = never === 0 ? '' : `, ${never} ${never === 1 ? 'was' : 'were'} not run`;
  if (failing === 0) return `${runs.length} runs: nothing fails${missing}`;
  return `${runs.length} runs: ${failing === runs.length ? 'each' : failing} ${failing === 1 || failing === runs.length ? 'has' : 'have'} failures${missing}`;
}

/** What its beginning says that must not be overlooked: that it was another trainer, that not every level was asked. */
function whose({ start }: Run): Markup | undefined {
  const notes = notesOf(start);
  if (notes.length === 0) return undefined;
  return html`<p class="banner" role="note">${notes.map((note) => `${note.slice(0, 1).toUpperCase()}${note.slice(1)}. `)}</p>`;
}

/** What a pass says nothing of. */
function unjudged({ end = {} }: { readonly end?: Pick<RunEnd, 'unjudged'> }): Markup {
  return html`${unjudgedLines(end).map((line) => html`<p class="banner" role="note">${withCode(line)}</p>`)}`;
}

/** What the run says of itself. */
function notices({ notices: sentences = [] }: Run): Markup | undefined {
  if (sentences.length === 0) return undefined;
  return html`<ul class="banner" role="note">${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;
}

function banner(run: Run): Markup | undefined {
  const { start, results, running = [], end } = run;
  const all = start.properties.length;
  const never = notBegun(run);
  if (never !== undefined)
    return html`<p class="banner" role="note"><strong>Not run.</strong> ${withCode(never)} Nothing of it is known to hold.</p>`;
  if (end !== undefined && isCutOff(run)) {
    const title = end.interrupted ? 'Interrupted' : 'Not finished';
    return html`<p class="banner" role="note"><strong>${title}.</strong> ${cutOffWords(run)} when ${reached(run)} were done. Nothing is known of the others.</p>`;
  }
  if (end?.noVerdict !== undefined) return html`<p class="banner" role="note">${withCode(end.noVerdict)}</p>`;
  if (end !== undefined) return undefined;
  const now = running.map(({ id, done, total }) => html` Now <code>${id}</code>, case ${done} of ${total}.`);
  return html`<div class="banner" role="note"><strong>Not finished.</strong> ${results.length} of ${all} properties so far.${now} The run is going on, or was cut off before its end.
<progress value="${results.length}" max="${Math.max(all, 1)}" aria-label="Properties done"></progress></div>`;
}

function facts({ start, results, end }: Run): Markup {
  const { hello } = start;
  const traced = start.replay?.traced === true;
  const logged = start.replay?.logged === true;
  const pairs: readonly (readonly [string, string | Markup | undefined])[] = [
    [logged ? 'Logs' : traced && start.replay?.golden !== true ? 'Script' : 'Trainer', whoseTrainer(start)],
    ['Runtime', hello.runtime],
    ['Command', start.command === '' ? undefined : html`<code>${start.command}</code>`],
    ['Seed', traced ? undefined : html`<code>${start.seed}</code>`],
    [
      'Cases',
      traced ? undefined : `${start.cases} a property, ${total(results).toLocaleString('en')} in all`,
    ],
    ['Began', start.started === undefined ? undefined : beginning(start.started)],
    ['Duration', end && seconds(end.milliseconds)],
    ['lossproof', start.version],
  ];
  return html`<dl class="facts">
${pairs.map(
  ([name, value]) =>
    value !== undefined &&
    html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>`;
}

/** To the minute, as in a calendar: `2026-03-01 09:30 UTC`. */
function beginning(started: string): Markup {
  return html`<time datetime="${started}">${started.slice(0, 'yyyy-mm-dd'.length)} ${started.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length)} UTC</time>`;
}

function total(results: Run['results']): number {
  return results.reduce((sum, { cases }) => sum + cases, 0);
}

/** Runs with other seeds or versions tried other cases: a difference between them may be no difference of trainers. */
function several(runs: readonly Run[], names: readonly string[]): Markup | undefined {
  const differing = [
    ['seed', new Set(runs.map(({ start }) => start.seed)).size],
    ['number of cases', new Set(runs.map(({ start }) => start.cases)).size],
    ['version of lossproof', new Set(runs.map(({ start }) => start.version)).size],
  ].flatMap(([what, count]) => (Number(count) > 1 ? [what] : []));
  if (names.length < 2 || differing.length === 0) return undefined;
  return html`<p class="banner" role="note">These runs differ in ${differing.join(' and ')}: they did not try the same cases.</p>`;
}
