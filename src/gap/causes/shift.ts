// A shift: the trainer's value belongs to the next token, or to the one before.
import type { Cause } from '../cause.ts';
import { gapAt } from '../tokens.ts';
import { bestOf, samplingAt, sumLeft, thinned, trainerAt } from './curves.ts';

export const shift: Cause = {
  id: 'shift',
  fitTo(tokens, { places }) {
    const left =
      (by: number) =>
      (at: number): number =>
        tokens.row[at + by] === tokens.row[at] && at + by < tokens.count
          ? trainerAt(tokens, at) - samplingAt(tokens, at + by)
          : gapAt(tokens, at);
    const few = thinned(places);
    const best = bestOf(SHIFTS, (by) => sumLeft(few, left(by)));
    if (best === undefined || best.cost >= sumLeft(few, (at) => gapAt(tokens, at))) return undefined;
    const by = best.value;
    const tokensApart = Math.abs(by) === 1 ? 'one token' : `${Math.abs(by)} tokens`;
    return {
      parameters: { shift: by },
      left: left(by),
      sentence: `The two sides are shifted: the trainer's log-probability of a token stands where the engine has that of ${tokensApart} ${by > 0 ? 'later' : 'earlier'}.`,
      experiment: `compare trainer[:${by > 0 ? `-${by}` : ''}] with sampling[${by > 0 ? by : ''}:] of one row by hand; logits at position t score the token at t + 1`,
    };
  },
};

/** Off by one, twice, and by what a role header takes. */
const SHIFTS = [1, -1, 2, -2, 3, -3];
