// A term on the size of the logits is asked about where it rewards large ones, in every pass that tells its sign.
import { describe, expect, test } from 'vitest';
import type { LedgerSketch } from '../../traced.ts';
import { holds, judged, silent } from '../judged.ts';

const ID = 'trace/large-logits-are-not-rewarded';

type Sign = boolean | undefined | 'none' | 'entropy';

/** A pass of one row per sign, each of its own step. */
const passes = (...signs: readonly Sign[]): LedgerSketch => ({
  rows: signs.map((sign, step) => ({
    ids: [5, 6, 7, 2],
    step,
    ...(sign === 'none' ? {} : { terms: [termOf(sign)] }),
  })),
});

const termOf = (sign: Sign) =>
  sign === 'entropy'
    ? ({ kind: 'entropy', rewarded: true } as const)
    : { kind: 'normalizer' as const, ...(typeof sign === 'boolean' ? { rewarded: sign } : {}) };

describe('asked about', () => {
  test.each<[string, LedgerSketch, RegExp]>([
    ['one pass', passes(true), /^From step 0 on, the loss of 1 forward pass has a term that falls/],
    ['all of three', passes(true, true, true), /the loss of 3 forward passes has/],
    ['from the second step on', passes('none', true, true), /^From step 1 on, the loss of 2 forward/],
    ['beside passes of an unknown sign', passes(undefined, true), /^From step 1 on/],
    [
      'two rows of one pass, once',
      { rows: passes(true, true).rows?.map((row) => ({ ...row, step: 0, forward: 0 })) ?? [] },
      /the loss of 1 forward pass has/,
    ],
  ])('%s', (_, sketch, says) => {
    const { notices = [], findings } = judged(ID, sketch);
    expect(findings).toEqual([]);
    expect(notices.map(({ asked }) => asked)).toEqual([true]);
    expect(notices[0]?.sentence).toMatch(says);
  });
});

describe('right', () => {
  test.each<[string, LedgerSketch]>([
    ['a z-loss', passes(false, false)],
    ['a z-loss that one pass reads the other way round', passes(false, true, false)],
  ])('%s', (_, sketch) => {
    holds(ID, sketch);
    expect(judged(ID, sketch).notices).toBeUndefined();
  });

  test('an entropy bonus, and a loss without terms, are none of it', () => {
    silent(ID, passes('entropy'));
    silent(ID, passes('none'));
  });

  test('a term whose sign nobody knows is judged by nobody', () => {
    silent(ID, passes(undefined), 'the sign of the term was not told');
  });
});
