// The baseline of advantages is told although their scale is none of the known ones; and the rules of groups are put only
// to a trainer whose baseline is the group's.
import { expect, test } from 'vitest';
import { properties as all } from '../../../properties/index.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Args, objectTrainer, run, type Semantics } from '../../../src/index.ts';

type Group = (args: Args<'advantages'>, row: number) => readonly number[];

/** Of every token the reward of its row. */
const ofTokens: Group = ({ rewards, group_ids: ids, lengths = [] }, row) =>
  rewards.flatMap((reward, other) =>
    ids[other] === ids[row] ? Array<number>(lengths[other] ?? 1).fill(reward) : [],
  );

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const ofBatch: Group = ({ rewards }) => rewards;
const ofGroup: Group = ({ rewards, group_ids: ids }, row) =>
  rewards.filter((_, other) => ids[other] === ids[row]);
const nothing: Group = () => [0];
const best: Group = (args, row) => [Math.max(...ofGroup(args, row))];

/** Scaled by nothing that anybody declares: five times the share of rewards that are not 0. */
const trainerOf = (baseline: Group, semantics: Semantics = {}) =>
  objectTrainer({
    hello: { protocol: 1, name: 'scaled', dtype: 'float64', ops: { advantages: {} }, semantics },
    ops: {
      advantages: (args) => ({
        advantages: args.rewards.map((reward, row) => {
          const share = args.rewards.filter((other) => other !== 0).length / args.rewards.length;
          return 5 * Math.max(share, 0.1) * (reward - mean(baseline(args, row)));
        }),
      }),
    },
  });

test.each([
  ['batch-mean', ofBatch],
  ['group-mean', ofGroup],
  ['length-weighted', ofTokens],
  ['none', nothing],
  // Each is its distance from the best of its group: no baseline that has a name.
  [undefined, best],
] as const)('the baseline %s is told whatever the scale is', async (name, baseline) => {
  const found = await measureUndeclared({ trainer: trainerOf(baseline), tokenizer: undefined });
  expect(found.semantics.advantage_baseline).toBe(name);
});

const GROUP_RULES = ['advantages/zero-mean-in-each-group', 'advantages/equal-rewards-give-zero'];

test.each([
  ['a batch baseline of a scale that nobody knows', ofBatch, {}, 'unsupported'],
  [
    'a batch baseline, of which only an epsilon is declared',
    ofBatch,
    { advantage_epsilon: 0 },
    'unsupported',
  ],
  ['a baseline that nobody knows', best, {}, 'unsupported'],
  ['a group baseline of such a scale', ofGroup, {}, 'pass'],
  ['a batch baseline where a group is declared', ofBatch, { advantage_scaling: 'group' }, 'fail'],
] as const)('the rules of groups and %s', async (_, baseline, semantics, verdict) => {
  const trainer = trainerOf(baseline, semantics);
  const measured = await measureUndeclared({ trainer, tokenizer: undefined });
  const properties = all.filter(({ id }) => GROUP_RULES.includes(id));
  const results = await run(
    { trainer, tokenizer: undefined, measured, properties, seed: 1, cases: 30, command: 'scaled' },
    () => undefined,
  );
  expect(results.map((result) => result.verdict)).toEqual([verdict, verdict]);
});
