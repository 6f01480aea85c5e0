// Legal ways to lay supervised rows out.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat } from '../legal.ts';

const collate =
  (side: 'left' | 'right', multiple: number, first = true) =>
  ({ input_ids, labels, pad_token_id }: Args<'collate'>): Ok<'collate'> => {
    const width = Math.ceil(Math.max(...input_ids.map((row) => row.length)) / multiple) * multiple;
    const padded = (rows: Rows, fill: number): number[][] =>
      rows.map((row) => {
        const padding = repeat(fill, width - row.length);
        return side === 'left' ? [...padding, ...row] : [...row, ...padding];
      });
    const real = input_ids.map((row) => row.map(() => 1));
    return {
      input_ids: padded(input_ids, pad_token_id),
      attention_mask: padded(real, 0),
      labels: padded(
        labels.map((row) => row.map((label, at) => (at > 0 || first ? label : -100))),
        -100,
      ),
      position_ids: padded(
        input_ids.map((row) => row.map((_, at) => at)),
        1,
      ),
    };
  };

export const collators: readonly Legal[] = [
  legal('batches in multiples of 8, padded on the right', { collate: collate('right', 8) }),
  legal('batches padded on the left', { collate: collate('left', 1) }),
  // A mask that lives at the predictor has no place for the first token (OpenRLHF).
  legal('batches whose first tokens are not labelled', { collate: collate('right', 1, false) }),
  legal('batches padded on the left whose first tokens are not labelled', {
    collate: collate('left', 4, false),
  }),
  legal(
    'batches of at most 512 columns, declared',
    {
      collate: (args) => {
        const cut = (rows: Rows): number[][] => rows.map((row) => row.slice(0, 512));
        return collate('right', 1)({ ...args, input_ids: cut(args.input_ids), labels: cut(args.labels) });
      },
    },
    { semantics: { cut_at: [512] } },
  ),
];
