// The last bytes of a stream. stderr must be drained always (300 kB of undrained warnings block a trainer for
// good) but is only ever shown, so that only its end is kept.

/** 64 kB: some hundred lines, enough for any traceback with its warnings before it. */
export const RING_BYTES = 64 * 1024;

export interface Ring {
  push(chunk: Buffer): void;
  /** What is left, whole lines only once the beginning was dropped. */
  text(): string;
}

export function ring(capacity = RING_BYTES): Ring {
  let chunks: Buffer[] = [];
  let held = 0;
  let dropped = false;

  function push(chunk: Buffer): void {
    chunks.push(chunk);
    held += chunk.length;
    // Compacting at twice the capacity keeps the cost of a byte constant.
    if (held <= 2 * capacity) return;
    chunks = [Buffer.concat(chunks).subarray(held - capacity)];
    held = capacity;
    dropped = true;
  }

  function text(): string {
    const all = Buffer.concat(chunks);
    if (!dropped && all.length <= capacity) return all.toString('utf8');
    const end = all.subarray(Math.max(0, all.length - capacity));
    return end.subarray(end.indexOf(0x0a) + 1).toString('utf8');
  }

  return { push, text };
}
