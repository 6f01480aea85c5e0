// A test file of `npm test` does not look at a clock: what it says is the same on a machine that is ten times slower.
// How many processes it may start is counted while it runs: test/spent.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, ROOT } from './house.ts';

/** What such a file must not have, and why. */
const UNSTEADY: readonly { readonly what: RegExp; readonly why: string }[] = [
  { what: /jiti-register|cli\/main\.ts/, why: 'starts lossproof itself as a process' },
  { what: /\b(?:performance|Date)\.now\(\)|\bhrtime\b/, why: 'measures time' },
  { what: /\b(?:op|hello|shrink)Milliseconds: [1-9]/, why: 'waits for a deadline' },
  { what: /'--(?:op|hello)-timeout', '\d/, why: 'waits for a deadline' },
  { what: /'--(?:idle|interval)', '0/, why: 'waits for a deadline' },
  { what: /\{ timeout: \d{1,2}_?\d{0,3} \}/, why: 'gives up after a minute or less' },
];

/** Tests of the sources name what they look for. */
const OWN = 'test/architecture/';

const steady = filesOf(['test'], ['.test.ts']).filter(
  (path) =>
    !/\.(?:slow|long)\.test\.ts$|^test\/(?:torch|browser|gpu|tfjs)\//.test(path) && !path.startsWith(OWN),
);

test.each(UNSTEADY)('no test of `npm test` $why: $what', ({ what, why }) => {
  expect(steady.length).toBeGreaterThan(200);
  const found = steady.filter((path) => what.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(found, `each ${why}: mend it, or call the file *.slow.test.ts`).toEqual([]);
});
