// One legal choice, one object: what is known of it beside the object agrees with it, or the object says why there is nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { PRACTICE } from '../../src/check/profile/practice.ts';
import { PROBES } from '../../src/check/profile/probes.ts';
import { SEMANTICS_RULE } from '../../src/protocol/hello.ts';
import { OPS } from '../../src/protocol/message.ts';
import type { Choice } from '../../src/vocabulary/choice.ts';
import { CHOICES, type ChoiceName, choiceNames, SECTIONS } from '../../src/vocabulary/choices.ts';
import { filesOf, ROOT } from './house.ts';

const choices = choiceNames.map((name): [ChoiceName, Choice & { readonly ops: readonly string[] }] => [
  name,
  CHOICES[name],
]);
const probed = new Set<string>(PROBES.flatMap(({ items }) => items));
const doubted = new Set<string>(PRACTICE.map(({ item }) => item));

describe.each(choices)('%s', (name, { says, usual, ops, needed, meant, unmeasured, unheld, undoubted }) => {
  test('has a probe, or says why no answer shows it', () => {
    expect(probed.has(name)).toBe(meant === undefined && unmeasured === undefined);
    if (meant !== undefined) expect(SEMANTICS_RULE({ [name]: meant.value }, 'semantics')).toBeUndefined();
  });

  test('has a row in the table of practice, or says why no measured value is questioned', () => {
    // What is not measured, or held against nobody, is not questioned either.
    const reasons = [meant, unmeasured, unheld, undoubted].filter((reason) => reason !== undefined);
    expect(reasons).toHaveLength(doubted.has(name) ? 0 : 1);
  });

  test('is of ops that there are, and of each that a probe or a property of one op reads it off', () => {
    expect(ops.filter((op) => !(op in OPS))).toEqual([]);
    const reading = [
      ...PROBES.filter(({ items }) => items.some((item) => item === name)),
      ...properties.filter((each) => each.ops.length === 1 && each.settles?.some((item) => item === name)),
    ].flatMap((each) => each.ops);
    expect(reading.filter((op) => !ops.includes(op))).toEqual([]);
    if (needed !== undefined) expect(ops).toContain(needed);
    if (name !== 'in_place') expect(ops).not.toEqual([]); // which is of every op
  });

  test('has a usual value that it may have, and a sentence that fits a table', () => {
    if (usual !== undefined) expect(SEMANTICS_RULE({ [name]: usual }, 'semantics')).toBeUndefined();
    expect(says).toMatch(/^[^\n]{6,}[^.\n]$/);
    expect(says.replaceAll('\\|', '')).not.toContain('|');
  });
});

test('a name stands in one section only, and every declaration that is decoded is a choice', () => {
  const names = SECTIONS.flatMap((section) => section.names);
  expect(names).toEqual([...new Set(names)]);
  expect(Object.keys(SEMANTICS_RULE.schema.properties ?? {})).toEqual(names);
});

/** As many as an example, or capabilities of the same name, need. */
const FEW = 3;

test('floors that decode, explain and report read the table, and have no list of choices by hand', () => {
  const floors = ['protocol', 'trainer', 'report', 'cli', 'golden', 'mutate'].map((floor) => `src/${floor}`);
  const files = filesOf([...floors, 'scripts/docs', 'scripts/site']);
  expect(files.length).toBeGreaterThan(200);
  const lists = files.flatMap((path) => {
    const words = new Set(readFileSync(join(ROOT, path), 'utf8').match(/\w+/g));
    const named = choiceNames.filter((name) => words.has(name));
    return named.length > FEW ? [`${path}: ${named.join(', ')}`] : [];
  });
  expect(lists).toEqual([]);
});
