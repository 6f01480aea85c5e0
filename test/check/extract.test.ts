// What is said of extracted completions, by trainers wrong in one way each.
import { expect, test } from 'vitest';
import { extractProperties } from '../../properties/rollouts/extract.ts';
import { runCase } from '../../src/check/subject.ts';
import { type Args, type Batch, type Finding, type Ids, objectTrainer, worldOf } from '../../src/index.ts';

const DRAWN: Batch = {
  prompts: [[5, 6], [7]],
  completions: [
    [8, 2],
    [9, 10, 2],
  ],
  pad: 0,
  stops: [2],
};

async function findingOf(
  id: string,
  extract: (args: Args<'extract'>) => readonly Ids[],
): Promise<Finding | undefined> {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'toy', ops: { extract: {} } },
    ops: { extract: (args: Args<'extract'>) => ({ completion_ids: extract(args) }) },
  });
  const property = extractProperties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property ${id}`);
  const outcome = await runCase(property, trainer, worldOf(trainer, undefined), DRAWN);
  return outcome.kind === 'fails' ? outcome.finding : undefined;
}

const sampled = (row: number): Ids => DRAWN.completions[row] ?? [];

test('rows that are each legal and disagree are said to disagree, and both are shown', async () => {
  const finding = await findingOf('extract/exact-under-left-padding', () => [
    sampled(0).slice(0, -1),
    sampled(1),
  ]);
  expect(finding).toMatchObject({
    kind: 'mixed',
    sentence:
      'The completions come back in different ways: row 0 comes back without its stop token, row 1 with its stop token; one of them must hold for all rows.',
  });
  expect(finding?.strips?.map(({ row, marks }) => [row, marks])).toEqual([
    [0, [3]],
    [1, []],
  ]);
});

test('one way for all rows is legal, whichever it is', async () => {
  for (const end of [undefined, -1]) {
    expect(
      await findingOf('extract/exact-under-left-padding', () => [
        sampled(0).slice(0, end),
        sampled(1).slice(0, end),
      ]),
    ).toBeUndefined();
  }
});

test('a prompt token in the completion is named and marked', async () => {
  const finding = await findingOf('extract/exact-under-left-padding', () => [[6, 8, 2], sampled(1)]);
  expect(finding?.sentence).toContain('which is part of the prompt');
  expect(finding?.strips?.[0]?.marks).toEqual([1]);
});

test('a completion that changes with the padding is shown where it stands', async () => {
  const finding = await findingOf('extract/independent-of-padding-width', ({ sequences }) =>
    sequences.map((row) => row.slice(2)),
  );
  expect(finding).toMatchObject({ kind: 'differs' });
  expect(finding?.strips?.[0]?.marks.length).toBeGreaterThan(0);
});
