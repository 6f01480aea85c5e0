// What becomes of an example that is too long: left out, or cut at one end. Labels stand everywhere, at the end, or at the
// beginning, so that a side that hangs on where they are is none.
import { specials } from '../../../generators/specials.ts';
import { cutSides } from '../../../reference/index.ts';
import { type Ids, IGNORE_INDEX, type PaddingSide } from '../../../vocabulary.ts';
import type { World } from '../../property.ts';
import { discard } from '../../subject.ts';
import { draw, type Misfit, type Probe, type Variant } from '../probe.ts';

/** One example that fits, and one that does not. */
interface Cut {
  readonly short: Ids;
  readonly long: Ids;
  readonly limit: number;
  readonly trained: 'all' | 'end' | 'beginning';
}

interface CutWay extends Variant {
  readonly side: PaddingSide | undefined;
}

export const truncation: Probe<Cut> = {
  id: 'truncation',
  items: ['truncation_side', 'overlong'],
  ops: ['truncate'],
  variants: async () => WAYS,
  cases: (world) => {
    const [special] = draw(specials(world.hello.tokens), 1);
    const plain = special?.plain ?? [];
    const ids = (length: number, from: number): Ids =>
      Array.from({ length }, (_, at) => plain[(at + from) % plain.length] ?? 0);
    return SHAPES.flatMap(([short, long, limit]) =>
      (['all', 'end', 'beginning'] as const).map((trained) => ({
        short: ids(short, 1),
        long: ids(long, 0),
        limit,
        trained,
      })),
    );
  },
  async fits(subject, { short, long, limit, trained }, variants) {
    if (subject.semantics.truncation_side === 'parts')
      return discard('prompt and answer are cut apart, as declared: neither end of the whole is kept');
    const labels = long.map((id, at) => (isTrained(trained, at, long.length) ? id : IGNORE_INDEX));
    const outcome = await subject.attempt('truncate', {
      input_ids: [short, long],
      labels: [short, labels],
      max_length: limit,
    });
    if ('refused' in outcome)
      return discard(`has no effect: what is too long is refused (${outcome.refused})`);
    const { input_ids: rows, kept } = outcome.ok;
    if (kept === undefined && rows.length !== 2)
      return discard('the answer does not say which examples it kept');
    const at = kept === undefined ? 1 : kept.indexOf(1);
    const row = at < 0 ? undefined : rows[at];
    // A training that cuts may leave out what keeps no label.
    if (row === undefined && trained !== 'all') return discard('what keeps no label is left out');
    const sides = row === undefined ? [] : readings(subject, row).flatMap((left) => cutSides(left, long));
    if (sides.includes('left') && sides.includes('right')) return discard('both ends are alike');
    return (variants as readonly CutWay[]).map(({ side }) => misfit(side, row, sides, long, limit));
  },
};

const WAYS: readonly CutWay[] = [
  { name: 'cut on the right', items: { overlong: 'truncate', truncation_side: 'right' }, side: 'right' },
  { name: 'cut on the left', items: { overlong: 'truncate', truncation_side: 'left' }, side: 'left' },
  { name: 'left out', items: { overlong: 'drop' }, side: undefined },
];

/** Tokens of the example that fits, of the one that does not, and the limit. */
const SHAPES = [
  [2, 5, 3],
  [1, 4, 3],
  [3, 6, 4],
] as const;
/** Trained tokens where it is not all: fewer than any limit. */
const FEW = 2;

function isTrained(trained: Cut['trained'], at: number, length: number): boolean {
  if (trained === 'all') return true;
  return trained === 'end' ? at >= length - FEW : at < FEW;
}

function misfit(
  side: PaddingSide | undefined,
  row: Ids | undefined,
  sides: readonly PaddingSide[],
  long: Ids,
  limit: number,
): Misfit | undefined {
  const words = `[${long.join(', ')}] under a limit of ${limit}`;
  if (side === undefined || row === undefined) {
    if (side === undefined && row === undefined) return undefined;
    const [expected, observed] = side === undefined ? [0, 1] : [1, 0];
    return { where: `the number of rows of ${words}`, expected, observed, off: 2 };
  }
  if (sides.includes(side)) return undefined;
  const end = side === 'left' ? ([-1, 'last'] as const) : ([0, 'first'] as const);
  return {
    where: `the ${end[1]} token of what is left of ${words}, [${row.join(', ')}],`,
    expected: long.at(end[0]) ?? Number.NaN,
    observed: row.at(end[0]) ?? Number.NaN,
    off: 2,
  };
}

/** The row as it is and, where it ends in a stop token that may have been written behind the cut, without. */
function readings({ hello }: World, row: Ids): readonly Ids[] {
  const stops = hello.tokens?.eos_token_ids;
  const end = row.at(-1);
  return end !== undefined && (stops === undefined || stops.includes(end)) ? [row, row.slice(0, -1)] : [row];
}
