// A trainer whose rows have an end: what is longer is an error, and no refusal.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows } from '../legal.ts';

const MOST = 12;

function within(rows: Rows): Rows {
  if (rows.some(({ length }) => length > MOST)) throw new Error(`positions end at ${MOST}`);
  return rows;
}

const mask = (args: Args<'mask'>): Ok<'mask'> => ({
  completion_mask: within(args.sequences).map((row) => {
    const stop = row.findIndex((id, at) => at >= args.prompt_width && args.eos_token_ids.includes(id));
    return row.map((_, at) => Number(at >= args.prompt_width && (stop < 0 || at <= stop)));
  }),
});

/** Some number of each token, of itself and of all before it: probabilities that add up to less than 1. */
const score = ({ prompt_ids, completion_ids }: Args<'score'>): Ok<'score'> => {
  const rows = within(prompt_ids.map((prompt, row) => [...prompt, ...(completion_ids[row] ?? [])]));
  return {
    logprobs: rows.map((row, b) => {
      const own = row.map((_, end) =>
        row.slice(0, end + 1).reduce((sum, id, at) => sum + (at + 1) * (id + 1), 0),
      );
      return own.slice(prompt_ids[b]?.length).map((sum) => -4 - (sum % 97) / 97);
    }),
  };
};

export const short: readonly Legal[] = [
  legal(
    'rows of at most twelve tokens',
    { mask, score },
    { max_length: MOST, tokens: { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] } },
  ),
];
