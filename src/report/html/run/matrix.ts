// Properties by runs: a table for each stage, folded where nothing in it needs to be looked at.
import type { PropertyFacts, PropertyResult } from '../../../check/events.ts';
import { STAGES } from '../../../check/property.ts';
import { FAILING } from '../../../vocabulary.ts';
import { notBegun, type Run, runNames, stageOf } from '../../runs.ts';
import { plural } from '../../text/plural.ts';
import { casesOf } from '../../text/table.ts';
import { shorten } from '../../text/visible.ts';
import { html, type Markup } from '../page/markup.ts';
import { legend, verdictCounts, verdictMark } from './verdicts.ts';

/**
 * `anchorOf` says where on the page a failure is told. What is `onlyListed`, thousands of failures, is not told a second
 * time here.
 */
export function matrix(
  runs: readonly Run[],
  anchorOf: (result: PropertyResult) => string | undefined,
  onlyListed: (result: PropertyResult) => boolean = () => false,
): Markup {
  const names = runNames(runs);
  const columns = runs.map((run) => new Map(run.results.map((result) => [result.id, result])));
  return html`<section class="matrix" aria-labelledby="properties"><h2 id="properties">Properties</h2>
${legend()}
${[...stagesOf(runs)].map(([stage, every]) => {
  const resultsOf = ({ id }: Row): PropertyResult[] => columns.flatMap((column) => column.get(id) ?? []);
  const all = every.flatMap(resultsOf);
  const rows = every.filter((row) => resultsOf(row).length === 0 || !resultsOf(row).every(onlyListed));
  const open = rows.length <= MOST_OPEN && all.some(({ verdict }) => FAILING.includes(verdict));
  return html`<details class="stage${!open && ' screen-only'}" id="stage-${anchorPart(stage)}"${open && html` open`}>
<summary><h3>${stage}</h3>${verdictCounts(all)}</summary>
<div class="wide" role="region" aria-label="Properties of ${stage}" tabindex="0"><table>
<caption>Properties of stage ${stage}</caption>
<thead><tr><th scope="col" class="what">Property</th><th scope="col" class="level">Level</th>${names.map((name) => html`<th scope="col" class="run">${name}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (
    row,
  ) => html`<tr data-property="${row.id}"><th scope="row"><code>${row.id}</code> <span>${row.title}</span></th><td>${row.level}</td>${columns.map((column, at) => cell(column.get(row.id), runs[at], anchorOf))}</tr>
`,
)}</tbody></table></div>${furtherIn(every.length - rows.length)}</details>
`;
})}</section>`;
}

type Row = Pick<PropertyFacts, 'id' | 'title' | 'level'>;

/** A longer table is unfolded by who wants it: laying it out takes seconds. */
const MOST_OPEN = 500;
/** Reasons are sentences; the whole one stands where the failure is told, or on the terminal. */
const MOST_WORDS = 120;

/** All that any run was to check, and what it answered for beyond that, in the order of a training step. */
function stagesOf(runs: readonly Run[]): ReadonlyMap<string, readonly Row[]> {
  const stages = new Map<string, Map<string, Row>>(STAGES.map((stage) => [stage, new Map()]));
  const add = (stage: string, row: Row): void => {
    const rows = stages.get(stage) ?? new Map<string, Row>();
    stages.set(stage, rows);
    if (!rows.has(row.id)) rows.set(row.id, row);
  };
  for (const { start, results } of runs) {
    const listed = new Set(start.properties.map(({ id }) => id));
    for (const facts of start.properties) add(facts.stage, facts);
    for (const result of results) if (!listed.has(result.id)) add(stageOf(result.id), result);
  }
  return new Map(
    [...stages].filter(([, rows]) => rows.size > 0).map(([stage, rows]) => [stage, [...rows.values()]]),
  );
}

/** White space would end an id; as in an address, it can be read back. */
function anchorPart(stage: string): string {
  return stage.replaceAll(/\s/gu, (space) => `%${(space.codePointAt(0) ?? 0).toString(16)}`);
}

function furtherIn(count: number): Markup | false {
  return (
    count > 0 &&
    html`<p><a href="#further">${plural(count, 'further failure')}</a> of this stage ${count === 1 ? 'stands' : 'stand'} in the list above only.</p>`
  );
}

function cell(
  result: PropertyResult | undefined,
  run: Run | undefined,
  anchorOf: (result: PropertyResult) => string | undefined,
): Markup {
  if (result === undefined) return html`<td class="dim">${absence(run)}</td>`;
  const anchor = anchorOf(result);
  const mark = verdictMark(result.verdict);
  return html`<td data-verdict="${result.verdict}">${anchor === undefined ? mark : html`<a href="#${anchor}">${mark}</a>`} <small>${noteOf(result)}</small></td>`;
}

function absence(run: Run | undefined): string {
  if (run?.end === undefined) return 'not yet';
  return notBegun(run) === undefined ? 'not asked' : 'not run';
}

/** How much was tried, or why nothing was. */
function noteOf(result: PropertyResult): string {
  const { reason, cases, failure } = result;
  if (failure === undefined && cases === 0 && reason !== undefined) return shorten(reason, MOST_WORDS);
  return casesOf(result);
}
