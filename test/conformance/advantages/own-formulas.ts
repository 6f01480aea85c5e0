// Legal advantages and whitening whose formulas no list has: each is asked which formula it is, and answers that it is its own.
import type { Args, Ok } from '../../../src/index.ts';
import { cell, type Legal, legal, mean } from '../legal.ts';

const OWN = { is: { own_formulas: ['advantages'] } } as const;

const groupOf = ({ rewards, group_ids: ids }: Args<'advantages'>, row: number): number[] =>
  rewards.filter((_, other) => ids[other] === ids[row]);
const scaled =
  (of: (reward: number, group: readonly number[]) => number) =>
  (args: Args<'advantages'>): Ok<'advantages'> => ({
    advantages: args.rewards.map((reward, row) => of(reward, groupOf(args, row))),
  });
const farthest = (group: readonly number[]): number =>
  Math.max(...group.map((reward) => Math.abs(reward - mean(group))));
const median = (values: readonly number[]): number => {
  const ordered = values.toSorted((a, b) => a - b);
  const middle = (ordered.length - 1) / 2;
  return mean([ordered[Math.floor(middle)] ?? 0, ordered[Math.ceil(middle)] ?? 0]);
};

const whitened =
  (scale: (values: readonly number[]) => number) =>
  ({ values, completion_mask: mask }: Args<'whiten'>): Ok<'whiten'> => {
    const on = values.flatMap((row, b) => row.filter((_, t) => cell(mask, b, t) === 1));
    const by = scale(on);
    const centre = on.length === 0 ? 0 : mean(on);
    return {
      values: values.map((row, b) =>
        row.map((value, t) => (cell(mask, b, t) !== 1 || by === 0 ? 0 : (value - centre) / by)),
      ),
    };
  };
const spread = (values: readonly number[]): number =>
  mean(values.map((value) => Math.abs(value - mean(values))));

export const ownAdvantages: readonly Legal[] = [
  legal(
    'advantages over the farthest of the group',
    {
      advantages: scaled((reward, group) => (reward - mean(group)) / (farthest(group) + 1e-4)),
    },
    OWN,
  ),
  legal(
    'advantages twice as large',
    { advantages: scaled((reward, group) => 2 * (reward - mean(group))) },
    OWN,
  ),
  legal(
    'advantages against the median',
    { advantages: scaled((reward, group) => reward - median(group)) },
    OWN,
  ),
  legal(
    'advantages within a tanh',
    { advantages: scaled((reward, group) => Math.tanh(reward - mean(group))) },
    OWN,
  ),
  legal(
    'advantages by rank',
    {
      advantages: scaled((reward, group) => mean(group.map((other) => Math.sign(reward - other)))),
    },
    OWN,
  ),
  legal('whitening by the mean distance', { whiten: whitened(spread) }, { is: { own_formulas: ['whiten'] } }),
];
