// Some hundred healthy runs: no more of them are blamed than `npm run monitor:patience` allows of thousands.
import { expect, test } from 'vitest';
import { KINDS } from '../simulated/healthy.ts';
import { blamesOf, ratesOf } from '../simulated/patience.ts';

const RUNS = 24 * KINDS.length;
/** No measure of speed: other work may share the machine. */
const PATIENCE = 240_000;

test(
  `of ${RUNS} healthy runs, no more is blamed than is allowed`,
  () => {
    const blames = blamesOf(RUNS, 1);
    for (const { level, allowed, low } of ratesOf(blames, RUNS))
      expect(
        low,
        JSON.stringify(
          blames.filter((blame) => blame.level === level),
          null,
          1,
        ),
      ).toBeLessThanOrEqual(allowed);
  },
  PATIENCE,
);
