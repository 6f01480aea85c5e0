// Legal ways to cut what is too long, to pack examples into rows, and to compute a row in shards.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat, sum } from './trainer.ts';

const IGNORED = -100;

type Truncate = (args: Args<'truncate'>) => Ok<'truncate'>;
type Prompts = (args: Args<'truncate_prompts'>) => Ok<'truncate_prompts'>;
type Pack = (args: Args<'pack'>) => Ok<'pack'>;
type Slice = (row: readonly number[], most: number) => readonly number[];

const tail: Slice = (row, most) => row.slice(Math.max(0, row.length - most));
const head: Slice = (row, most) => row.slice(0, most);
const ends: Slice = (row, most) =>
  row.length <= most
    ? row
    : [...row.slice(0, Math.floor(most / 2)), ...row.slice(row.length - Math.ceil(most / 2))];
const trains = (labels: readonly number[]): boolean => labels.some((label) => label !== IGNORED);

/** Rows cut by `slice`; what keeps no label is left out. */
const cut =
  (
    slice: Slice,
    more: (kept: Rows, args: Args<'truncate'>) => Partial<Ok<'truncate'>> = () => ({}),
  ): Truncate =>
  (args) => {
    const { input_ids: ids, labels, max_length: most } = args;
    const kept = ids.flatMap((_, at) => {
      const left = slice(labels[at] ?? [], most);
      return left.length === ids[at]?.length || trains(left) ? [at] : [];
    });
    const rows = kept.map((at) => slice(ids[at] ?? [], most));
    return {
      input_ids: rows,
      labels: kept.map((at) => slice(labels[at] ?? [], most)),
      kept,
      ...more(rows, args),
    };
  };

/** Longest last, and labels of the first token gone: nothing predicts it. */
const sorted: Truncate = (args) => {
  const answer = cut(head)(args);
  const order = answer.input_ids
    .map((_, at) => at)
    .sort((a, b) => (answer.input_ids[a]?.length ?? 0) - (answer.input_ids[b]?.length ?? 0));
  const by = <T>(values: readonly T[]): T[] => order.flatMap((at) => values.slice(at, at + 1));
  return {
    input_ids: by(answer.input_ids),
    labels: by(answer.labels)
      .map((row) => [IGNORED, ...row.slice(1)])
      .map((row, at) => row.slice(0, by(answer.input_ids)[at]?.length)),
    kept: by(answer.kept ?? []),
  };
};

const dropped: Truncate = ({ input_ids: ids, labels, max_length: most }) => {
  const kept = ids.flatMap((row, at) => (row.length <= most ? [at] : []));
  return { input_ids: kept.map((at) => ids[at] ?? []), labels: kept.map((at) => labels[at] ?? []), kept };
};

const refused: Truncate = (args) =>
  args.input_ids.some((row) => row.length > args.max_length)
    ? reject(`an example is longer than ${args.max_length}`)
    : { input_ids: args.input_ids, labels: args.labels };

const prompts =
  (slice: Slice, side: 'left' | 'right', multiple = 1): Prompts =>
  ({ prompt_ids: rows, max_prompt_length: most, pad_token_id: pad }) => {
    const left = rows.map((row) => slice(row, most));
    const width = Math.ceil(Math.max(...left.map((row) => row.length)) / multiple) * multiple;
    const around = (row: readonly number[], fill: number): number[] =>
      side === 'left'
        ? [...repeat(fill, width - row.length), ...row]
        : [...row, ...repeat(fill, width - row.length)];
    return {
      input_ids: left.map((row) => around(row, pad)),
      attention_mask: left.map((row) => around(repeat(1, row.length), 0)),
    };
  };

const refusedPrompts: Prompts = (args) =>
  args.prompt_ids.some((row) => row.length > args.max_prompt_length)
    ? reject('a prompt is too long')
    : prompts(head, 'right')(args);

/** Dropped at the limit already, as a filter that wants one token of room does. */
const filteredPrompts: Prompts = (args) => {
  const kept = args.prompt_ids.flatMap((row, at) => (row.length < args.max_prompt_length ? [at] : []));
  if (kept.length === 0) return { input_ids: [], attention_mask: [], kept };
  return {
    ...prompts(head, 'left')({ ...args, prompt_ids: kept.map((at) => args.prompt_ids[at] ?? []) }),
    kept,
  };
};

/** Next fit: a row is closed by the first example that has no room in it. */
function nextFit({ input_ids: ids, max_length: most }: Args<'pack'>): number[][] {
  const bins: number[][] = [];
  for (const [at, row] of ids.entries()) {
    const open = bins.at(-1);
    if (open !== undefined && sum(open.map((each) => ids[each]?.length ?? 0)) + row.length <= most)
      open.push(at);
    else bins.push([at]);
  }
  return bins;
}

