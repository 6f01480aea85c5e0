// LevelDB's log format: blocks of 32 KiB, in them pieces of records with their checksum, length and kind (whole, first,
// middle, last). https://github.com/google/leveldb/blob/main/doc/log_format.md; W&B uses the common CRC-32, unmasked.
import { crc32 } from 'node:zlib';
import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';

/** Is called with each whole record, and with the place of its first piece. */
export type OnWholeRecord = (record: Uint8Array, at: number) => void;

/** @param start bytes of the file's own header, which lie within the first block */
export function levelDbReader(start: number, onRecord: OnWholeRecord, complain: Complain): Reader {
  /** A piece was damaged or too much: what belongs to the same record is passed over. */
  let dropping = false;

  function read(bytes: Uint8Array, at: number): number {
    let from = Math.max(0, start - at);
    /** Of the record that is being put together: where its first piece begins. */
    let first = -1;
    let pieces: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const room = BLOCK - ((at + from) % BLOCK);
      if (room < HEADER) {
        from += room;
        continue;
      }
      if (from + HEADER > bytes.length) break;
      const kind = bytes[from + 6] as number;
      const length = (bytes[from + 4] as number) | ((bytes[from + 5] as number) << 8);
      if (kind === 0 && length === 0) {
        from += room; // the rest of a block that was set aside, never written
        continue;
      }
      const end = from + HEADER + length;
      if (HEADER + length > room || kind < WHOLE || kind > LAST) {
        complain(
          `At byte ${at + from} the file is damaged; reading goes on at the next block of ${BLOCK} bytes.`,
        );
        [first, pieces, size, dropping] = [-1, [], 0, true];
        from += room;
        continue;
      }
      if (end > bytes.length) break;
      const data = bytes.subarray(from + HEADER, end);
      if (crc32(bytes.subarray(from + 6, end)) !== checksumAt(bytes, from)) {
        complain(
          `At byte ${at + from} a piece of ${length} bytes does not match its checksum; its record is left out.`,
        );
        [first, pieces, size, dropping] = [-1, [], 0, true];
        from = end;
        continue;
      }
      if (kind === WHOLE || kind === FIRST) {
        dropping = false;
        [first, pieces, size] = [from, [data], data.length];
      } else if (!dropping && first >= 0) {
        pieces.push(data);
        size += data.length;
      }
      from = end;
      if (size > LARGEST_RECORD / 2) {
        complain(
          `At byte ${at + first} a record of more than ${size} bytes is passed over: it is larger than metrics are.`,
        );
        [first, pieces, size, dropping] = [-1, [], 0, true];
      } else if ((kind === WHOLE || kind === LAST) && first >= 0) {
        onRecord(pieces.length === 1 ? data : joined(pieces, size), at + first);
        [first, pieces, size] = [-1, [], 0];
      }
    }
    return first >= 0 ? first : from;
  }

  return { read, pause: () => 0 };
}

const BLOCK = 32_768;
const HEADER = 7;
const WHOLE = 1;
const FIRST = 2;
const LAST = 4;

function checksumAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
