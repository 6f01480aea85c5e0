// Every cell of the table of exit codes in docs/hostile.md: it is what the command does, without talk of a defect, without a hang, without
// what a terminal obeys, and nothing that a link points to is touched.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inPart } from '../../part.ts';
import { prepared, seenIn } from './cell.ts';
import { CONDITIONS, type Condition, STATED, statedCode } from './stated.ts';

let folder = '';
beforeAll(async () => {
  folder = await prepared();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** All of them are 16 minutes of two cores: LOSSPROOF_EXITS_PART is `2/4` where there is no time for that. */
const conditions = inPart(Object.keys(CONDITIONS) as Condition[], process.env.LOSSPROOF_EXITS_PART ?? '1/1');

test.each(conditions)('%s', { timeout: 1_200_000 }, async (condition) => {
  const others: Record<string, unknown> = {};
  await pMap(
    STATED,
    async (stated) => {
      const code = statedCode(stated, condition);
      if (code === undefined) return;
      const seen = await seenIn(folder, stated, condition);
      if (seen.code !== code || seen.wrong.length > 0)
        others[stated.row] = [seen.code, `stated: ${code}`, ...seen.wrong, seen.text.slice(-400)];
    },
    { concurrency: availableParallelism() },
  );
  expect(others).toEqual({});
});
