// The lines of a carpet: a row as it is drawn, and the bands that rows are drawn in.
import type { Frame, Look, Span } from './looks.ts';

export interface CarpetRow {
  /** `step 0, forward pass 2, row 1`. */
  readonly name: string;
  /** Told by the browser where it is pointed at: `38 tokens, 12 trained`. */
  readonly facts: string;
  readonly columns: number;
  readonly looks: readonly Span<Look>[];
  readonly frames: readonly Span<Frame>[];
  /** Something is wrong in it, also where no token is meant. */
  readonly flagged: boolean;
  /** Where it stands on the page, token by token. */
  readonly anchor?: string;
  /** What stands at its left: a part (`step 3`), then its group, in a bracket; or the row's own label. */
  readonly place: { readonly part?: string; readonly group?: string; readonly label: string };
}

export interface Line {
  readonly row: CarpetRow;
  readonly y: number;
}

export interface Band {
  readonly lines: readonly Line[];
  readonly height: number;
}
