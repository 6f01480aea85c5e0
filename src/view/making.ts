// How rows are made: as `ViewOptions` say, or by the rules of a trainer whose configuration was read.
import type { Own } from './own/own.ts';
import type { ViewOptions } from './row.ts';
import type { Shape, Unread } from './shape/shapes.ts';

export interface Making extends ViewOptions {
  /** A row's shapes by the trainer's rules, in place of those that its keys suggest; `from` is the number of its file. */
  readonly shapes?: (value: unknown, from: number) => readonly Shape[] | Unread;
  /** Rows as the installed trainer made them, which win. */
  readonly own?: Own;
}
