// Legal ways to end completions.
import { type Args, logSoftmax, type Ok } from '../../../src/index.ts';
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

/** The one id that generation stops at: whoever sends more is answered with an error, and no refusal. */
function onlyStop({ eos_token_ids: stops }: { readonly eos_token_ids: readonly number[] }): number {
  const [stop, ...more] = stops;
  if (stop === undefined || more.length > 0) throw new Error('generation stops at one id');
  return stop;
}
const through = (row: readonly number[], stop: number): readonly number[] =>
  row.includes(stop) ? row.slice(0, row.indexOf(stop) + 1) : row;

const oneStop = {
  extract: (args: Args<'extract'>): Ok<'extract'> => ({
    completion_ids: args.sampled_ids.map((row) => through(row, onlyStop(args))),
  }),
  mask: (args: Args<'mask'>): Ok<'mask'> => ({
    completion_mask: args.sequences.map((row) => {
      const stop = row.indexOf(onlyStop(args), args.prompt_width);
      return row.map((_, at) => Number(at >= args.prompt_width && (stop < 0 || at <= stop)));
    }),
  }),
  trajectory: (args: Args<'trajectory'>): Ok<'trajectory'> => {
    const stop = onlyStop(args);
    const trained = args.turns.flatMap(({ role, ids }) =>
      ids.map((_, at) => Number(role === 'assistant' && at < through(ids, stop).length)),
    );
    return {
      input_ids: [[...args.prompt_ids, ...args.turns.flatMap(({ ids }) => ids)]],
      loss_mask: [[...args.prompt_ids.map(() => 0), ...trained]],
    };
  },
  sampling: (args: Args<'sampling'>): Ok<'sampling'> => {
    onlyStop(args);
    return { logprobs: args.logits.map((row) => logSoftmax(row.map((logit) => logit / args.temperature))) };
  },
};

export const ends: readonly Legal[] = [
  legal('logprobs of the whole block', { extract: rawExtract }),
  legal('truncated by the last column', { mask: byLastColumn }),
  legal('generation stops at one id', oneStop, {
    can: {
      extract: { eos_token_ids: 1 },
      mask: { eos_token_ids: 1 },
      trajectory: { eos_token_ids: 1 },
      sampling: { eos_token_ids: 1 },
    },
  }),
];
