// What a tool answers: the command's document, cut to what an agent can read, and a short text for clients that show no
// more than that.
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import { plural } from '../../report/text/plural.ts';
import { clipped, harmless } from '../../report/text/visible.ts';
import { FAILED, HOLDS } from '../exit.ts';
import type { Ran } from './run.ts';
import type { Tool } from './tools.ts';

export interface Answer {
  readonly text: string;
  /** Absent: there is no verdict, and the text is the reason. */
  readonly document?: JsonObject;
}

export function answerOf(tool: Tool, { exit, document, printed }: Ran): Answer {
  const object = Array.isArray(document) ? { pages: document } : document;
  if (!isJsonObject(object)) return { text: reasonOf(tool, exit, printed) };
  const { cut, left } = cutDown(object);
  const isVerdict = tool.name !== 'explain';
  const head = `${MEANING[exit.exitCode ?? -1] ?? 'No verdict. Do not read this as a pass.'} Exit code ${exit.exitCode ?? 'none'}.`;
  const more = left === 0 ? [] : [`${left} more are left out: narrow the call to see them.`];
  // What was not judged stands in what the command printed, and why there is no verdict.
  const tail = exit.exitCode === FAILED || printed.trim() === '' ? [] : ['', endOf(printed)];
  return {
    text: [...(isVerdict ? [head] : []), ...linesOf(cut), ...more, ...tail].join('\n'),
    document: cut,
  };
}

// --- helpers ---

const MEANING: Readonly<Record<number, string>> = {
  [HOLDS]: 'Nothing wrong was found.',
  [FAILED]: 'Something is wrong.',
};

/** Findings, and pages of an explanation: each has one or two thousand characters. */
const MOST_ITEMS = 10;
const MOST_CHARACTERS = 2_000;

/** The sentence of a command that ended without a document. */
function reasonOf({ name }: Tool, exit: Ran['exit'], printed: string): string {
  if (exit.spawnError !== undefined) return `lossproof ${name} could not be started: ${exit.spawnError}`;
  const at = printed.lastIndexOf('lossproof: ');
  if (at >= 0) return clipped(harmless(printed.slice(at).trim()), MOST_CHARACTERS);
  const how = exit.signal ?? `exit code ${exit.exitCode}`;
  return `lossproof ${name} ended without a verdict (${how}). It printed: ${endOf(printed)}`;
}

function endOf(printed: string): string {
  return harmless(printed.trim().slice(-MOST_CHARACTERS));
}

/** The most important come first in every document. */
function cutDown(document: JsonObject): { readonly cut: JsonObject; readonly left: number } {
  let left = 0;
  const few = (list: unknown): readonly unknown[] => {
    const all = Array.isArray(list) ? list : [];
    left += Math.max(0, all.length - MOST_ITEMS);
    return all.slice(0, MOST_ITEMS);
  };
  const { pages, runs, shown } = document;
  const cut = {
    ...document,
    ...(pages === undefined ? {} : { pages: few(pages) }),
    ...(shown === undefined ? {} : { shown: few(shown) }),
    ...(runs === undefined
      ? {}
      : { runs: objectsOf(runs).map((run) => ({ ...run, findings: few(run.findings) })) }),
  };
  return { cut, left };
}

function linesOf({ pages, runs, findings, sentence }: JsonObject): readonly string[] {
  if (pages !== undefined) return objectsOf(pages).flatMap(pageLines);
  if (runs !== undefined) return objectsOf(runs).flatMap(runLines);
  return [
    String(sentence),
    ...objectsOf(findings).map(
      ({ id, weight, rows, what, todo }) =>
        `- ${id} (${weight}, ${plural(Number(rows), 'row')}): ${what} ${todo}`,
    ),
  ];
}

function runLines({ counts, findings, noVerdict }: JsonObject): readonly string[] {
  const some = Object.entries(isJsonObject(counts) ? counts : {}).filter(([, count]) => count !== 0);
  return [
    `Properties: ${some.map(([verdict, count]) => `${count} ${verdict}`).join(', ') || 'none'}.`,
    ...(noVerdict === undefined ? [] : [String(noVerdict)]),
    ...objectsOf(findings).map(({ property, verdict, sentence, explainedBy, next }) => {
      const cause = explainedBy === undefined ? '' : ` Repair ${explainedBy} first.`;
      return `- ${property} (${verdict}): ${sentence}${cause} Next: ${Array.isArray(next) ? next[0] : ''}`;
    }),
  ];
}

function pageLines({ id, title, why, what, todo, advice, bugs }: JsonObject): readonly string[] {
  const known = objectsOf(bugs).map((bug) => `  ${bug.id}: ${bug.todo}`);
  return [`- ${id}: ${[title ?? what, why, todo ?? advice].filter(Boolean).join(' ')}`, ...known];
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
