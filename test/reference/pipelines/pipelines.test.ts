import { describe, expect, it } from 'vitest';
import {
  CALL_STATUSES,
  callStatuses,
  dueLosses,
  PHASES,
  softOverlong,
  unrolledMask,
} from '../../../src/reference/index.ts';

describe('softOverlong', () => {
  // With the paper's setting, 20480 tokens of which the last 4096 are the buffer.
  it.each([
    [0, 0],
    [16384, 0],
    [17408, -0.25],
    [18432, -0.5],
    [20480, -1],
    [30000, -1],
  ])('a length of %i costs %f', (length, expected) => {
    expect(softOverlong(length, 20480, 4096)).toBe(expected);
  });
});

describe('dueLosses', () => {
  it.each(PHASES)('has each loss once in every f iterations, whichever f are looked at (%s)', (phase) => {
    const frequencies = { a: 1, b: 2, c: 5 };
    const due = dueLosses(30, ['a', 'b', 'c'], frequencies, phase);
    for (const [loss, frequency] of Object.entries(frequencies)) {
      for (let from = 0; from + frequency <= 30; from++) {
        const window = due.slice(from, from + frequency);
        expect(window.filter((losses) => losses.includes(loss))).toHaveLength(1);
      }
    }
  });

  it('begins with the first iteration, or with the last one that a frequency allows', () => {
    expect(dueLosses(4, ['b', 'a'], { a: 1, b: 3 }, 'first')).toEqual([['b', 'a'], ['a'], ['a'], ['b', 'a']]);
    expect(dueLosses(4, ['b', 'a'], { a: 1, b: 3 }, 'last')).toEqual([['a'], ['a'], ['b', 'a'], ['a']]);
  });
});

describe('unrolledMask', () => {
  it('covers each step of a segment once when windows are laid side by side', () => {
    for (const length of [1, 2, 5, 7]) {
      for (const steps of [1, 2, 3, 8]) {
        let covered = 0;
        for (let start = 0; start < length; start += steps) {
          const mask = unrolledMask(length, start, steps);
          expect(mask).toHaveLength(steps);
          covered += mask.reduce((sum, one) => sum + one, 0);
        }
        expect(covered).toBe(length);
      }
    }
  });

  it('has its zeros at the end', () => {
    expect(unrolledMask(5, 3, 4)).toEqual([1, 1, 0, 0]);
  });
});

describe('callStatuses', () => {
  it('names a status of its own for each mistake that no parser mends', () => {
    const kinds = ['call', 'no call', 'not json', 'unknown tool', 'missing argument', 'cut'];
    expect(kinds.flatMap(callStatuses).sort()).toEqual([...CALL_STATUSES].sort());
  });
});
