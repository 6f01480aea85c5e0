// What each version of each ready-made trainer answered when `npm run trainers:table -- --write` asked it: the table of
// docs/trainers/README.md and the conformance pages of the site are made of it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PropertyResult } from '../../src/check/events.ts';
import { isBefore } from '../../src/protocol/versions.ts';
import type { Run } from '../../src/report/runs.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { stripLines } from '../../src/report/text/strip.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { FAILING, type Verdict } from '../../src/vocabulary.ts';

/** How a property is red: what is wrong, and the smallest case that shows it. */
export interface Red {
  /** Of a known failure: the cause and the line of the trainer's code. */
  readonly reason?: string;
  readonly sentence?: string;
  /** Lines of text. */
  readonly strip?: readonly string[];
  /** As JSON; absent where it is too long to be read. */
  readonly given?: string;
}

export interface TrainerResult {
  readonly adapter: string;
  /** Of the trainer; empty where it does not say. */
  readonly version: string;
  /** 2026-11-28 */
  readonly date: string;
  /** The environment of `npm run setup:trainers`: `.venv-verl`. */
  readonly environment: string;
  readonly cases: number;
  /** Why this version cannot be asked. */
  readonly lacks?: string;
  /** Ids of properties. What is *unsupported* stands here as a number alone: the rest. */
  readonly verdicts: Readonly<Partial<Record<Verdict, readonly string[]>>>;
  readonly unsupported: number;
  readonly red: Readonly<Record<string, Red>>;
}

/** Known failures are red as well. */
export const RED: ReadonlySet<Verdict> = new Set<Verdict>([...FAILING, 'known']);

const FILE = join(PACKAGE_ROOT, 'docs', 'trainers', 'results.json');

export function readResults(): readonly TrainerResult[] {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : [];
}

/** Newest versions first. Those of `fresh` stand in the place of what their adapter and version answered before. */
export function writeResults(fresh: readonly TrainerResult[]): void {
  const all = new Map([...readResults(), ...fresh].map((each) => [nameOf(each), each]));
  const sorted = [...all.values()].sort(
    (a, b) => a.adapter.localeCompare(b.adapter) || (isBefore(a.version, b.version) ? 1 : -1),
  );
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 1)}\n`);
}

/** `trl-grpo 1.13.0` */
export function nameOf({ adapter, version }: Pick<TrainerResult, 'adapter' | 'version'>): string {
  return `${adapter} ${version}`.trim();
}

export function resultOf(
  run: Run,
  { adapter, environment, cases }: Pick<TrainerResult, 'adapter' | 'environment' | 'cases'>,
): TrainerResult {
  const verdicts: Partial<Record<Verdict, string[]>> = {};
  for (const { id, verdict } of run.results) verdicts[verdict] = [...(verdicts[verdict] ?? []), id].sort();
  const { unsupported = [], ...judged } = verdicts;
  return {
    adapter,
    version: run.start.hello.version ?? '',
    date: today(),
    environment,
    cases,
    verdicts: judged,
    unsupported: unsupported.length,
    red: Object.fromEntries(
      run.results.flatMap((result) => (RED.has(result.verdict) ? [[result.id, redOf(result)]] : [])),
    ),
  };
}

export function today(): string {
  return new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
}

const MOST_CHARACTERS = 600;
/** A page of documents has room for so many columns of fixed width. */
const WIDTH = 96;

function redOf({ reason, failure }: PropertyResult): Red {
  const sentence = failure?.finding?.sentence;
  const strip = failure?.finding?.strips?.[0];
  const given = failure === undefined ? '' : JSON.stringify(failure.given);
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(sentence === undefined ? {} : { sentence }),
    ...(strip === undefined ? {} : { strip: stripLines(strip, WIDTH, PLAIN).map((line) => line.trimEnd()) }),
    ...(given === '' || given.length > MOST_CHARACTERS ? {} : { given }),
  };
}

/** The table of docs/trainers/README.md. */
export function withResults(text: string): string {
  return text.replace(
    /(<!-- trainers -->\n).*?(<!-- \/trainers -->)/s,
    (_, begin: string, end: string) =>
      `${begin}${[...HEAD, ...readResults().map(tableLine)].join('\n')}\n${end}`,
  );
}

const HEAD = [
  '| adapter | version | judged | hold | known | fail | skipped | unsupported |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

export function tableLine({ adapter, version, lacks, verdicts, unsupported }: TrainerResult): string {
  if (lacks !== undefined) return `| ${adapter} | ${lacks} |  |  |  |  |  |  |`;
  const count = (...named: readonly Verdict[]): number =>
    named.reduce((sum, verdict) => sum + (verdicts[verdict]?.length ?? 0), 0);
  const judged = count('pass', ...RED);
  const cells = [judged, count('pass'), count('known'), count(...FAILING), count('skipped'), unsupported];
  return `| ${[adapter, version, ...cells].join(' | ')} |`;
}
