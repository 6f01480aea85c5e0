// What is wrong with how a row was given to the model.
import type { Tracks } from '../words.ts';

/** What is wrong with how a row was given. */
export interface InputFault {
  readonly kind: string;
  /** Wrong columns, the one that is told first. */
  readonly columns: readonly number[];
  /** Goes on behind "Token 3 'x' (id 5) of step 0, row 1 ". */
  readonly words: string;
  readonly note?: string;
  readonly tracks?: Tracks;
}
