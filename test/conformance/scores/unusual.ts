// Legal entropies and reward models that are coarse: half precision down to the answer.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Round = (value: number) => number;

const logSumExp = (logits: readonly number[]): number => {
  const largest = Math.max(...logits);
  return largest + Math.log(sum(logits.map((logit) => Math.exp(logit - largest))));
};

/** log-sum-exp less the mean logit: two numbers as large as the logits, each rounded. NaN where a logit is -Infinity. */
const subtracted =
  (round: Round) =>
  ({ logits }: Args<'entropy'>): Ok<'entropy'> => ({
    entropy: logits.map((rows) => [
      0,
      ...rows.slice(0, -1).map((row) => {
        const total = logSumExp(row);
        const expected = round(
          sum(row.map((logit) => (logit === -Infinity ? 0 : round(round(Math.exp(logit - total)) * logit)))),
        );
        return round(round(total) - expected);
      }),
    ]),
  });

/** A number between 0 and 1 for these ids. */
function hash(ids: readonly number[]): number {
  const mixed = ids.reduce((state, id) => Math.imul(state ^ (id + 1), 16777619) ^ (state >>> 13), 2166136261);
  return (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32;
}

const tokens = { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] };

/** Saturates: many rows have the same score to the last bit. */
const classifier = ({ prompt_ids, completion_ids }: Args<'reward_model'>): Ok<'reward_model'> => ({
  scores: completion_ids.map((ids, row) =>
    b16(1 / (1 + Math.exp(-20 * (hash([...(prompt_ids[row] ?? []), ...ids]) - 0.5)))),
  ),
});

export const coarseScores: readonly Legal[] = [
  legal('entropy as a difference, in bfloat16', { entropy: subtracted(b16) }, { dtype: 'bfloat16' }),
  legal('entropy as a difference, in float32', { entropy: subtracted(Math.fround) }, { dtype: 'float32' }),
  legal(
    'a classifier as reward model, in bfloat16',
    { reward_model: classifier },
    { dtype: 'bfloat16', tokens },
  ),
];
