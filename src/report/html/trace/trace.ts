// A traced run as a page: the report of any run, and between its failures and its table what was trained: the steps as
// numbers, and rows as heat strips, flagged ones first.
import type { Ledger } from '../../../trace/ledger.ts';
import type { Run } from '../../runs.ts';
import { plural } from '../../text/plural.ts';
import { placeOf, realCount, rowsToShow, type ShownRow, trainedCount, weightText } from '../../trace/rows.ts';
import { hasSeveralRanks, type StepSum, shardWords, stepSums } from '../../trace/steps.ts';
import { seenWords } from '../../trace/trace.ts';
import { judgedWords, unjudgedOf, unspokenOf } from '../../trace/unjudged.ts';
import { failures, knownFailures } from '../failure/failures.ts';
import { telling } from '../failure/told.ts';
import { html, type Markup } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { withCode } from '../page/text.ts';
import { histogram } from '../rows/histogram.ts';
import type { Carpet } from '../rows/section.ts';
import { matrix } from '../run/matrix.ts';
import { overview, titleOf } from '../run/overview.ts';
import { notesSheet, questionsSheet } from '../run/questions.ts';
import { semanticsSheet } from '../run/semantics.ts';
import { carpet, rowAnchor, rowFacts } from './carpet.ts';
import { heatLegend, heatStrip } from './heat.ts';

export interface TracePage {
  readonly ledger: Ledger;
  /** What could not be seen, a sentence each. */
  readonly unseen: readonly string[];
}

/** The whole document. `runs` holds the one run that judged the ledger. */
export function tracePage(runs: readonly Run[], { ledger, unseen }: TracePage): string {
  const told = telling(runs);
  const all = rowsToShow(
    ledger,
    runs.flatMap(({ results }) => results),
  );
  const shown = boundedRows(all);
  const drawn = carpetOfRun(ledger, all, shown);
  const body = html`${overview(runs)}
${unseenNotice(unseen)}
${notJudged(ledger, runs)}
${drawn?.section}${drawn && spread(ledger)}
${questionsSheet(runs)}
${failures(told, false)}
${notesSheet(runs)}
${knownFailures(told, false)}
${trained(ledger, shown)}
${matrix(runs, told.anchorOf, told.isOnlyListed)}
${semanticsSheet(runs)}`;
  return page({ title: titleOf(runs), body, data: drawn?.data });
}

// --- helpers ---

/** Tokens on one page, so that it stays below 4 MB: each is about 200 bytes. */
const PAGE_TOKENS = 16_000;
/** A row of 4,096 tokens is shown whole. */
const ROW_TOKENS = 4_200;
/** Rows that a person scrolls through. */
const PAGE_ROWS = 60;
/** Of a run with --keep-going. */
const MOST_STEPS = 200;

function unseenNotice(unseen: readonly string[]): Markup | undefined {
  if (unseen.length === 0) return undefined;
  return html`<div class="banner" role="note"><strong>Not seen.</strong> Nothing of this list counts as passed.<ul>${unseen.map((sentence) => html`<li>${sentence}</li>`)}</ul></div>`;
}

