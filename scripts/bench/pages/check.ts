// A run of so many properties, every second of which fails as one of golden/report does: their cards as far as the page has
// them, a line for each further failure, and a table of all.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PropertyFacts, PropertyResult } from '../../../src/check/events.ts';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../../src/report/runs.ts';
import { GOLDEN } from '../../pictures/shots.ts';

export function runOf(properties: number): Run {
  const [recorded] = runsOf(readEvents(readFileSync(join(GOLDEN, 'run.ndjson'), 'utf8')).events);
  if (recorded === undefined) throw new Error('golden/report/run.ndjson holds no run');
  const { start, results } = recorded;
  const fails = results.filter(({ verdict }) => verdict === 'fail');
  const holds = results.filter(({ verdict }) => verdict === 'pass');
  const facts = new Map(start.properties.map((each) => [each.id, each]));
  const all = Array.from({ length: properties }, (_, at) => {
    const kind = at % 2 === 0 ? fails : holds;
    const like = kind[Math.floor(at / 2) % kind.length];
    const own = like && facts.get(like.id);
    if (like === undefined || own === undefined)
      throw new Error('golden/report/run.ndjson has nothing to repeat');
    return named(`${like.id}-${at}`, like, own);
  });
  return {
    ...recorded,
    start: { ...start, properties: all.map(({ facts: each }) => each) },
    results: all.map(({ result }) => result),
  };
}

// --- helpers ---

/** Its case has its own name, too: the same case twice is told once. */
function named(
  id: string,
  like: PropertyResult,
  facts: PropertyFacts,
): { readonly result: PropertyResult; readonly facts: PropertyFacts } {
  const { failure } = like;
  return {
    result: { ...like, id, ...(failure === undefined ? {} : { failure: { ...failure, caseId: id } }) },
    facts: { ...facts, id },
  };
}
