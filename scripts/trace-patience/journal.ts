// What was asked already, a line each, so that a run that was broken off goes on where it was; and the state of what is tested.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import type { Outcome } from './ask.ts';

export interface Journal {
  /** Of a script, a set and a seed, what was found last. */
  find(script: string, set: string, seed: number): Outcome | undefined;
  add(outcome: Outcome): void;
}

export function journalIn(folder: string, fresh: boolean): Journal {
  const file = join(folder, 'done.ndjson');
  mkdirSync(folder, { recursive: true });
  if (fresh) rmSync(file, { force: true });
  const known = new Map<string, Outcome>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    if (line === '') continue;
    const outcome = JSON.parse(line) as Outcome;
    known.set(keyOf(outcome.script, outcome.set, outcome.seed), outcome);
  }
  return {
    find: (script, set, seed) => known.get(keyOf(script, set, seed)),
    add(outcome) {
      known.set(keyOf(outcome.script, outcome.set, outcome.seed), outcome);
      appendFileSync(file, `${JSON.stringify(outcome)}\n`);
    },
  };
}

/** Of the tracer, the rules, and the scripts: what an answer depends on. */
export function buildNow(): string {
  const hash = createHash('sha256');
  for (const folder of [
    'src/python/lossproof_trace',
    'dist/src',
    'dist/properties',
    'test/torch/trace/scripts',
  ])
    for (const name of readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' }).sort())
      if (/\.(py|js)$/.test(name)) hash.update(name).update(readFileSync(join(PACKAGE_ROOT, folder, name)));
  return hash.digest('hex').slice(0, DIGITS);
}

// --- helpers ---

const DIGITS = 12;
const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);