/** What holds is read as if it were all: what was not judged comes before it. */
function notJudged(ledger: Ledger, runs: readonly Run[]): Markup | undefined {
  const results = runs.flatMap(({ results: own }) => own);
  const groups = ledger.rows.length === 0 ? [] : unjudgedOf(results, ledger);
  const unspoken = unspokenOf(ledger).map((sentence) => html`<li>${sentence}</li>`);
  if (groups.length === 0)
    return unspoken.length === 0 ? undefined : html`<ul class="unjudged" id="unjudged">${unspoken}</ul>`;
  const mendable = groups.filter(({ add }) => add !== undefined);
  return html`<details class="unjudged" id="unjudged"><summary><strong>${judgedWords(results)}.</strong> <span class="aside">${mendable.map(({ why }) => why).join('; ')}</span></summary>
<ul>${groups.map(({ ids, why, add }) => html`<li><strong>${plural(ids.length, 'property', 'properties')}</strong>: ${why}.${add !== undefined && html` ${withCode(sentence(add))}`}<br><small>${ids.join(', ')}</small></li>`)}${unspoken}</ul></details>`;
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** All rows at one glance. */
function carpetOfRun(
  ledger: Ledger,
  all: readonly ShownRow[],
  shown: readonly ShownRow[],
): Carpet | undefined {
  const order = new Map(ledger.rows.map((row, at) => [row, at]));
  const rows = all.toSorted((a, b) => (order.get(a.row) ?? 0) - (order.get(b.row) ?? 0));
  const near = new Set(shown.map(({ row }) => row));
  return carpet(rows, {
    tokenizer: ledger.tokenizer,
    several: hasSeveralRanks(ledger),
    scale: largestWeight(ledger),
    anchorOf: ({ row }) => (near.has(row) ? rowAnchor(row) : undefined),
  });
}

function spread(ledger: Ledger): Markup {
  const real = ledger.rows.filter((row) => realCount(row) > 0);
  return html`<div class="histograms">${histogram({ title: 'Tokens of a row, without padding', values: real.map(realCount) })}${histogram(
    {
      title: 'Share of a row that is trained',
      values: real.filter(({ reached }) => reached).map((row) => trainedCount(row) / realCount(row)),
      shares: true,
    },
  )}</div>`;
}

function trained(ledger: Ledger, shown: readonly ShownRow[]): Markup {
  const several = hasSeveralRanks(ledger);
  const scale = largestWeight(ledger);
  const bySteps = [...new Set(shown.map(({ row }) => row.step))].sort((a, b) => a - b);
  return html`<section class="traced" aria-labelledby="trained"><h2 id="trained">What was trained</h2>
<p>${seenWords(ledger)}. Targets and weights are read off the gradient that came back into each forward pass; they are what the optimiser really got, whatever the script calls its masks.</p>
${stepTable(ledger, several)}
${shown.length > 0 && html`<h3>Rows</h3><p class="aside">${shown.length === ledger.rows.length ? 'All rows.' : `${plural(shown.length, 'row')} of ${ledger.rows.length.toLocaleString('en')}, those with something wrong first.`}</p>${heatLegend(scale)}`}
${bySteps.map((step) => {
  const own = shown.filter(({ row }) => row.step === step);
  return html`<details id="step-${step}" open><summary><h3>Step ${step}</h3> <span class="aside">${plural(own.length, 'row')}</span></summary>
${own.map((each) => rowArticle(each, ledger, several, scale))}</details>
`;
})}<div class="made-rows"></div></section>`;
}

/** The first of them that have room on a page. */
function boundedRows(rows: readonly ShownRow[]): readonly ShownRow[] {
  const shown: ShownRow[] = [];
  let left = PAGE_TOKENS;
  for (const each of rows.slice(0, PAGE_ROWS)) {
    left -= Math.min(each.row.ids.length, ROW_TOKENS);
    if (left < 0) break;
    shown.push(each);
  }
  return shown;
}

function rowArticle(shown: ShownRow, ledger: Ledger, several: boolean, scale: number): Markup {
  const { row, marks } = shown;
  const name = placeOf(row, several);
  const id = rowAnchor(row);
  return html`<article${marks.length > 0 && html` class="card"`} id="${id}" data-row aria-labelledby="${id}/head"><h4 id="${id}/head">${name}</h4><p class="aside">${rowFacts(shown)}</p>
${heatStrip(shown, { tokenizer: ledger.tokenizer, scale, label: `Tokens of ${name}`, most: ROW_TOKENS })}</article>
`;
}

function stepTable(ledger: Ledger, several: boolean): Markup | undefined {
  const sums = stepSums(ledger);
  if (sums.length === 0) return undefined;
  const more = sums.length - MOST_STEPS;
  return html`<div class="wide" role="region" aria-label="Steps" tabindex="0"><table class="steps"><caption>Steps of the optimiser</caption>
<thead><tr><th scope="col">Step</th>${several && html`<th scope="col">Rank</th>`}<th scope="col">Rows</th><th scope="col">Micro-batches</th><th scope="col">Tokens</th><th scope="col">Trained</th><th scope="col">Sum of weights</th><th scope="col">Gradient norm, as the optimiser got it</th><th scope="col">Parameters</th></tr></thead>
<tbody>
${sums.slice(0, MOST_STEPS).map((sum) => stepRow(sum, several))}</tbody></table></div>
${more > 0 && html`<p class="note">and ${plural(more, 'more step')}</p>`}`;
}

function stepRow(sum: StepSum, several: boolean): Markup {
  const { step, rank, rows, forwards, tokens, trained: count, weight, done, optimizer } = sum;
  const norm = done?.gradientNorm;
  const after =
    done === undefined ? 'no step was made' : done.changed ? `changed by ${optimizer}` : 'not changed';
  const cells = [
    rows.toLocaleString('en'),
    forwards.toLocaleString('en'),
    tokens.toLocaleString('en'),
    count.toLocaleString('en'),
    weight === undefined ? 'not all measured' : weightText(weight),
    norm === undefined || norm === null ? '–' : `${weightText(norm)}${shardWords(sum.shard)}`,
  ];
  return html`<tr><th scope="row">${step}</th>${several && html`<td>${rank}</td>`}${cells.map((cell) => html`<td class="number">${cell}</td>`)}<td>${after}</td></tr>
`;
}

function largestWeight({ rows }: Ledger): number {
  let most = 0;
  for (const { trained: each } of rows)
    for (const one of each)
      if (one?.weight !== undefined && Number.isFinite(one.weight))
        most = Math.max(most, Math.abs(one.weight));
  return most;
}
