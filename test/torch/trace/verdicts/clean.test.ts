// Unmodified scripts, each run under `trace`: every target is the one that its data says, every weight the closed form of
// its method, and nothing is blamed. A new script is one entry of correct.ts.
import { expect, test } from 'vitest';
import { type Clean, EXACT, HARMLESS } from './correct.ts';
import { blamedIn, ofPart, type Traced, traced } from './run.ts';

test.concurrent.each(ofPart(Object.entries(EXACT)))(
  '%s: trained as it should be, and not blamed',
  async (_, asked) => check(await traced(asked), asked),
);

test.concurrent.each(ofPart(Object.entries(HARMLESS)))('%s: harmless, and not blamed', async (_, asked) =>
  check(await traced(asked), asked),
);

function check(run: Traced, { exact, nothing = false }: Clean): void {
  exact?.(run);
  expect(blamedIn(run), run.out).toEqual([]);
  expect(run.ledger.processes.flatMap(({ troubles }) => troubles)).toEqual([]);
  if (nothing) expect(run.out).toMatch(/No verdict/);
  else expect(run.results.filter(({ verdict }) => verdict === 'pass').length, run.out).toBeGreaterThan(0);
  expect(run.exitCode, run.out).toBe(nothing ? 2 : 0);
}
