// The step summary of a GitHub job, and a comment for any forge: the verdict, what fails, the first failures token by
// token, how to see them again; the rest is folded. GitHub takes 1 MiB a step and drops the whole where it is more.
import type { PropertyResult } from '../../check/events.ts';
import { STAGES } from '../../check/property.ts';
import { blockWithin, complaintsOf, cutOffSentence, sentenceOf } from '../complaints.ts';
import { againFor, againLine, replayFor } from '../failure/reproduce.ts';
import { noteLines, notesIn } from '../notes.ts';
import { refusalLines } from '../refusals.ts';
import { renewedLines } from '../renewed.ts';
import { isCutOff, notBegun, type Run, runNames, stageOf } from '../runs.ts';
import { countVerdicts, runLine } from '../summary.ts';
import { plural } from '../text/plural.ts';
import { clipped, harmless } from '../text/visible.ts';
import { unjudgedLines } from '../unjudged.ts';
import { LOOKS } from '../verdict.ts';

/** One document over all runs, at most 200 kB in UTF-8. */
export function markdownSummary(runs: readonly Run[]): string {
  if (runs.length === 0) return '## lossproof\n\nNo run was recorded.\n';
  const names = runNames(runs);
  const shown = runs.slice(0, MOST_RUNS);
  const share = Math.floor((MOST_BYTES - LAST_WORDS) / shown.length);
  const parts = shown.map((run, at) => runSection(run, names[at] ?? '', share));
  const left = runs.length - shown.length;
  return `${[...parts, ...(left === 0 ? [] : [`and ${left} more runs`])].join('\n\n')}\n`;
}

