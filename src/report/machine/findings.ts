// What fails, as one JSON document for programs that act on it (a coding agent, a CI robot): a finding per property that
// does not hold, most important first, with what to type next. docs/findings.schema.json is its schema.
import { bugsOf } from '../../bugs/index.ts';
import type { PropertyResult } from '../../check/events.ts';
import type { Strip } from '../../check/property.ts';
import { complaintsOf, cutOffSentence, sentenceOf } from '../complaints.ts';
import { againFor, quoted, replayLine } from '../failure/reproduce.ts';
import { isCutOff, lastingNames, type Run } from '../runs.ts';
import { countVerdicts } from '../summary.ts';
import { harmless } from '../text/visible.ts';

/** Grows when a reader of the old document would misread the new one. */
const SCHEMA = 1;

export function findingsJson(runs: readonly Run[]): string {
  const names = lastingNames(runs);
  const document = {
    schema: SCHEMA,
    runs: runs.map((run, at) => ({
      name: names[at] ?? '',
      version: run.start.version,
      command: run.start.command,
      finished: !isCutOff(run),
      counts: countVerdicts(run.results),
      findings: complaintsOf(run).map(({ result, weight }) => findingOf(run, result, weight)),
      // Why nothing may be concluded from a run without a finding.
      ...(isCutOff(run)
        ? { noVerdict: cutOffSentence(run) }
        : run.end?.noVerdict === undefined
          ? {}
          : { noVerdict: run.end.noVerdict }),
    })),
  };
  return `${JSON.stringify(document, plain, 2)}\n`;
}

/** Tokens and numbers of a finding that are shown: the first are those where it went wrong first. */
const MOST_EVIDENCE = 8;

function findingOf(run: Run, result: PropertyResult, weight: 'error' | 'warning'): object {
  const { id, title, level, verdict, failure } = result;
  const finding = failure?.finding;
  const facts = run.start.properties.find((each) => each.id === id);
  const answers = result.answers ?? finding?.answers;
  const next = [
    failure === undefined ? undefined : replayLine(run, failure),
    againFor(run, result),
    `npx lossproof explain ${quoted(id)}`,
  ];
  return defined({
    property: id,
    title,
    level,
    verdict,
    weight,
    kind: finding?.kind ?? failure?.trainerFailure?.kind,
    sentence: sentenceOf(result),
    advice: finding?.advice,
    answers,
    tokens: finding?.strips?.flatMap(tokensOf).slice(0, MOST_EVIDENCE),
    numbers: finding?.numbers?.slice(0, MOST_EVIDENCE),
    traceback: failure?.trainerFailure?.traceback,
    explainedBy: failure?.explainedBy,
    case: failure?.caseId,
    confirmed: failure?.confirmed,
    why: facts?.why,
    bugs: facts === undefined ? undefined : bugsOf(facts.catches).map((bug) => bug.id),
    next: [...new Set(next.filter((line) => line !== undefined))],
  });
}

/** The tokens that are marked as wrong, each with what its row's tracks say of it. */
const tokensOf = ({ row, tokens, tracks, marks }: Strip): object[] =>
  marks.map((column) =>
    defined({
      row,
      column,
      ...tokens[column],
      tracks: Object.fromEntries(tracks.map(({ name, cells }) => [name, cells[column] ?? ''])),
    }),
  );

const defined = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** JSON has no words for these numbers; a text of others is shown, and not obeyed. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'string' ? harmless(value) : value;
}
