// The examples of a packed row, told apart in every way that the trainer shows.
import {
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  type LimitedExamples,
  many,
  type Property,
  placeExamples,
} from '../../src/index.ts';
import {
  type Cell,
  isFiller,
  isWorthwhile,
  judged,
  type Packed,
  pack,
  packing,
  placed,
  shown,
  tokenOf,
} from './packed-rows.ts';

export const packBoundaries: readonly Property<LimitedExamples>[] = [
  {
    ...packing,
    id: 'pack/first-token-of-an-example-is-not-trained',
    title: 'The first token of an example is not trained as what follows the example before it',
    level: 'should',
    why: 'In a packed row, the first token of an example is predicted by the last of another: with short examples, a good part of the loss is noise.',
    catches: ['PCK-03'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const observed = ({ row, column }: Cell): number | undefined => packed.answer.labels[row]?.[column];
      return judged(subject, packed, 'labels', {
        holds: (cell) =>
          cell.example === undefined ||
          cell.offset > 0 ||
          cell.column === 0 ||
          observed(cell) === IGNORE_INDEX,
        words: (cell) =>
          `${tokenOf(cell)} and follows another one, but its label is ${observed(cell)} and not ${IGNORE_INDEX}: it is predicted from the example before.`,
        track: observed,
      });
    },
  },
  {
    ...packing,
    id: 'pack/positions-restart',
    title:
      'position_ids, where answered, begin at 0 with every example, and nowhere else where they alone tell examples apart',
    level: 'should',
    why: 'Positions that run on put every example but the first where the model never saw a beginning, and attention kernels read the boundaries off them: padding of zeros is as many sequences of one token.',
    catches: ['PCK-02'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const positions = packed.answer.position_ids;
      if (positions === undefined) return discard('the answer has no position_ids', 'trainer');
      const observed = ({ row, column }: Cell): number | undefined => positions[row]?.[column];
      const { segment_ids: segments, segment_lengths: lengths } = packed.answer;
      const alone = segments === undefined && lengths === undefined;
      return judged(subject, packed, 'position_ids', {
        holds: (cell) =>
          cell.example === undefined
            ? !alone || observed(cell) !== 0 || cell.offset * cell.column === 0 || isFiller(packed, cell)
            : observed(cell) === cell.offset,
        words: (cell) =>
          cell.example === undefined
            ? `${tokenOf(cell)} follows other padding, and its position is 0: by position_ids, it is a separate example.`
            : `${tokenOf(cell)}, but its position is ${observed(cell)}.`,
        track: observed,
      });
    },
  },
  {
    ...packing,
    id: 'pack/segments-are-the-examples',
    title:
      'segment_ids and segment_lengths, where answered, tell the examples of a row apart, and padding from them',
    why: 'Attention is cut at these boundaries: one in the wrong place lets two examples see each other, or hides half of one from itself.',
    catches: ['PCK-01', 'PCK-04'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const { segment_ids: segments, segment_lengths: lengths } = packed.answer;
      if (segments === undefined && lengths === undefined)
        return discard('the answer has neither segment_ids nor segment_lengths', 'trainer');
      if (segments !== undefined) {
        const at = ({ row, column }: Cell, by = 0): number | undefined => segments[row]?.[column + by];
        const found = judged(subject, packed, 'segment_ids', {
          holds(cell) {
            if (cell.example === undefined) return at(cell) === 0 || isFiller(packed, cell);
            if (at(cell) === 0) return false;
            if (cell.column === 0) return true;
            if (cell.offset > 0) return at(cell, -1) === at(cell);
            // Attention is allowed where numbers are equal: a neighbour's neighbour must not have the same one.
            return !segments[cell.row]?.slice(0, cell.column).includes(at(cell) ?? 0);
          },
          words: (cell) =>
            `${tokenOf(cell)}, but segment_ids are ${shown(segments[cell.row] ?? [])}: 0 is padding, and every example has a number of its own.`,
          track: (cell) => at(cell),
        });
        if (found !== undefined) return found;
      }
      return lengths === undefined ? undefined : wrongLengths(packed, lengths);
    },
  },
  {
    ...packing,
    id: 'pack/unpacks-to-the-examples',
    title: "The trainer's own unpacking returns the examples again, in packed order",
    why: 'Rewards and log-probabilities are handed back along the unpacked rows: one token off, and they belong to other tokens.',
    catches: ['PCK-07', 'PAD-08'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const { unpacked, input_ids: ids } = packed.answer;
      if (unpacked === undefined) return discard('the answer has no unpacked examples', 'trainer');
      const text = (rows: readonly Ids[]): string[] => rows.map(shown);
      const places = placed(packed);
      const inOrder = placeExamples({
        ...packed.reading,
        lengths: unpacked.map((row) => row.length),
        matches: (example, offset, row, column) => ids[row]?.[column] === unpacked[example]?.[offset],
        required: () => true,
        ordered: true,
      });
      if (!packed.whole || (inOrder !== undefined && areOf(drawn, unpacked))) return undefined;
      const examples = places.map(({ example }) => drawn.examples[example]?.ids ?? []);
      return {
        kind: 'unpacked',
        sentence: `Unpacking ${text(ids).join(' ')} gives ${text(unpacked).join(' ')}; packed were ${text(examples).join(' ')}.`,
      };
    },
  },
];

