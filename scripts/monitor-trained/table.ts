// The table of docs/monitor.md, and what of it must not be.
import { type Expected, FAULTS, HEALTHY, isHidden } from '../../test/torch/monitor/finetunes.ts';
import type { Pair, Read, Reading } from './read.ts';

export function tableOf(all: readonly Read[], pairs: readonly Pair[] | undefined): readonly string[] {
  const compared = all.some(({ beside }) => beside.length > 0);
  const header = ['method', 'fault', 'exit code', 'found by, in how many runs, from which step on'];
  const columns = compared ? [...header, 'beside a healthy run also'] : header;
  return [
    row(columns),
    row(columns.map(() => '---')),
    ...all.map((read) => {
      const { finetune, alone, beside } = read;
      const { method, fault, expected } = finetune;
      const name = fault === HEALTHY ? 'none' : (FAULTS[fault]?.name ?? fault);
      const by = rulesOf(alone);
      const cells = [method.toUpperCase(), name, exitCodes(alone), by || nothing(expected)];
      if (!compared) return row(cells);
      const known = new Set(alone.flatMap(({ found }) => found.map(({ rule }) => rule)));
      const further = beside.map(({ exitCode, found }) => ({
        exitCode,
        found: found.filter(({ rule }) => !known.has(rule)),
      }));
      return row([...cells, rulesOf(further) || '-']);
    }),
    ...(pairs === undefined || pairs.length === 0
      ? []
      : [
          '',
          `Of ${pairs.length} healthy runs, each beside another seed of it, ${blamed(pairs).length} ${
            blamed(pairs).length === 1 ? 'is' : 'are'
          } blamed.`,
        ]),
  ];
}

/** A healthy run that was blamed, a fault that is to be seen and was found in no run: one sentence each. */
export function problemsOf(all: readonly Read[], pairs: readonly Pair[] = []): readonly string[] {
  return [
    ...all.flatMap(({ finetune: { method, fault, expected }, alone }) => {
      const name = `${method}/${fault}`;
      const complete = alone.filter(({ exitCode }) => exitCode !== 0 && exitCode !== 1);
      if (complete.length > 0) return [`${name}: no verdict`];
      if (expected === undefined)
        return alone.some(({ exitCode }) => exitCode !== 0)
          ? [`${name}: a healthy run is blamed by ${rulesOf(alone)}`]
          : [];
      const missed = alone.filter((reading) => !isFound(reading, expected)).length;
      return isHidden(expected) || missed === 0
        ? []
        : [`${name}: missed in ${missed} of ${alone.length} runs`];
    }),
    ...blamed(pairs).map(({ name, reading }) => `${name}: a healthy run is blamed by ${rulesOf([reading])}`),
  ];
}

/** Whether a fitting rule failed. */
export function isFound({ found }: Reading, expected: Expected): boolean {
  if (isHidden(expected)) return false;
  return found.some(({ rule }) => expected.by === undefined || expected.by.includes(rule));
}

const blamed = (pairs: readonly Pair[]): readonly Pair[] =>
  pairs.filter(({ reading }) => reading.exitCode !== 0);

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function nothing(expected: Expected | undefined): string {
  if (expected === undefined) return 'green';
  return isHidden(expected) ? `not to be seen: ${expected.hidden}` : '**not found**';
}

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
