// A word beside findings about masks that run on behind a stop token: the adapter may have handed on one stop id of several,
// which is the trainer's mistake, or the adapter's.
import type { Batch, MaskedRow } from '../../../src/index.ts';

/** Where the row went on being trained behind a stop token that is not the first one: the adapter may hand on that one only. */
export function otherStopNote({ stops }: Batch, row: MaskedRow): string | undefined {
  const column = row.roles.indexOf('stop');
  const id = row.ids[column];
  if (column < 0 || id === stops[0] || !row.mask.includes(1, column + 1)) return undefined;
  return `The row ended with stop token ${id}, one of ${stops.join(', ')}. A trainer whose generation stops at one id only declares that: @lossproof.op(eos_token_ids=1).`;
}
