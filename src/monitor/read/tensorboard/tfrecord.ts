// TFRecord framing, as TensorBoard's writers use it: length (8 bytes, little-endian), its masked CRC-32C, the data, their
// masked CRC-32C. https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details

import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';
import { maskedCrc32c } from './crc32c.ts';

/** Is called with the record's data, bytes[from, to), once their checksum is right. */
export type OnRecord = (bytes: Uint8Array, from: number, to: number, at: number) => void;

/**
 * Where a length is damaged nobody knows where the next record begins. Reading goes on at the first place where both
 * checksums are right, 64 bits together: no chance hits that.
 */
export function tfRecordReader(onRecord: OnRecord, complain: Complain): Reader {
  /** Place of the damage that a whole record is looked for behind. */
  let lost: number | undefined;

  /** Headers that were right, by the length's lowest bits: records of a log have few lengths. */
  const rightLengths = new Int32Array(RIGHT_HEADERS).fill(-1);
  const rightSums = new Int32Array(RIGHT_HEADERS);

  function headerIsRight(view: DataView, from: number): boolean {
    const length = view.getInt32(from, true);
    const sum = view.getInt32(from + 8, true);
    const slot = length & (RIGHT_HEADERS - 1);
    const short = length >= 0 && view.getInt32(from + 4, true) === 0;
    if (short && rightLengths[slot] === length && rightSums[slot] === sum) return true;
    if (!headerHolds(view, from)) return false;
    if (short) {
      rightLengths[slot] = length;
      rightSums[slot] = sum;
    }
    return true;
  }

  function read(bytes: Uint8Array, at: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    while (from + HEADER <= bytes.length) {
      if (!headerIsRight(view, from)) {
        if (lost === undefined) {
          lost = at + from;
          complain(
            `At byte ${lost} a record's length does not match its checksum. Reading continues at the next whole record.`,
          );
        }
        from += 1;
        continue;
      }
      const length = lengthAt(view, from);
      const end = from + HEADER + length + FOOTER;
      if (length > LARGEST_RECORD - HEADER - FOOTER) {
        if (lost !== undefined) {
          from += 1;
          continue;
        }
        complain(
          `At byte ${at + from} a record of ${length} bytes is passed over: it is larger than metrics are.`,
        );
        from = end;
        continue;
      }
      if (end > bytes.length) break;
      const holds = maskedCrc32c(view, from + HEADER, end - FOOTER) === view.getUint32(end - FOOTER, true);
      if (lost !== undefined) {
        if (!holds) {
          from += 1;
          continue;
        }
        complain(`Reading goes on at byte ${at + from}: ${at + from - lost} bytes are lost.`);
        lost = undefined;
      }
      if (holds) onRecord(bytes, from + HEADER, end - FOOTER, at + from);
      else
        complain(
          `At byte ${at + from} a record of ${length} bytes does not match its checksum; it is left out.`,
        );
      from = end;
    }
    return from;
  }

  // What is left is the beginning of a record: the file is being written, or its writer was killed.
  return { read, pause: () => 0 };
}

/** Whether a record's header stands there: a length with the right checksum. */
export function headerHolds(view: DataView, from: number): boolean {
  return maskedCrc32c(view, from, from + 8) === view.getUint32(from + 8, true);
}

/** Length and its checksum. */
export const HEADER = 12;
const FOOTER = 4;
/** A power of two. */
const RIGHT_HEADERS = 256;

function lengthAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
