// Runs as JUnit XML, which every CI system shows: a suite per run, a test per property, named by its id. A known failure
// is a skipped test with its reason, because JUnit has no better word; a run that was cut off has one test in error,
// so that what was not tried is never taken for good.
import { NOT_TRIED, type PropertyResult } from '../../check/events.ts';
import { kindOf } from '../../check/saved/known.ts';
import { blockWithin, cutOffSentence, scriptOf, sentenceOf } from '../complaints.ts';
import { othersSaid, saidOf } from '../failure/failure.ts';
import { noteLines, notesIn } from '../notes.ts';
import {
  BUNDLED,
  isCutOff,
  lastingNames,
  millisecondsOf,
  notBegun,
  type Run,
  runNames,
  stageOf,
  whoseTrainer,
} from '../runs.ts';
import { casesOf, tooFewJudged } from '../text/table.ts';
import { clipped } from '../text/visible.ts';

/** One document for all runs; times are in seconds. */
export function junitReport(runs: readonly Run[]): string {
  const names = runNames(runs);
  const packages = lastingNames(runs);
  const suites = runs.map((run, at) => suiteOf(run, names[at] ?? '', packages[at] ?? ''));
  const sum = (key: keyof Counts): number => suites.reduce((all, { counts }) => all + counts[key], 0);
  const all = {
    tests: sum('tests'),
    failures: sum('failures'),
    errors: sum('errors'),
    skipped: sum('skipped'),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="lossproof" ${countsText({ ...all, milliseconds: sum('milliseconds') })}>`,
    ...suites.flatMap(({ lines }) => lines),
    '</testsuites>',
    '',
  ].join('\n');
}

/** CI pages are wide; the strip is easier to read in fewer blocks. */
const WIDTH = 120;
/** A block that is longer holds something that nobody reads in a CI page: its end is left out. */
const MOST_BLOCK = 20_000;
const MOST_MESSAGE = 2_000;

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
  readonly milliseconds: number;
}

function suiteOf(run: Run, name: string, place: string): { lines: readonly string[]; counts: Counts } {
  const { start } = run;
  const cutOff = isCutOff(run);
  const results = cutOff ? [...run.results, ...notReached(run)] : run.results;
  const count = (...verdicts: readonly PropertyResult['verdict'][]): number =>
    results.filter((result) => verdicts.includes(result.verdict)).length;
  const counts: Counts = {
    tests: results.length + (cutOff ? 1 : 0),
    failures: count('fail', 'ask', 'thin', 'changed', 'stale', 'unseen'),
    errors: count('error') + (cutOff ? 1 : 0),
    skipped: count('known', 'unsupported', 'skipped', 'interrupted'),
    milliseconds: millisecondsOf(run),
  };
  const traced = start.replay?.traced === true;
  const facts = {
    trainer: whoseTrainer(start),
    seed: traced ? undefined : start.seed,
    cases: traced ? undefined : start.cases,
    command: start.command,
    runtime: start.hello.runtime,
    lossproof: start.version,
  };
  const timestamp = start.started === undefined ? '' : ` timestamp="${attribute(start.started)}"`;
  return {
    counts,
    lines: [
      `  <testsuite name="${attribute(start.bundled === true ? `${name}, ${BUNDLED}` : name)}"${timestamp} ${countsText(counts)}>`,
      '    <properties>',
      ...Object.entries(facts)
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([key, value]) => `      <property name="${key}" value="${attribute(String(value))}"/>`),
      '    </properties>',
      ...results.map((result) => testCase(result, run, place)),
      ...(cutOff ? [cutOffCase(run, place)] : []),
      ...notedOf(run),
      '  </testsuite>',
    ],
  };
}

function countsText({ tests, failures, errors, skipped, milliseconds }: Counts): string {
  return `tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds(milliseconds)}"`;
}

/** Properties that the run was asked for and never came to. */
function notReached({ start, results }: Run): readonly PropertyResult[] {
  const judged = new Set(results.map(({ id }) => id));
  return start.properties
    .filter(({ id }) => !judged.has(id))
    .map(({ id, title, level }) => ({
      id,
      title,
      level,
      verdict: 'interrupted',
      reason: 'the run ended before it',
      ...NOT_TRIED,
    }));
}

function cutOffCase(run: Run, place: string): string {
  const message = attribute(cutOffSentence(run));
  return `    <testcase classname="${attribute(classOf(place, 'run'))}" name="the whole run" time="0.000"><error message="${message}" type="interrupted"/></testcase>`;
}

/** What fails nothing and must not be overlooked: the output of the suite. */
function notedOf(run: Run): readonly string[] {
  const { noVerdict } = notBegun(run) === undefined ? (run.end ?? {}) : {};
  const lines = [
    ...(noVerdict === undefined ? [] : [noVerdict]),
    ...noteLines(notesIn(run), run.results, WIDTH),
  ];
  return lines.length === 0 ? [] : [`    <system-out>${xml(lines.join('\n').trim())}</system-out>`];
}

function testCase(result: PropertyResult, run: Run, place: string): string {
  const script = scriptOf(run.start.command);
  const file = script === undefined ? '' : ` file="${attribute(script)}"`;
  const open = `    <testcase classname="${attribute(classOf(place, stageOf(result.id)))}" name="${attribute(result.id)}"${file} time="${seconds(result.milliseconds)}"`;
  const inner = innerOf(result, run);
  return inner === '' ? `${open}/>` : `${open}>${inner}</testcase>`;
}

/** Jenkins reads what stands before the last point as a package, so the trainer's name must not have any. */
function classOf(place: string, stage: string): string {
  return `${place.replaceAll('.', '_')}.${stage}`;
}

function innerOf(result: PropertyResult, run: Run): string {
  const { verdict, failure, reason = '', title } = result;
  const tell = (tag: 'failure' | 'error' | 'skipped', message: string): string => {
    const type = failure === undefined || tag === 'skipped' ? '' : ` type="${attribute(kindOf(failure))}"`;
    const open = `<${tag} message="${attribute(message)}"${type}`;
    return tag === 'skipped' || failure === undefined
      ? `${open}/>`
      : `${open}>${xml(blockWithin(result, run, WIDTH, MOST_BLOCK))}</${tag}>`;
  };
  const words = [saidOf(failure) ?? title, ...othersSaid(result)].join(' ');
  switch (verdict) {
    case 'pass':
      return result.rejected + result.setAside === 0
        ? ''
        : `<system-out>${xml([casesOf(result), tooFewJudged(result) ?? []].flat().join(': '))}</system-out>`;
    case 'fail':
      return tell('failure', words);
    case 'ask':
      return tell('failure', failure === undefined ? sentenceOf(result) : words);
    case 'error':
      return tell('error', words);
    case 'changed':
    case 'thin':
    case 'stale':
    case 'unseen':
      return tell('failure', `${verdict}: ${reason}`);
    default:
      return tell('skipped', `${verdict}: ${reason}`);
  }
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

/** A parser turns a newline in an attribute into a space, unless it is written as a number. */
function attribute(text: string): string {
  return xml(clipped(text, MOST_MESSAGE)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

/** Characters that XML cannot hold at all are replaced, not dropped. */
function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(FORBIDDEN, '\ufffd')
    .replaceAll('\r', '&#13;');
}

// XML 1.0 section 2.2 allows tab, newline and return below the space; \p{Cc} less those, and lone surrogates.
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;
