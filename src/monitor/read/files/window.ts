// A file's bytes through one window of bounded size, so that a file of any size takes the same memory.
import { LARGEST_RECORD, type Reader } from '../reader.ts';

/** Puts bytes from place `at` of the file on into `into`; how many, 0 at the end. */
export type Fill = (into: Uint8Array, at: number) => number | Promise<number>;

export interface Window {
  /**
   * Reads to the end of the file, for now, and gives the place that reading goes on at the next time.
   * @param at place to begin at
   * @param rest is called after each piece with the place reached; false: end here
   */
  run(
    reader: Reader,
    fill: Fill,
    at: number,
    rest: (at: number) => boolean | Promise<boolean>,
  ): Promise<number>;
}

/** Large enough that asking the system costs nothing, small enough to stay in the processor's caches. */
const FIRST_SIZE = 2 ** 20;

/** Files are read one after the other through the same memory. */
export function openWindow(): Window {
  let buffer = new Uint8Array(FIRST_SIZE);

  async function run(
    reader: Reader,
    fill: Fill,
    start: number,
    rest: (at: number) => boolean | Promise<boolean>,
  ): Promise<number> {
    let at = start;
    let held = 0;
    for (;;) {
      const asked = fill(buffer.subarray(held), at + held);
      const got = typeof asked === 'number' ? asked : await asked;
      if (got === 0) break;
      held += got;
      const done = reader.read(buffer.subarray(0, held), at);
      at += done;
      if (done >= held) held = 0;
      else {
        buffer.copyWithin(0, done, held);
        held -= done;
      }
      if (held === buffer.length) grow();
      const going = rest(at);
      if (!(typeof going === 'boolean' ? going : await going)) return at;
    }
    return at + reader.pause(buffer.subarray(0, held), at);
  }

  function grow(): void {
    // A reader is done with some of so many bytes, by its contract.
    if (buffer.length >= LARGEST_RECORD) throw new Error('A reader of logs takes no more than it may.');
    const larger = new Uint8Array(Math.min(2 * buffer.length, LARGEST_RECORD));
    larger.set(buffer);
    buffer = larger;
  }

  return { run };
}
