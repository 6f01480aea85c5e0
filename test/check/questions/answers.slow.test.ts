// What a question prints to answer it never turns a correct trainer red: every trainer that means what it is asked about puts the
// printed line into its hello as it stands, is not asked the same again, and fails nothing.
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { LEGAL } from '../../conformance/correct.ts';
import { answered, type Question } from './answered.ts';
import { NEVER_ASKED, ODD } from './odd.ts';
import { SITES } from './sites.ts';

/** Enough for each question but these: what they ask about is in one case of many, or believed only after many. */
const CASES = 12;
const MORE_CASES = 60;
const RARE = ['advantage_min_std', 'own_formulas', 'flagged_roles'] as const;
const asked: Question[] = [];

describe('a correct trainer that answers what it is asked', () => {
  // Whoever is asked says in `is` what it means: conformance calls any other question a false positive.
  test.each([...LEGAL.filter(({ is }) => is !== undefined), ...ODD])('$name', async (correct) => {
    const cases = RARE.some((item) => correct.is?.[item] !== undefined) ? MORE_CASES : CASES;
    const { questions, wrong } = await answered(correct, { properties, cases });
    asked.push(...questions);
    expect(wrong).toEqual([]);
    expect(questions.length).toBeGreaterThan(0);
  });
});

test.each(Object.entries(NEVER_ASKED))(
  '%s fails before it could be asked about',
  async (_, { correct, fails }) => {
    const { wrong } = await answered(correct, { properties, cases: CASES });
    expect(wrong[0]).toContain(fails);
  },
);

test('behind every question stands a correct trainer that is asked it', () => {
  const names = SITES.filter(({ asks }) => !asked.some(asks)).map(({ name }) => name);
  expect(names).toEqual(Object.keys(NEVER_ASKED));
});
