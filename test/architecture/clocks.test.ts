// Where the sources look at a clock, and act on it: by a bound that is declared (src/bounds.ts), so that docs/deadlines.md has it, or
// by a time that whoever calls has given. Comparisons and timers are found by their words, as in the other tests of the house.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, ROOT, sources } from './house.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const codeOf = (path: string): string =>
  read(path)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
    .replaceAll(/'[^'\n]*'/g, "''");

const CLOCK = /\b(performance|Date)\.now\(\)|\bnow\(\)|\bhrtime\b/;
/** Given by a caller, who has it from an option or a declared bound. */
const GIVEN = /\b\w*(second|timeout|until)\w*/i;
const DECLARED = /\b(?:const) (\w+)(?:: number)? =\s*(?:bound|pace)\(/g;
const declared: ReadonlySet<string> = new Set([
  'LONGEST_TIMER',
  ...sources.flatMap((path) => [...codeOf(path).matchAll(DECLARED)].map(([, name = '']) => name)),
]);

/** What each name of a file was last made of, one after the other. */
function assignmentsOf(code: string): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const [, name = '', value = ''] of code.matchAll(/\b(\w+)(?:: [\w. |]+)? [-+*]?=\s([^;]+);/g))
    all.set(name, `${all.get(name) ?? ''} ${value}`);
  return all;
}

/** An expression and what its names were made of, down to three levels. */
function madeOf(expression: string, assigned: ReadonlyMap<string, string>): string {
  let text = expression;
  for (let level = 0; level < 3; level++)
    text += ` ${[...text.matchAll(/\b\w+\b/g)].map(([name]) => assigned.get(name) ?? '').join(' ')}`.slice(
      0,
      5_000,
    );
  return text;
}

/** The last argument of each call that begins here. */
function lastArguments(code: string, call: RegExp): string[] {
  return [...code.matchAll(call)].map(({ index, 0: begin }) => {
    const given = [''];
    let depth = 1;
    for (const character of code.slice(index + begin.length)) {
      if ('([{'.includes(character)) depth++;
      if (')]}'.includes(character)) depth--;
      if (depth === 0) break;
      if (character === ',' && depth === 1) given.push('');
      else given.push(`${given.pop() ?? ''}${character}`);
    }
    return given.map((each) => each.trim()).findLast((each) => each !== '') ?? '';
  });
}

/** Comparisons with a clock, delays of timers and time-outs of calls: all that acts on time. */
function actsOf(code: string): string[] {
  const assigned = assignmentsOf(code);
  const comparisons = code
    .split(/[;{}?]|&&|\|\||\n\n/)
    .map((piece) => piece.replace(/^[\s\S]*?\b\w+ = /, ''))
    .filter(
      (piece) => /\s[<>]=?\s/.test(piece) && CLOCK.test(madeOf(piece.replaceAll(/\bnow\./g, ''), assigned)),
    );
  const delays = lastArguments(code, /(?<!function )\b(?:setTimeout|setInterval)\(/g);
  const limits = code.matchAll(/(?:\btimeout: |(?<!function )\bsleep\(|AbortSignal\.timeout\()([^,}]+)/g);
  return [
    ...comparisons,
    ...delays.filter((delay) => delay !== '0'),
    ...[...limits].map(([, value = '']) => value),
  ];
}

function undeclaredIn(code: string): string[] {
  const assigned = assignmentsOf(code);
  return actsOf(code).filter((act) => {
    const words = madeOf(act, assigned);
    const names = [...words.matchAll(/\b[A-Z][A-Z_]+\b/g)].map(([name]) => name);
    const timed = names.filter((name) => /SECONDS/.test(name) && assigned.has(name));
    return (
      timed.some((name) => !declared.has(name)) ||
      !(names.some((name) => declared.has(name)) || GIVEN.test(words.replaceAll(/\b[A-Z_]+\b/g, '')))
    );
  });
}

describe('a bound on time that is declared nowhere', () => {
  test.each(sources.filter((path) => !path.startsWith('src/report/html/page/')))('%s has none', (path) => {
    expect(undeclaredIn(codeOf(path))).toEqual([]);
  });

  test.each([
    ['a delay in figures', 'setTimeout(() => stop(), 500);'],
    ['a constant', 'const PATIENCE = 500;\nsetTimeout(stop, PATIENCE);'],
    ['a constant that says its unit', 'const MOST_MILLISECONDS = 500;\nsetTimeout(stop, MOST_MILLISECONDS);'],
    ['a comparison', 'const begun = performance.now();\nif (performance.now() - begun > 2_000) stop();'],
    ['a deadline', 'const MOST = 500;\nconst end = Date.now() + MOST;\nif (Date.now() > end) stop();'],
    ['a watchdog', 'SCRIPT.runInThisContext({ timeout: 5_000 });'],
  ])('%s is found', (_, code) => {
    expect(undeclaredIn(code)).not.toEqual([]);
  });
});

describe('Python', () => {
  const files = filesOf(['src/python'], ['.py']);
  const MARKED = /^# (?:bound \((?:cpu|wall)\): .+; .+|pace)\n(\w+) = /gm;
  const marked = new Set(files.flatMap((path) => [...read(path).matchAll(MARKED)].map(([, name]) => name)));

  test.each(files)('%s waits for nothing but what is marked as a bound or a pace', (path) => {
    const waits = [
      ...read(path)
        .replaceAll(/"""[\s\S]*?"""/g, '')
        .matchAll(
          /(?:\btimeout=|time\.sleep\(|\.wait\(|within\(|monotonic\(\) \+ )([\d.]+|_?[A-Z][A-Z_]+)\b/g,
        ),
    ];
    expect(waits.map(([, name]) => name).filter((name) => !marked.has(name ?? ''))).toEqual([]);
  });
});
