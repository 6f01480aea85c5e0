// The scripts of cases/, under `trace`: the right ones are not blamed, the wrong ones found, each by its own rule.
import { expect, test } from 'vitest';
import { TOPICS } from './cases/cases.ts';
import type { CleanCase, FaultyCase } from './kinds.ts';
import { blamedIn, ofPart, traced } from './run.ts';

const named = <Case>(of: 'clean' | 'faulty'): [string, Case][] =>
  Object.entries(TOPICS).flatMap(([topic, cases]) =>
    Object.entries(cases[of]).map(([name, each]): [string, Case] => [`${topic}: ${name}`, each as Case]),
  );

const RARE = new Set(['beside', 'made-anew']);

const cleanCases = named<CleanCase>('clean');
const faultyCases = named<FaultyCase>('faulty');

test.concurrent.each(ofPart(cleanCases))(
  '%s: not blamed',
  async (_, { exact, nothing = false, says, tells, ...asked }) => {
    const run = await traced(asked);
    exact?.(run);
    expect(blamedIn(run), run.out).toEqual([]);
    expect(run.ledger.processes.flatMap(({ troubles }) => troubles)).toEqual([]);
    const told = run.ledger.events.map(({ what }) => what).filter((what) => RARE.has(what));
    expect([...new Set(told)]).toEqual(tells === undefined ? [] : [tells]);
    if (says !== undefined) expect(run.out.replace(/\s+/g, ' ')).toMatch(says);
    expect(run.exitCode, run.out).toBe(nothing ? 2 : 0);
  },
);

test.concurrent.each(ofPart(faultyCases))('%s: found, and named', async (_, faulty) => {
  const run = await traced(faulty);
  if ('unknown' in faulty) {
    expect(run.out.replace(/\s+/g, ' ')).toMatch(faulty.unknown);
    expect(run.exitCode, run.out).not.toBe(0);
    return;
  }
  const blamed = new Map(blamedIn(run));
  expect([...blamed.keys()], run.out).toContain(faulty.found);
  expect(blamed.get(faulty.found)).toMatch(faulty.says);
  expect(run.exitCode, run.out).toBe(1);
});
