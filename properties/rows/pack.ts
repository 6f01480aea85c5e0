// Several examples in one row: none lost, none twice, none with the labels of another. In which order they are taken,
// and where padding stands, is the packer's business.
import { IGNORE_INDEX, type LimitedExamples, many, type Property, placeExamples } from '../../src/index.ts';
import {
  type Cell,
  cellsOf,
  isWorthwhile,
  judged,
  pack,
  packing,
  placed,
  shown,
  tokenOf,
} from './packed-rows.ts';

export const packProperties: readonly Property<LimitedExamples>[] = [
  {
    ...packing,
    id: 'pack/rows-are-made-of-the-examples',
    title: 'Packed rows hold the examples and padding, and no example twice',
    why: 'An example that fills up the room of another row is trained more often than it is in the data set.',
    catches: ['PCK-04'],
    async check(subject, drawn) {
      const { places, answer, reading } = await pack(subject, drawn);
      if (places !== undefined) return undefined;
      const alone = answer.input_ids.findIndex(
        (_, row) =>
          placeExamples({
            ...reading,
            rows: 1,
            matches: (example, offset, __, column) => reading.matches(example, offset, row, column),
            fills: (__, column, first) => reading.fills(row, column, first),
          }) === undefined,
      );
      return {
        kind: 'rows',
        sentence:
          alone < 0
            ? `The packed rows ${answer.input_ids.map(shown).join(' ')} hold some example twice.`
            : `Packed row ${alone}, ${shown(answer.input_ids[alone] ?? [])}, is not made of whole examples, each at most once, and padding.`,
      };
    },
  },
  {
    ...packing,
    id: 'pack/examples-are-whole',
    title: 'Every example is in the packed rows, whole and in one row',
    level: 'should',
    why: 'An example that is cut at the end of a row is continued without its beginning; one in a last row that is dropped is never trained.',
    catches: ['PCK-04'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      if (packed.whole) return undefined;
      const there = placed(packed);
      const lost = drawn.examples.findIndex(
        (_, at) => isWorthwhile(drawn, at) && !there.some(({ example }) => example === at),
      );
      return {
        kind: lost < 0 ? 'cut' : 'lost',
        sentence:
          lost < 0
            ? `Some example is cut at the end of a packed row: ${packed.answer.input_ids.map(shown).join(' ')} of ${drawn.examples.map(({ ids }) => shown(ids)).join(' ')}.`
            : `Example ${lost}, ${shown(drawn.examples[lost]?.ids ?? [])}, is in none of the ${many(packed.answer.input_ids.length, 'packed row')}.`,
      };
    },
  },
  {
    ...packing,
    id: 'pack/no-row-above-the-limit',
    title: 'The examples of a row are together no longer than the limit',
    why: 'A row above the limit is cut by the model or ends the run out of memory, whenever the wrong examples meet.',
    catches: ['PCK-04'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const cells = cellsOf(packed, placed(packed));
      if (placeExamples({ ...packed.reading, most: drawn.limit }) !== undefined) return undefined;
      const tokens = packed.answer.input_ids.map(
        (_, row) => cells.filter((cell) => cell.row === row && cell.example !== undefined).length,
      );
      const longest = Math.max(...tokens);
      return {
        kind: 'too long',
        sentence: `The examples of packed row ${tokens.indexOf(longest)} have ${many(longest, 'token')}, the limit is ${drawn.limit}.`,
      };
    },
  },
  {
    ...packing,
    id: 'pack/labels-stay-with-their-tokens',
    title: 'Labels go with their tokens, and padding is labelled -100',
    why: 'Labels joined in another order than the ids have the right length and the wrong targets; a label on padding trains the padding.',
    catches: ['PAD-08', 'PAD-09', 'TRN-05'],
    async check(subject, drawn) {
      const packed = await pack(subject, drawn);
      const stops = subject.hello.tokens?.eos_token_ids ?? [];
      const { input_ids: ids, labels } = packed.answer;
      const given = ({ example, offset }: Cell): number | undefined =>
        drawn.examples[example ?? -1]?.labels[offset];
      const observed = ({ row, column }: Cell): number | undefined => labels[row]?.[column];
      return judged(subject, packed, 'labels', {
        holds(cell) {
          const label = observed(cell);
          // Nothing of its own predicts the first token of an example, nor of a row.
          if (label === IGNORE_INDEX && (cell.example === undefined || cell.offset * cell.column === 0))
            return true;
          if (cell.example !== undefined) return label === given(cell);
          // A stop token that the packer puts behind an example may be trained.
          const own = label === ids[cell.row]?.[cell.column] && label !== undefined && stops.includes(label);
          return own && cell.offset === 0;
        },
        words: (cell) =>
          `${tokenOf(cell)} and has the label ${observed(cell)}; ${cell.example === undefined ? IGNORE_INDEX : given(cell)} is right.`,
        track: observed,
      });
    },
  },
];
