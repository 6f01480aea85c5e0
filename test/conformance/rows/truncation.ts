// Legal ways to cut what is too long, and to pack examples into rows.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat, sum } from '../legal.ts';

const IGNORED = -100;

type Truncate = (args: Args<'truncate'>) => Ok<'truncate'>;
type Prompts = (args: Args<'truncate_prompts'>) => Ok<'truncate_prompts'>;
export type Pack = (args: Args<'pack'>) => Ok<'pack'>;
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

/** Prompt and answer lose their ends in proportion to their lengths. */
const apart: Truncate = ({ input_ids: ids, labels, max_length: most }) => {
  const cutRow = (values: readonly number[], at: number): number[] => {
    const row = ids[at] ?? [];
    if (row.length <= most) return [...values];
    const begin = (labels[at] ?? []).findIndex((label) => label !== IGNORED);
    const seam = begin < 0 ? row.length : begin;
    const answer = Math.min(
      row.length - seam,
      Math.max(1, Math.floor((most * (row.length - seam)) / row.length)),
    );
    return [...values.slice(0, seam).slice(0, most - answer), ...values.slice(seam).slice(0, answer)];
  };
  return { input_ids: ids.map(cutRow), labels: labels.map(cutRow) };
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
export const packing =
  (
    options: {
      readonly side?: 'left' | 'right';
      readonly multiple?: number;
      /** Positions count on over padding; otherwise they are 0 there, and something else tells examples apart. */
      readonly counting?: boolean;
      readonly shown?: (cells: {
        readonly positions: Rows;
        readonly segments: Rows;
        readonly lengths: Rows;
      }) => Partial<Ok<'pack'>>;
    } = {},
  ): Pack =>
  (args) => {
    const { side = 'right', multiple = 1, counting = false, shown = () => ({}) } = options;
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
    // Padding is told apart from examples where it begins, and counts on from there.
    const positions = rows.map((row) => {
      let padding = 0;
      return row.map(({ segment, position }) => {
        padding = segment === 0 ? padding + 1 : 0;
        return segment === 0 ? padding - 1 : position;
      });
    });
    return {
      input_ids: column(({ id }) => id),
      labels: column(({ label }) => label),
      ...shown({
        positions: counting ? positions : column(({ position }) => position),
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

type Overlong = 'drop' | 'truncate' | 'split';

/** What becomes of examples longer than a row, before they are packed. */
const fitted =
  (choice: Overlong, side: 'left' | 'right' = 'right', packed: Pack = packing()): Pack =>
  (args) => {
    const most = args.max_length;
    const parts = (row: readonly number[]): Rows => {
      if (row.length <= most) return [row];
      if (choice === 'drop') return [];
      if (choice === 'truncate') return [(side === 'left' ? tail : head)(row, most)];
      return Array.from({ length: Math.ceil(row.length / most) }, (_, at) =>
        row.slice(at * most, (at + 1) * most),
      );
    };
    return packed({ ...args, input_ids: args.input_ids.flatMap(parts), labels: args.labels.flatMap(parts) });
  };

const refusing: Pack = (args) =>
  args.input_ids.some((row) => row.length > args.max_length)
    ? reject('an example is longer than a row')
    : packing()(args);

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
  legal('prompt and answer are cut apart', { truncate: apart }, { is: { truncation_side: 'parts' } }),
  legal(
    'prompt and answer are cut apart, declared',
    { truncate: apart },
    { semantics: { truncation_side: 'parts', overlong: 'truncate' } },
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
  legal('packed rows say nothing of their examples', { pack: packing() }),
  legal('packed rows are told apart by their positions', {
    pack: packing({ counting: true, shown: ({ positions }) => ({ position_ids: positions }) }),
  }),
  legal('packed rows are told apart by their positions, and padding is one segment more', {
    pack: packing({
      counting: true,
      shown: ({ positions, lengths, segments }) => ({
        position_ids: positions,
        segment_lengths: withRest(lengths, segments[0]?.length ?? 0),
      }),
    }),
  }),
  legal('packed rows are padded on the left', {
    pack: packing({
      side: 'left',
      shown: ({ positions, segments, lengths }) => ({
        position_ids: positions,
        segment_ids: segments,
        segment_lengths: lengths,
      }),
    }),
  }),
  legal('the padding of a packed row is a segment of its own', {
    pack: packing({
      shown: ({ lengths, segments }) => ({ segment_lengths: withRest(lengths, segments[0]?.length ?? 0) }),
    }),
  }),
  legal('every example is padded to a multiple of 2 inside its row', {
    pack: packing({
      multiple: 2,
      shown: ({ positions, segments }) => ({ position_ids: positions, segment_ids: segments }),
    }),
  }),
  legal('one example a row', { pack: single }),
  legal(
    'examples longer than a packed row are left out',
    { pack: fitted('drop') },
    { can: { pack: { overlong: 'drop' } } },
  ),
  legal(
    'examples longer than a packed row lose their end',
    { pack: fitted('truncate') },
    { can: { pack: { overlong: 'truncate' } } },
  ),
  legal(
    'examples longer than a packed row lose their beginning, and rows are padded on the left',
    { pack: fitted('truncate', 'left', packing({ side: 'left' })) },
    { can: { pack: { overlong: 'truncate' } } },
  ),
  legal(
    'examples longer than a packed row are several',
    { pack: fitted('split') },
    { can: { pack: { overlong: 'split' } } },
  ),
  legal(
    'examples longer than a packed row are refused',
    { pack: refusing },
    { can: { pack: { overlong: 'refuse' } } },
  ),
];
