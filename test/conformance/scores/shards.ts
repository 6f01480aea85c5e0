// Legal ways to compute log-probabilities in shards and in packed rows.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, sum } from '../legal.ts';

/** Log-probabilities of each shard's own columns; a row that does not divide is refused, or padded beforehand. */
const sharded =
  (strict: boolean) =>
  ({ input_ids: ids, logits, shards = 1 }: Args<'logprobs'>): Ok<'logprobs'> => {
    const width = ids[0]?.length ?? 0;
    if (strict && width % shards !== 0) return reject(`${width} columns do not divide into ${shards} shards`);
    return {
      logprobs: ids.map((row, b) =>
        row.slice(1).map((id, t) => {
          const z = logits[b]?.[t] ?? [];
          const top = Math.max(...z);
          return (z[id] ?? Number.NaN) - top - Math.log(sum(z.map((each) => Math.exp(each - top))));
        }),
      ),
    };
  };

const MODEL = { vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] } as const;
/** A model that looks one token back; the row that it is given may hold several texts, by their lengths. */
const lookBack = (row: readonly number[], lengths: readonly number[]): number[] => {
  const starts = lengths.map((_, at) => sum(lengths.slice(0, at)));
  return row.map((id, t) => {
    const before = starts.includes(t) ? 0 : (row[t - 1] ?? 0) + 1;
    return -Math.log(40 + ((id * 7 + before * 13) % 31)); // 40 ids: they add up to less than 1.
  });
};
const packedScore = ({ prompt_ids: heads, completion_ids: tails, packed }: Args<'score'>): Ok<'score'> => {
  const rows = heads.map((head, at) => [...head, ...(tails[at] ?? [])]);
  const lengths = rows.map((row) => row.length);
  const stream = packed ? lookBack(rows.flat(), lengths) : [];
  const scores = rows.map((row, at) => {
    const start = sum(lengths.slice(0, at));
    return packed ? stream.slice(start, start + row.length) : lookBack(row, [row.length]);
  });
  return { logprobs: scores.map((row, at) => row.slice(heads[at]?.length ?? 0)) };
};

/** A model whose prompt is read in both directions: each of its tokens weighs on all that follow the prompt. */
const prefixScore = ({ prompt_ids: heads, completion_ids: tails }: Args<'score'>): Ok<'score'> => ({
  logprobs: heads.map((head, at) =>
    (tails[at] ?? []).map((id, t, tail) => {
      const before = (t === 0 ? head.at(-1) : tail[t - 1]) ?? 0;
      return -Math.log(40 + 31 * Math.sin(id * 7 + before * 13 + sum(head) * 0.37) ** 2);
    }),
  ),
});

const predictor = {
  layout: { alignment: 'predictor', span: 'row' },
  can: { logprobs: { shards: true } },
} as const;

export const scoreShards: readonly Legal[] = [
  legal('shards, where the columns divide', { logprobs: sharded(true) }, predictor),
  legal(
    'rows scored as one packed row',
    { score: packedScore },
    { tokens: MODEL, can: { score: { packed: true } } },
  ),
  legal(
    'a prompt is read in both directions',
    { score: prefixScore },
    { tokens: MODEL, is: { prefix_attention: true } },
  ),
  legal(
    'a prompt is read in both directions, declared',
    { score: prefixScore },
    { tokens: MODEL, semantics: { prefix_attention: true } },
  ),
  legal('shards of any width', { logprobs: sharded(false) }, predictor),
];
