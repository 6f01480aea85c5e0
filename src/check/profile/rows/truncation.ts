// What becomes of an example that is too long: left out, or cut at one end. Labels stand everywhere, at the end, or at the
// beginning, so that a side that hangs on where they are is none.
import { specials } from '../../../generators/specials.ts';
import { cutSides, isSubsequence } from '../../../reference/index.ts';
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
  readonly side: PaddingSide | 'parts' | undefined;
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
    // A training that cuts may leave out what keeps no label. One that cuts each part keeps labels of an answer.
    if (row === undefined && trained === 'beginning') return discard('what keeps no label is left out');
    if (row === undefined && trained === 'end')
      return (variants as readonly CutWay[]).map(({ side }) =>
        side === 'parts' ? misfit(side, row, [], long, limit) : undefined,
      );
    const sides = row === undefined ? [] : readings(subject, row).flatMap((left) => cutSides(left, long));
    if (sides.includes('left') && sides.includes('right')) return discard('both ends are alike');
    const inParts = row !== undefined && keepsOfBoth(row, long, trained);
    return (variants as readonly CutWay[]).map(({ side }) =>
      side === 'parts' && inParts ? undefined : misfit(side, row, sides, long, limit),
    );
  },
};

const WAYS: readonly CutWay[] = [
  { name: 'cut on the right', items: { overlong: 'truncate', truncation_side: 'right' }, side: 'right' },
  { name: 'cut on the left', items: { overlong: 'truncate', truncation_side: 'left' }, side: 'left' },
  {
    name: 'prompt and answer each cut',
    items: { overlong: 'truncate', truncation_side: 'parts' },
    side: 'parts',
  },
  { name: 'left out', items: { overlong: 'drop' }, side: undefined },
];

/**
 * Tokens of the example that fits, of the one that does not, and the limit. In the last one prompt and answer are both
 * as long as the limit, so that a cut at one end leaves nothing of the other part.
 */
const SHAPES = [
  [2, 5, 3],
  [1, 4, 3],
  [3, 8, 4],
] as const;

/** Where it is not all: half of the tokens. */
function isTrained(trained: Cut['trained'], at: number, length: number): boolean {
  if (trained === 'all') return true;
  const half = Math.floor(length / 2);
  return trained === 'end' ? at >= length - half : at < half;
}

/** Whether something is left of the prompt and of the answer. Only labels at the end have a prompt before them. */
function keepsOfBoth(row: Ids, long: Ids, trained: Cut['trained']): boolean {
  if (!isSubsequence(row, long)) return false;
  if (trained !== 'end') return true;
  const seam = long.length - Math.floor(long.length / 2);
  const answer = long.slice(seam);
  return row.some((id) => answer.includes(id)) && row.some((id) => !answer.includes(id));
}

function misfit(
  side: CutWay['side'],
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
  if (side !== 'parts' && sides.includes(side)) return undefined;
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
