// What a configuration's rows and flags are held to, whichever trainer it is of.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STARTING } from '../trl/ask.ts';
import { type Case, type Project, project, type Trainer } from './rows.ts';

/** By name: the key that is flagged, and the configuration. */
export type Flagged = Readonly<Record<string, readonly [string, Case]>>;

type Named = Readonly<Record<string, Case>>;

export interface Cases {
  readonly right: Named;
  readonly idle: Flagged;
  readonly stops: Flagged;
  /** Of tests of their own. */
  readonly more?: Named;
  /** The same configuration without this key. */
  readonly bare: (key: string, each: Case, name: string) => Case;
}

/** The project, once tests run: they begin before it is there. `title`: what the trainer is called. */
export function compare(
  trainer: Trainer,
  title: string,
  { right, idle, stops, more = {}, bare }: Cases,
): () => Project {
  let opened: Project | undefined;
  beforeAll(async () => {
    const without = Object.entries(idle).map(([name, [key, each]]) => [
      `${name}-bare`,
      bare(key, each, name),
    ]);
    opened = await project(trainer, {
      ...right,
      ...casesOf(idle),
      ...Object.fromEntries(without),
      ...casesOf(stops),
      ...more,
    });
  }, STARTING * 3);
  afterAll(() => opened?.end());
  const made = (): Project => {
    if (opened === undefined) throw new Error(`the rows of ${title} were not made`);
    return opened;
  };

  describe(`rows are those of ${title}, and no setting is flagged`, () => {
    test.each(Object.keys(right))('%s', async (name) => {
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

  describe(`a setting with which ${title} stops is flagged`, () => {
    test.each(Object.entries(stops))('%s', async (name, [key]) => {
      const { faults } = await made().ours(name);
      expect(faults).toEqual([key]);
      expect(made().theirs.get(name)).toHaveProperty('stops');
    });
  });
  return made;
}

const casesOf = (flagged: Flagged): Named =>
  Object.fromEntries(Object.entries(flagged).map(([name, [, each]]) => [name, each]));

const turn = (role: string, content: string) => ({ role, content });
/** One question, and a conversation with a system text and letters of several bytes. */
export const TALKS = [
  { messages: [turn('user', 'Hi'), turn('assistant', 'Hello there!')] },
  {
    messages: [
      turn('system', 'Be brief.'),
      turn('user', 'Is it so?'),
      turn('assistant', 'Yes.'),
      turn('user', 'And that: naïve 🙂?'),
      turn('assistant', 'No.\nNot at all.'),
    ],
  },
];
