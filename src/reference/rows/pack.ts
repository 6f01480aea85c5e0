// Which examples stand where in packed rows. Nothing is assumed of the order in which a packer takes them, nor of where
// it pads: the rows are read as examples and fillers in every way, until one fits. Cases are small.

export interface Place {
  readonly example: number;
  /** Where its first token stands. */
  readonly row: number;
  readonly start: number;
  /** Tokens of it that are there: fewer than it has only at the very end of rows that were cut across examples. */
  readonly length: number;
}

export interface PackedRows {
  /** N, T */
  readonly rows: number;
  readonly width: number;
  /** Of each example. */
  readonly lengths: readonly number[];
  /** Token `offset` of `example` may stand in this cell. */
  readonly matches: (example: number, offset: number, row: number, column: number) => boolean;
  /** This cell may hold none of an example's tokens; `first`: an example ends right before it. */
  readonly fills: (row: number, column: number, first: boolean) => boolean;
  /** Examples of one number are alike in all that is asked here; default: no two are. Without it, many alike take forever. */
  readonly kinds?: readonly number[];
  /** Examples that must be there. */
  readonly required: (example: number) => boolean;
  /** Examples may go on in the next row, and the last one may be cut off by the end. */
  readonly across?: boolean;
  /** Examples stand in the order in which they are numbered, none left out before one that is there. */
  readonly ordered?: boolean;
  /** Tokens that the examples of a row may have together; default: any number. */
  readonly most?: number;
}

/** One way to read the rows, every example used at most once and every required one used; undefined: there is none. */
export function placeExamples(packed: PackedRows): readonly Place[] | undefined {
  const { rows, width, lengths, required, across = false, ordered = false } = packed;
  const kinds = packed.kinds ?? lengths.map((_, example) => example);
  const cells = rows * width;
  const places: Place[] = [];
  const used = new Set<number>();
  /** Places from which the rest could not be read, by what was used before them. */
  const dead = new Set<string>();

  /** Reads on from `cell`, in a row that has `tokens` of its examples so far; `first`: one of them right before it. */
  const read = (cell: number, tokens: number, first: boolean): boolean => {
    const passed: string[] = [];
    // Padding is read in a loop: a row may have thousands of columns of it.
    for (let at = cell, count = tokens, behind = first; ; at++, behind = false) {
      if (at >= cells) {
        if (lengths.every((_, example) => used.has(example) || !required(example))) return true;
        break;
      }
      const known = [...used].map((example) => kinds[example] ?? example).sort((a, b) => a - b);
      const key = `${at}:${count}:${behind}:${known.join(',')}`;
      if (dead.has(key)) break;
      passed.push(key);
      if (readExample(at, count)) return true;
      const column = at % width;
      if (!packed.fills(Math.floor(at / width), column, behind && column > 0)) break;
      if (column === 0) count = 0;
    }
    for (const key of passed) dead.add(key);
    return false;
  };
  const readExample = (cell: number, tokens: number): boolean => {
    const tried = new Set<number | undefined>();
    for (const [example, whole] of lengths.entries()) {
      const length = across ? Math.min(whole, cells - cell) : whole;
      if (used.has(example) || (ordered && example !== used.size) || length === 0) continue;
      if (!ordered && tried.has(kinds[example])) continue;
      tried.add(kinds[example]);
      const then = tokensBehind(packed, example, length, cell, tokens);
      if (then === undefined) continue;
      used.add(example);
      places.push({ example, row: Math.floor(cell / width), start: cell % width, length });
      if (read(cell + length, then, true)) return true;
      places.pop();
      used.delete(example);
    }
    return false;
  };
  return read(0, 0, false) ? places : undefined;
}

/** How many tokens the row has behind the example; undefined: the example cannot stand here. */
function tokensBehind(
  packed: PackedRows,
  example: number,
  length: number,
  cell: number,
  tokens: number,
): number | undefined {
  const { width, across = false, matches, most = Number.POSITIVE_INFINITY } = packed;
  if (!across && (cell % width) + length > width) return undefined;
  let count = tokens;
  for (let offset = 0; offset < length; offset++) {
    const at = cell + offset;
    count = at % width === 0 ? 1 : count + 1;
    if (count > most || !matches(example, offset, Math.floor(at / width), at % width)) return undefined;
  }
  return count;
}
