// The pages that people follow, followed: each command as it is printed, except those that need torch (test/torch/docs/).
import { describe, expect, test } from 'vitest';
import { bare, follow, isFollowed } from './follow.ts';
import { GIVEN, NOT_PRINTED, NOT_TYPED, PAGES } from './given.ts';
import { sectionsOf } from './page.ts';

test.each(PAGES.filter((page) => isFollowed(page, false)))('%s', async (page) => {
  await follow(page);
});

describe('what is given or left out is on a page', () => {
  const steps = PAGES.flatMap(sectionsOf).flatMap((section) => section.steps);
  const commands = steps.flatMap((step) => (step.kind === 'commands' ? step.lines : []));
  const printed = steps.flatMap((step) => (step.kind === 'printed' ? [step.text] : []));

  test.each(NOT_TYPED.map(([form]) => form))('%s', (form) => {
    expect(commands.filter((line) => form.test(line))).not.toEqual([]);
  });

  test.each(NOT_PRINTED.map(([first]) => first))('%s', (first) => {
    expect(printed.filter((text) => text.startsWith(first))).not.toEqual([]);
  });

  test.each(Object.keys(GIVEN))('sections and commands of %s', (page) => {
    const sections = sectionsOf(page);
    const typed = sections.flatMap((section) =>
      section.steps.flatMap((step) => (step.kind === 'commands' ? step.lines.map(bare) : [])),
    );
    expect(sections.map(({ heading }) => heading)).toEqual(
      expect.arrayContaining(Object.keys(GIVEN[page] ?? {})),
    );
    for (const { exits = {} } of Object.values(GIVEN[page] ?? {}))
      expect(typed).toEqual(expect.arrayContaining(Object.keys(exits)));
  });
});
