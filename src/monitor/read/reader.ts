// What a reader of one file is: it is handed pieces of the file in order and is done with as many bytes as it says. It
// keeps no bytes itself, so that a file that grows is read on from where its last whole record ended.

export interface Reader {
  /**
   * Reads the whole records at the start of `bytes` and gives how many bytes it is done with. Fewer than all: the rest
   * is handed again, with more behind it. More than all: what lies before that place need not be read. With
   * LARGEST_RECORD bytes or more it is always done with some. `bytes` is used again for the next piece.
   * @param at place of bytes[0] in the file
   */
  read(bytes: Uint8Array, at: number): number;
  /** The file ends behind `rest`, for now: gives how many bytes of it were a whole record nonetheless. */
  pause(rest: Uint8Array, at: number): number;
}

/** A record, line or value above this is passed over with a sentence: what is held of a file stays within a few of it. */
export const LARGEST_RECORD: number = 8 * 2 ** 20;

export type Complain = (sentence: string) => void;

/** A damaged file could have one complaint a record; a few of them tell what there is to know. */
const MOST_COMPLAINTS = 10;

/** Complaints about one file, each beginning with its name; the eleventh says that there are more, and is the last. */
export function complaintsOf(path: string, complain: Complain): Complain {
  let count = 0;
  return (sentence) => {
    count += 1;
    if (count <= MOST_COMPLAINTS) complain(`${path}: ${sentence}`);
    else if (count === MOST_COMPLAINTS + 1)
      complain(`${path}: More of it could not be read; that is not said place by place any more.`);
  };
}
