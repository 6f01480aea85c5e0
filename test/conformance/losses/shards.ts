// A legal way to compute a supervised loss in shards.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, sum } from '../legal.ts';

const IGNORED = -100;

/** The supervised loss summed up in shards, by columns that the shards take in turns. */
const sftShards = ({ labels, logits, shards = 1 }: Args<'sft_loss'>): Ok<'sft_loss'> => {
  const parts = Array.from({ length: shards }, (_, shard) =>
    labels.flatMap((row, b) =>
      row.flatMap((label, t) => {
        const z = logits[b]?.[t - 1];
        if (t % shards !== shard || label === IGNORED || z === undefined) return [];
        const top = Math.max(...z);
        return [top + Math.log(sum(z.map((each) => Math.exp(each - top)))) - (z[label] ?? Number.NaN)];
      }),
    ),
  );
  return { loss: sum(parts.map(sum)) / Math.max(sum(parts.map((part) => part.length)), 1) };
};

export const lossShards: readonly Legal[] = [
  legal(
    'shards that take columns in turns',
    { sft_loss: sftShards },
    { can: { sft_loss: { shards: true } } },
  ),
];
