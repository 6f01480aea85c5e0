// Legal ways to end completions.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

/** The block as it is, with one number for each of its ids. */
const rawExtract = ({ sampled_ids: ids, sampling_logprobs: logprobs }: Args<'extract'>): Ok<'extract'> => ({
  completion_ids: ids,
  ...(logprobs === undefined ? {} : { logprobs }),
});

/** Truncated is what ends with neither a stop token nor padding. */
const byLastColumn = (args: Args<'mask'>): Ok<'mask'> => ({
  completion_mask: args.sequences.map((row) => {
    const stop = row.findIndex((id, at) => at >= args.prompt_width && args.eos_token_ids.includes(id));
    return row.map((_, at) => Number(at >= args.prompt_width && (stop < 0 || at <= stop)));
  }),
  truncated: args.sequences.map((row) =>
    Number(![...args.eos_token_ids, args.pad_token_id].includes(row.at(-1) ?? -1)),
  ),
});

export const ends: readonly Legal[] = [
  legal('logprobs of the whole block', { extract: rawExtract }),
  legal('truncated by the last column', { mask: byLastColumn }),
];
