import { expect, test } from 'vitest';
import { COLOURED, choosePaint, PLAIN } from '../../../src/report/text/paint.ts';

test.each([
  ['a terminal has colour', true, {}, COLOURED],
  ['a pipe has none', false, {}, PLAIN],
  ['NO_COLOR wins over everything', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, PLAIN],
  ['FORCE_COLOR colours a pipe', false, { FORCE_COLOR: '1' }, COLOURED],
  ['FORCE_COLOR=0 takes it away', true, { FORCE_COLOR: '0' }, PLAIN],
  ['a dumb terminal has none', true, { TERM: 'dumb' }, PLAIN],
] as const)('%s', (_, isTty, env, paint) => {
  expect(choosePaint(isTty, env)).toBe(paint);
});
