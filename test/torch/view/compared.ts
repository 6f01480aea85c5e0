// What a configuration's rows and flags are held to, whichever trainer it is of.
import { describe, expect, test } from 'vitest';
import type { Case, Project } from './rows.ts';

/** By name: the key that is flagged, and the configuration. */
export type Flagged = Readonly<Record<string, readonly [string, Case]>>;

export interface Cases {
  readonly right: readonly string[];
  readonly idle: Flagged;
  readonly stops: Flagged;
}

/** @param made of the tests, which begin before it is there */
export function compare(trainer: string, made: () => Project, { right, idle, stops }: Cases): void {
  describe(`rows are those of ${trainer}, and no setting is flagged`, () => {
    test.each(right)('%s', async (name) => {
      const { rows, faults } = await made().ours(name);
      expect(made().theirs.get(name)).toEqual({ rows });
      expect(rows).not.toEqual([]);
      expect(faults).toEqual([]);
    });
  });

  describe('a setting that does nothing is flagged', () => {
    test.each(Object.entries(idle))('%s', async (name, [key]) => {
      const { rows, faults } = await made().ours(name);
      expect(faults).toEqual([key]);
      expect(made().theirs.get(name)).toEqual({ rows });
      expect(made().theirs.get(`${name}-bare`)).toEqual({ rows });
    });
  });

  describe(`a setting with which ${trainer} stops is flagged`, () => {
    test.each(Object.entries(stops))('%s', async (name, [key]) => {
      const { faults } = await made().ours(name);
      expect(faults).toEqual([key]);
      expect(made().theirs.get(name)).toHaveProperty('stops');
    });
  });
}