/**
 * Each is one of the examples, and none is missing that a filter could not have left out. Which of those were packed is
 * not asked of the rows: an example of nothing but stop tokens looks like what a packer puts between two.
 */
function areOf(drawn: LimitedExamples, unpacked: readonly Ids[]): boolean {
  const left = drawn.examples.map((_, example) => example);
  // What must be there is taken first, so that an example that is alike does not stand in for it.
  left.sort((a, b) => Number(isWorthwhile(drawn, b)) - Number(isWorthwhile(drawn, a)));
  for (const ids of unpacked) {
    const at = left.findIndex((example) => shown(drawn.examples[example]?.ids ?? []) === shown(ids));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return !left.some((example) => isWorthwhile(drawn, example));
}

/** The lengths of a row are those of its examples, in order; each stretch of padding may be counted as one more. */
function wrongLengths(packed: Packed, lengths: readonly Ids[]): Finding | undefined {
  const { reading } = packed;
  const bad = lengths.findIndex(
    (row) => row.reduce((sum, length) => sum + length, 0) > reading.width || row.some((length) => length < 0),
  );
  if (bad >= 0 || lengths.length !== reading.rows)
    return {
      kind: 'segment_lengths',
      sentence:
        bad >= 0
          ? `segment_lengths of packed row ${bad}, ${shown(lengths[bad] ?? [])}, add up to more than its ${many(reading.width, 'column')}.`
          : `segment_lengths has ${many(lengths.length, 'row')}, there are ${many(reading.rows, 'packed row')}.`,
    };
  for (const flush of ['left', 'right'] as const) {
    const starts = lengths.map((row) => {
      const before = (at: number): number => row.slice(0, at).reduce((sum, length) => sum + length, 0);
      const left = flush === 'left' ? 0 : reading.width - before(row.length);
      return new Map(row.map((length, at): [number, number] => [left + before(at), length]));
    });
    const fits = placeExamples({
      ...reading,
      matches: (example, offset, row, column) =>
        reading.matches(example, offset, row, column) &&
        (offset > 0 || reading.across === true || starts[row]?.get(column) === reading.lengths[example]),
      // Padding has a beginning where an example ends, and nowhere else.
      fills: (row, column, first) =>
        reading.fills(row, column, first) && (first || column === 0 || starts[row]?.has(column) !== true),
    });
    if (fits !== undefined) return undefined;
  }
  const there = placed(packed);
  const row = lengths.findIndex(
    (given, at) =>
      shown(given) !== shown(there.filter((place) => place.row === at).map(({ length }) => length)),
  );
  return {
    kind: 'segment_lengths',
    sentence: `segment_lengths of packed row ${row} are ${shown(lengths[row] ?? [])}; its examples have ${shown(there.filter((place) => place.row === row).map(({ length }) => length))} tokens, and padding is one more at most.`,
  };
}
