// CRC-32C (Castagnoli, RFC 3720 appendix B.4), eight bytes at a time through eight tables, and the mask that TFRecord puts
// over it. node:zlib knows only
// the other polynomial, and a call of it costs more than a record of an event is worth.

/** Of the bytes [from, to) of the view, as an unsigned 32-bit number. */
export function crc32c(view: DataView, from: number, to: number): number {
  let crc = -1;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    crc ^= view.getInt32(at, true);
    const next = view.getInt32(at + 4, true);
    crc =
      entry(7 * 256 + (crc & 0xff)) ^
      entry(6 * 256 + ((crc >>> 8) & 0xff)) ^
      entry(5 * 256 + ((crc >>> 16) & 0xff)) ^
      entry(4 * 256 + (crc >>> 24)) ^
      entry(3 * 256 + (next & 0xff)) ^
      entry(2 * 256 + ((next >>> 8) & 0xff)) ^
      entry(256 + ((next >>> 16) & 0xff)) ^
      entry(next >>> 24);
  }
  if (at + 4 <= to) {
    crc ^= view.getInt32(at, true);
    crc =
      entry(3 * 256 + (crc & 0xff)) ^
      entry(2 * 256 + ((crc >>> 8) & 0xff)) ^
      entry(256 + ((crc >>> 16) & 0xff)) ^
      entry(crc >>> 24);
    at += 4;
  }
  for (; at < to; at++) crc = entry((crc ^ view.getUint8(at)) & 0xff) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** As TFRecord stores it: turned right by 15 bits and moved, so that a checksum of checksums is not weak. */
export function maskedCrc32c(view: DataView, from: number, to: number): number {
  const crc = crc32c(view, from, to);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Reversed, as the algorithm shifts right. */
const POLYNOMIAL = 0x82f63b78;
/** TABLES[256 k + b]: what byte b adds with k bytes behind it. */
const TABLES: Int32Array = tables();

const entry = (at: number): number => TABLES[at] as number;

function tables(): Int32Array {
  const all = new Int32Array(8 * 256);
  for (let value = 0; value < 256; value++) {
    let crc = value;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    all[value] = crc;
  }
  for (let at = 256; at < all.length; at++) {
    const before = all[at - 256] ?? 0;
    all[at] = (before >>> 8) ^ (all[before & 0xff] ?? 0);
  }
  return all;
}
