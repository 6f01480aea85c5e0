// The table of docs/measurements.md, and what of it must not be.
import {
  FAULTS,
  type Finetune,
  HEALTHY,
  isFound,
  kindOf,
  reasonOf,
} from '../../test/torch/monitor/finetunes.ts';
import type { Pair, Read, Reading } from './read.ts';

export function tableOf(all: readonly Read[], pairs: readonly Pair[] | undefined): readonly string[] {
  const compared = all.some(({ beside }) => beside.length > 0);
  const header = ['', 'fault', 'exit code', 'rules that fail, in how many runs, from which steps on'];
  const columns = compared ? [...header, 'and beside a healthy run'] : header;
  return [
    row(columns),
    row(columns.map(() => '---')),
    ...all.map(({ finetune, alone, beside }) => {
      const { method, fault } = finetune;
      const name = fault === HEALTHY ? 'none' : (FAULTS[fault]?.name ?? fault);
      const cells = [method.toUpperCase(), name, exitCodes(alone), alonesOf(finetune, alone)];
      return row(compared ? [...cells, furtherOf(alone, beside)] : cells);
    }),
    ...(pairs === undefined || pairs.length === 0
      ? []
      : ['', `Healthy runs beside another seed, ${pairs.length} pairs: ${blamed(pairs).length} blamed.`]),
  ];
}

/** A healthy run that was blamed, a fault that is to be seen and was not found: one sentence each. */
export function problemsOf(all: readonly Read[], pairs: readonly Pair[] = []): readonly string[] {
  return [
    ...all.flatMap((read) => {
      const { finetune, alone, beside } = read;
      const name = `${finetune.method}/${finetune.fault}`;
      return problemOf(finetune, alone, beside).map((problem) => `${name}: ${problem}`);
    }),
    ...blamed(pairs).map(({ name, reading }) => `${name}: a healthy run is blamed, ${rulesOf([reading])}`),
  ];
}

function problemOf(
  { expected }: Finetune,
  alone: readonly Reading[],
  beside: readonly Reading[],
): readonly string[] {
  const failing = alone.filter(({ found }) => found.length > 0).length;
  if (alone.some(({ broken }) => broken)) return ['a rule of its own broke'];
  if (expected === undefined) return failing > 0 ? [`a healthy run is blamed, ${rulesOf(alone)}`] : [];
  const foundIn = (readings: readonly Reading[]): number =>
    readings.filter(({ found }) =>
      isFound(
        found.map(({ rule }) => rule),
        expected,
      ),
    ).length;
  switch (kindOf(expected)) {
    case 'shown':
      return foundIn(alone) < alone.length
        ? [`missed in ${alone.length - foundIn(alone)} of ${alone.length}`]
        : [];
    case 'beside':
      return foundIn(beside) < beside.length
        ? [`missed beside a healthy run in ${beside.length - foundIn(beside)} of ${beside.length}`]
        : [];
    case 'missed':
      return failing === alone.length ? [`is found now, ${rulesOf(alone)}: no longer missed`] : [];
    case 'hidden':
      return failing > 0 ? [`is not in the log, and is found: ${rulesOf(alone)}`] : [];
  }
}

// --- helpers ---

function alonesOf({ expected }: Finetune, alone: readonly Reading[]): string {
  const rules = rulesOf(alone);
  if (expected === undefined) return rules === '' ? 'green' : `**blamed**: ${rules}`;
  if (rules !== '') return rules;
  const words = {
    shown: '**not found**',
    missed: '**not found**',
    beside: 'only beside another',
    hidden: 'not to be seen',
  };
  return [words[kindOf(expected)], reasonOf(expected)].filter((part) => part !== '').join(': ');
}

/** What fails only where a healthy run was named; or that it was refused, as one of another task. */
function furtherOf(alone: readonly Reading[], beside: readonly Reading[]): string {
  const known = new Set(alone.flatMap(({ found }) => found.map(({ rule }) => rule)));
  const refused = beside.filter(({ exitCode }) => exitCode === NO_VERDICT).length;
  const further = beside.map((reading) => ({
    ...reading,
    found: reading.found.filter(({ rule }) => !known.has(rule)),
  }));
  const words = [refused > 0 ? `refused ${refused} of ${beside.length}` : '', rulesOf(further)];
  return words.filter((each) => each !== '').join(', ') || '-';
}

const NO_VERDICT = 2;

const blamed = (pairs: readonly Pair[]): readonly Pair[] =>
  pairs.filter(({ reading }) => reading.exitCode !== 0);

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function exitCodes(readings: readonly Reading[]): string {
  const codes = readings.map(({ exitCode }) => String(exitCode));
  return new Set(codes).size === 1 ? (codes[0] ?? '') : codes.join(', ');
}

/** `loss-diverges 3 of 3 (12, 9, 14)`, those of most runs first. */
function rulesOf(readings: readonly Reading[]): string {
  const steps = new Map<string, (number | undefined)[]>();
  for (const { found } of readings)
    for (const { rule, step } of found) steps.set(rule, [...(steps.get(rule) ?? []), step]);
  return [...steps]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([rule, at]) => `\`${rule}\` ${at.length} of ${readings.length}${stepsOf(at)}`)
    .join(', ');
}

function stepsOf(steps: readonly (number | undefined)[]): string {
  const named = steps.filter((step) => step !== undefined);
  if (named.length === 0) return '';
  return ` (${new Set(named).size === 1 ? named[0] : named.join(', ')})`;
}
