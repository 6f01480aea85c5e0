// Packers that make the number of their rows divisible with rows of nothing but padding.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat } from '../legal.ts';
import { type Pack, packing } from './truncation.ts';

interface Filling {
  /** Rows are a multiple of so many, and at least one of them is filler. */
  readonly multiple?: number;
  readonly place?: 'behind' | 'before' | 'both';
  /** What the fields of a filler row hold where the packer answers them. */
  readonly position?: (column: number) => number;
  readonly segment?: number;
  readonly lengths?: (width: number) => readonly number[];
  /** Filler begins with this id, as a dummy example does. */
  readonly first?: number;
  /** Labels of filler; only a faulty packer trains it. */
  readonly label?: number;
}

/** `packed` with filler rows. */
export const filled =
  (packed: Pack, filling: Filling = {}): Pack =>
  (args: Args<'pack'>): Ok<'pack'> => {
    const answer = packed(args);
    const width = answer.input_ids[0]?.length ?? 0;
    const { multiple = 1, place = 'behind', position = () => 0, segment = 0, lengths = () => [] } = filling;
    const missing = multiple - (answer.input_ids.length % multiple);
    const around = <T>(rows: readonly T[], row: T): T[] => {
      const filler = repeat(0, missing).map(() => row);
      return [...(place === 'behind' ? [] : filler), ...rows, ...(place === 'before' ? [] : filler)];
    };
    const { position_ids: positions, segment_ids: segments, segment_lengths: of } = answer;
    const ids = [
      ...(filling.first === undefined ? [] : [filling.first]),
      ...repeat(args.pad_token_id, width),
    ];
    const columns = repeat(0, width).map((_, column) => position(column));
    return {
      ...answer,
      input_ids: around(answer.input_ids, ids.slice(0, width)),
      labels: around(answer.labels, repeat(filling.label ?? -100, width)),
      ...(positions === undefined ? {} : { position_ids: around(positions, columns) }),
      ...(segments === undefined ? {} : { segment_ids: around(segments, repeat(segment, width)) }),
      ...(of === undefined ? {} : { segment_lengths: around<readonly number[]>(of, lengths(width)) }),
    };
  };

type Cells = { readonly positions: Rows; readonly segments: Rows; readonly lengths: Rows };
const positionsOf = ({ positions }: Cells): Partial<Ok<'pack'>> => ({ position_ids: positions });
const allOf = ({ positions, segments, lengths }: Cells): Partial<Ok<'pack'>> => ({
  position_ids: positions,
  segment_ids: segments,
  segment_lengths: lengths,
});
const counting = (column: number): number => column;

export const fillerRows: readonly Legal[] = [
  legal('packed rows with a row of padding behind them', { pack: filled(packing()) }),
  legal('packed rows with a row of padding behind them, whose positions are all 0', {
    pack: filled(packing({ counting: true, shown: positionsOf })),
  }),
  legal('packed rows with a row of padding before them, whose positions count', {
    pack: filled(packing({ counting: true, shown: positionsOf }), { place: 'before', position: counting }),
  }),
  legal('packed rows are filled up to a multiple of 4, and filler is a segment', {
    pack: filled(packing({ shown: allOf }), {
      multiple: 4,
      position: counting,
      segment: 1,
      lengths: (width) => [width],
    }),
  }),
  legal('packed rows are filled up to a multiple of 3 on both sides, and filler has no segment', {
    pack: filled(packing({ shown: allOf, side: 'left' }), { multiple: 3, place: 'both' }),
  }),
];
