// More than a thousand healthy runs, and not one word about any of them.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { healthyRun, KINDS } from './healthy.ts';
import { sayingsOf } from './logs.ts';

const RUNS_OF_A_KIND = 105;
/** No measure of speed: other work may share the machine. */
const PATIENCE = 120_000;

describe('at default settings', () => {
  test.each(KINDS)(
    `of ${RUNS_OF_A_KIND} healthy runs, %s, none is blamed`,
    (kind) => {
      const blamed: string[] = [];
      for (let seed = 0; seed < RUNS_OF_A_KIND; seed++) {
        for (const { rule, violation } of sayingsOf(seriesRules, healthyRun(kind, seed)).said)
          blamed.push(`seed ${seed}: ${rule}: ${violation.sentence}`);
      }
      expect(blamed).toEqual([]);
    },
    PATIENCE,
  );
});
