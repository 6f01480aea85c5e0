import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Tracks, trackLabels, tracks } from '../../../src/generators/losses/tracks.ts';

const EDGES = [Math.log(0.8), Math.log(1.2), Math.log(1.28)];
const all = ({ rows }: Tracks) => rows.flatMap(({ tokens }) => tokens);

describe('tracks', () => {
  it('are log-probabilities in steps of 1/2048, of which only the sampler and the reference are ever certain', () => {
    const certain = new Set<string>();
    fc.assert(
      fc.property(tracks(), (drawn) => {
        for (const { logprob, old, ref } of all(drawn)) {
          for (const value of [logprob, old, ref]) expect(Number.isInteger(value * 2048)).toBe(true);
          expect(logprob).toBeLessThanOrEqual(-1 / 64);
          for (const [name, value] of Object.entries({ old, ref })) {
            expect(value).toBeLessThanOrEqual(0);
            if (value === 0) certain.add(name);
          }
        }
      }),
    );
    expect([...certain].sort()).toEqual(['old', 'ref']);
  });

  it('are equal on policy', () => {
    fc.assert(
      fc.property(tracks({ onPolicy: true }), ({ rows }) => {
        for (const { logprob, old, ref } of rows.flatMap(({ tokens }) => tokens))
          expect([old, ref]).toEqual([logprob, logprob]);
      }),
    );
  });

  it('keep two steps from the edges that are named, on both sides of which there are ratios', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(tracks({ avoid: EDGES }), ({ rows }) => {
        for (const { logprob, old } of rows.flatMap(({ tokens }) => tokens)) {
          for (const edge of EDGES) {
            expect(Math.abs(logprob - old - edge)).toBeGreaterThan(2 / 64);
            seen.add(`${edge} ${logprob - old < edge}`);
          }
        }
      }),
    );
    expect(seen.size).toBe(2 * EDGES.length);
  });

  it('are square in every way in which sizes may be taken for each other', () => {
    const drawn = fc.sample(tracks(), { seed: 1, numRuns: 400 });
    const seen = drawn.flatMap(trackLabels);
    for (const label of ['as many rows as columns', 'prompt as wide as completion'])
      expect(seen.filter((each) => each === label).length, label).toBeGreaterThan(60);
    const pairs = drawn.filter(({ rows }) => rows.map(({ part }) => part).join('') === '0011');
    expect(pairs.length).toBeGreaterThan(5);
  });

  it('shrink to one token that is nearly certain and on policy', () => {
    const failed = fc.check(
      fc.property(tracks({ avoid: EDGES }), ({ rows }) => rows.every(({ tokens }) => tokens.length === 0)),
      { seed: 1 },
    );
    expect(failed.counterexample?.[0].rows.map(({ tokens }) => tokens)).toEqual([
      [{ logprob: -1 / 64, old: -1 / 64, ref: -1 / 64 }],
    ]);
  });
});