/** A fifth of what GitHub takes: other steps of the job write there, too. */
const MOST_BYTES = 200_000;
const LAST_WORDS = 200;
/** Each has a share of the space in which a failure must find room. */
const MOST_RUNS = 20;
/** Shown open: more than this, and nobody scrolls to the end. */
const OPEN_FAILURES = 3;
const MOST_ROWS = 100;
const MOST_SENTENCE = 400;
const MOST_BLOCK = 6_000;
const WIDTH = 100;
const TABLE_HEAD = ['| | property | level | what happened |', '|---|---|---|---|'];
/** An address that holds nothing which could end the cell or the link. */
const WEB = /^https?:\/\/[\w./#?=&%:@+~-]+$/;

function runSection(run: Run, name: string, most: number): string {
  const page = pageOf(most);
  const complaints = complaintsOf(run).map(({ result }) => result);
  const failures = complaints.filter(({ failure }) => failure !== undefined);
  page.add(`## lossproof: ${inline(clipped(name, MOST_SENTENCE))}`);
  page.add(verdictLine(run));
  if (isCutOff(run)) page.add(`> **Cut off.** ${cutOffSentence(run)}`);
  if (run.end?.noVerdict !== undefined && notBegun(run) === undefined)
    page.add(`> ${inline(run.end.noVerdict)}`);
  for (const line of unjudgedLines(run.end ?? {})) page.add(`> ${inline(line)}`);
  if (complaints.length > 0) {
    const rows = rowsWithin(complaints, page.left() / 2);
    page.add([...TABLE_HEAD, ...rows].join('\n'));
    if (complaints.length > rows.length) page.add(`and ${complaints.length - rows.length} more properties`);
  }
  const said = run.end === undefined ? [] : [...refusalLines(run.end), ...renewedLines(run.end)];
  if (said.length > 0) page.add(said.map((line) => `- ${inline(line)}`).join('\n'));
  const open = failures.slice(0, OPEN_FAILURES).filter((result) => page.add(fence(blockOf(result, run))));
  const again = [...failures, ...complaints].find((result) => againFor(run, result) !== undefined);
  if (again !== undefined || isCutOff(run)) page.add(reproduce(run, again));
  const notes = noteLines(notesIn(run), run.results, WIDTH);
  if (notes.length > 0) page.add(fence(harmless(notes.join('\n').trim())));
  page.add(folded('By stage', stages(run)));
  const known = run.results.filter(({ verdict }) => verdict === 'known');
  if (known.length > 0) page.add(folded(`${known.length} known`, knownTable(known.slice(0, MOST_ROWS))));
  const rest = failures.filter((result) => !open.includes(result));
  const more = foldedBlocks(rest, run, page.left());
  if (more.text !== '') page.add(more.text);
  const left = rest.length - more.shown;
  // Behind everything else, and always: a report that leaves something out says so.
  const last = left === 0 ? [] : [`${left} more failures had no room here; the HTML report has them all.`];
  return [...page.parts, ...last].join('\n\n');
}

interface Page {
  readonly parts: string[];
  /** False where there is no room for it. */
  add(part: string): boolean;
  left(): number;
}

function pageOf(most: number): Page {
  const parts: string[] = [];
  let left = most;
  return {
    parts,
    add(part) {
      const size = Buffer.byteLength(part) + 2;
      if (size > left) return false;
      parts.push(part);
      left -= size;
      return true;
    },
    left: () => left,
  };
}

function verdictLine(run: Run): string {
  const { pass, known } = countVerdicts(run.results);
  const holds = pass + known > 0 && run.end?.noVerdict === undefined;
  const calm = isCutOff(run) ? 'interrupted' : holds ? 'pass' : 'unsupported';
  const verdict = complaintsOf(run)[0]?.result.verdict ?? calm;
  return `**${LOOKS[verdict].glyph} ${inline(runLine(run))}**`;
}

/** Rows of the first results, as many as fit into `most` bytes. */
function rowsWithin(results: readonly PropertyResult[], most: number): readonly string[] {
  const page = pageOf(most);
  for (const result of results.slice(0, MOST_ROWS)) {
    const look = LOOKS[result.verdict];
    const sentence = inline(clipped(sentenceOf(result), MOST_SENTENCE));
    if (!page.add(`| ${look.glyph} ${look.word} | ${code(result.id)} | ${result.level} | ${sentence} |`))
      break;
  }
  return page.parts;
}

function knownTable(results: readonly PropertyResult[]): string {
  const rows = results.map(({ id, reason = '', link }) => {
    const thread = link !== undefined && WEB.test(link) ? ` <${link}>` : '';
    return `| ${code(id)} | ${inline(clipped(reason, MOST_SENTENCE))}${thread} |`;
  });
  return ['| property | why it is lived with |', '|---|---|', ...rows].join('\n');
}

function stages({ start, results }: Run): string {
  const listed = new Map<string, string>(start.properties.map(({ id, stage }) => [id, stage]));
  const groups = new Map<string, PropertyResult[]>();
  for (const result of results) {
    const stage = listed.get(result.id) ?? stageOf(result.id);
    const group = groups.get(stage);
    if (group === undefined) groups.set(stage, [result]);
    else group.push(result);
  }
  const verdicts = (Object.keys(LOOKS) as (keyof typeof LOOKS)[]).filter((verdict) =>
    results.some((result) => result.verdict === verdict),
  );
  const order = (name: string): number => {
    const at = (STAGES as readonly string[]).indexOf(name);
    return at < 0 ? STAGES.length : at;
  };
  const rows = [...groups]
    .sort(([a], [b]) => order(a) - order(b))
    .slice(0, MOST_ROWS)
    .map(([stage, group]) => {
      const counts = countVerdicts(group);
      return `| ${code(stage)} | ${verdicts.map((verdict) => counts[verdict] || '').join(' | ')} |`;
    });
  const heads = verdicts.map((verdict) => `${LOOKS[verdict].glyph} ${LOOKS[verdict].word}`);
  return [`| stage | ${heads.join(' | ')} |`, `|---|${verdicts.map(() => '--:|').join('')}`, ...rows].join(
    '\n',
  );
}

function reproduce(run: Run, first: PropertyResult | undefined): string {
  const { folder, command } = replayFor(run);
  const failure = first?.failure;
  const saved = folder === undefined || failure?.unsaved ? undefined : failure?.caseId;
  const lines = [
    againLine(run, first?.id),
    ...(saved === undefined ? [] : [`${command} ${saved}  # with ${folder} of this run`]),
  ];
  return `To see it again, with this version of lossproof:\n\n${fence(harmless(lines.join('\n')), 'sh')}`;
}

function blockOf(result: PropertyResult, run: Run): string {
  return blockWithin(result, run, WIDTH, MOST_BLOCK);
}

/** As many as fit into `most` bytes. */
function foldedBlocks(
  results: readonly PropertyResult[],
  run: Run,
  most: number,
): { readonly text: string; readonly shown: number } {
  const inner = pageOf(most - LAST_WORDS);
  for (const result of results) if (!inner.add(fence(blockOf(result, run)))) break;
  const shown = inner.parts.length;
  if (shown === 0) return { text: '', shown };
  return {
    text: folded(plural(shown, 'more failure'), inner.parts.join('\n\n')),
    shown,
  };
}

/** The empty lines make what is inside Markdown again. */
function folded(title: string, inside: string): string {
  return `<details>\n<summary>${title}</summary>\n\n${inside}\n\n</details>`;
}

/** Fenced with more backticks than the text has in a row. */
function fence(text: string, language = 'text'): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}

/** A name as code in a cell of a table. */
function code(text: string): string {
  return /^[\w./-]+$/.test(text) ? `\`${text}\`` : inline(text);
}

/** Text that stays text in a cell: nothing of it is markup, a cell's end, a formula or a line's end. */
function inline(text: string): string {
  return harmless(text)
    .replaceAll('&', '&amp;')
    .replaceAll(/[\\`*_{}[\]()#+!|~]/g, '\\$&')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('$', () => '<span>$</span>')
    .replaceAll(/\s*\n\s*/g, ' ');
}
