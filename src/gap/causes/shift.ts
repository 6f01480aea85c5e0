// A shift: the trainer's value belongs to the next token, or to the one before.
import type { Cause } from '../cause.ts';
import { gapAt } from '../tokens.ts';
import { bestOf, median, samplingAt, sumLeft, thinned, trainerAt } from './curves.ts';

export const shift: Cause = {
  id: 'shift',
  fitTo(tokens, { places }) {
    const isEdge =
      (by: number) =>
      (at: number): boolean =>
        !(tokens.row[at + by] === tokens.row[at] && at + by < tokens.count);
    const left =
      (by: number) =>
      (at: number): number =>
        isEdge(by)(at) ? gapAt(tokens, at) : trainerAt(tokens, at) - samplingAt(tokens, at + by);
    const few = thinned(places);
    const best = bestOf(SHIFTS, (by) => sumLeft(few, left(by)));
    if (best === undefined || best.cost >= sumLeft(few, (at) => gapAt(tokens, at))) return undefined;
    const by = best.value;
    const tokensApart = Math.abs(by) === 1 ? 'one token' : `${Math.abs(by)} tokens`;
    return {
      parameters: { shift: by },
      left: left(by),
      width: widthOf(few, left(by), isEdge(by)),
      sentence: `The two sides are shifted: the trainer's log-probability of a token stands where the engine has that of ${tokensApart} ${by > 0 ? 'later' : 'earlier'}.`,
      experiment: `compare trainer[:${by > 0 ? `-${by}` : ''}] with sampling[${by > 0 ? by : ''}:] of one row by hand; logits at position t score the token at t + 1`,
    };
  },
};

/** Off by one, twice, and by what a role header takes. */
const SHIFTS = [1, -1, 2, -2, 3, -3];

/** What a shift moves in at the end of a row is anything: as wide a gap as is found there is a part of the shift. */
function widthOf(
  places: Uint32Array,
  left: (at: number) => number,
  isEdge: (at: number) => boolean,
): (at: number) => number {
  const size = (at: number): number => Math.abs(left(at));
  const edges = places.filter(isEdge);
  const others = places.filter((at) => !isEdge(at));
  const times = median(Float64Array.from(edges, size)) / median(Float64Array.from(others, size));
  return (at) => (times > 1 && Number.isFinite(times) && isEdge(at) ? times : 1);
}