/** Packed rows as streams of cells, padded to one width behind, before, or behind each example. */
const pack =
  (
    options: {
      readonly side?: 'left' | 'right';
      readonly multiple?: number;
      readonly shown?: (cells: {
        readonly positions: Rows;
        readonly segments: Rows;
        readonly lengths: Rows;
      }) => Partial<Ok<'pack'>>;
    } = {},
  ): Pack =>
  (args) => {
    const { side = 'right', multiple = 1, shown = () => ({}) } = options;
    const bins = nextFit(args);
    const blank = { id: args.pad_token_id, label: IGNORED, position: 0, segment: 0 };
    const streams = bins.map((examples) =>
      examples.flatMap((at, n) => {
        const ids = args.input_ids[at] ?? [];
        const cells = ids.map((id, offset) => ({
          id,
          label: offset === 0 ? IGNORED : (args.labels[at]?.[offset] ?? IGNORED),
          position: offset,
          segment: n + 1,
        }));
        const gap = Math.ceil(ids.length / multiple) * multiple - ids.length;
        return [...cells, ...Array.from({ length: gap }, () => blank)];
      }),
    );
    const width = Math.max(...streams.map((stream) => stream.length));
    const rows = streams.map((stream) => {
      const rest = Array.from({ length: width - stream.length }, () => blank);
      return side === 'left' ? [...rest, ...stream] : [...stream, ...rest];
    });
    const column = (of: (cell: typeof blank) => number): Rows => rows.map((row) => row.map(of));
    return {
      input_ids: column(({ id }) => id),
      labels: column(({ label }) => label),
      ...shown({
        positions: column(({ position }) => position),
        segments: column(({ segment }) => segment),
        lengths: bins.map((examples) => examples.map((at) => args.input_ids[at]?.length ?? 0)),
      }),
    };
  };

/** One example a row: a packer that does not pack. */
const single: Pack = (args) => {
  const width = Math.max(...args.input_ids.map((row) => row.length));
  const rows = (values: Rows, fill: number): Rows =>
    values.map((row) => [...row, ...repeat(fill, width - row.length)]);
  return {
    input_ids: rows(args.input_ids, args.pad_token_id),
    labels: rows(args.labels, IGNORED),
    position_ids: args.input_ids.map(() => Array.from({ length: width }, (_, at) => at)),
    segment_ids: rows(
      args.input_ids.map((row) => row.map(() => 7)),
      0,
    ),
    unpacked: args.input_ids,
  };
};

/** The padding of a row is counted as one more segment. */
const withRest = (lengths: Rows, width: number): Rows =>
  lengths.map((row) => (sum(row) < width ? [...row, width - sum(row)] : row));

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
  return { loss: sum(parts.map(sum)) / sum(parts.map((part) => part.length)) };
};

const MODEL = { vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] } as const;
/** A model that looks one token back; the row that it is given may hold several texts, by their lengths. */
const lookBack = (row: readonly number[], lengths: readonly number[]): number[] => {
  const starts = lengths.map((_, at) => sum(lengths.slice(0, at)));
  return row.map((id, t) => {
    const before = starts.includes(t) ? 0 : (row[t - 1] ?? 0) + 1;
    return -Math.log(2 + ((id * 7 + before * 13) % 31));
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

const predictor = {
  layout: { alignment: 'predictor', span: 'row' },
  can: { logprobs: { shards: true } },
} as const;

export const truncation: readonly Legal[] = [
  legal('examples are cut on the left, undeclared', { truncate: cut(tail) }),
  legal(
    'examples are cut on the left, declared, and positions count on',
    {
      truncate: cut(tail, (rows, { input_ids: ids, max_length: most }) => ({
        attention_mask: rows.map((row) => row.map(() => 1)),
        ...(ids.length === rows.length
          ? {
              position_ids: ids.map((row) =>
                tail(
                  row.map((_, at) => at),
                  most,
                ),
              ),
            }
          : {}),
      })),
    },
    { semantics: { truncation_side: 'left', overlong: 'truncate' } },
  ),
  legal('examples come back sorted, and say which they are', { truncate: sorted }),
  legal('overlong examples are dropped', { truncate: dropped }, { semantics: { overlong: 'drop' } }),
  legal('overlong examples are dropped, undeclared', { truncate: dropped }),
  legal('overlong examples are refused', { truncate: refused }, { semantics: { truncation_side: 'right' } }),
  legal('prompts keep both ends, padded on the left to multiples of 4', {
    truncate_prompts: prompts(ends, 'left', 4),
  }),
  legal('prompts keep both ends, padded on the right', { truncate_prompts: prompts(ends, 'right') }),
  legal('overlong prompts are refused', { truncate_prompts: refusedPrompts }),
  legal('prompts at the limit are dropped', { truncate_prompts: filteredPrompts }),
  legal('packed rows say nothing of their examples', { pack: pack() }),
  legal('packed rows are told apart by their positions', {
    pack: pack({ shown: ({ positions }) => ({ position_ids: positions }) }),
  }),
  legal('packed rows are padded on the left', {
    pack: pack({
      side: 'left',
      shown: ({ positions, segments, lengths }) => ({
        position_ids: positions,
        segment_ids: segments,
        segment_lengths: lengths,
      }),
    }),
  }),
  legal('the padding of a packed row is a segment of its own', {
    pack: pack({
      shown: ({ lengths, segments }) => ({ segment_lengths: withRest(lengths, segments[0]?.length ?? 0) }),
    }),
  }),
  legal('every example is padded to a multiple of 2 inside its row', {
    pack: pack({
      multiple: 2,
      shown: ({ positions, segments }) => ({ position_ids: positions, segment_ids: segments }),
    }),
  }),
  legal('one example a row', { pack: single }),
  legal('shards, where the columns divide', { logprobs: sharded(true) }, predictor),
  legal(
    'shards that take columns in turns',
    { sft_loss: sftShards },
    { can: { sft_loss: { shards: true } } },
  ),
  legal(
    'rows scored as one packed row',
    { score: packedScore },
    { tokens: MODEL, can: { score: { packed: true } } },
  ),
  legal('shards of any width', { logprobs: sharded(false) }, predictor),
];
