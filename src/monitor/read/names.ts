// Names of series as bytes of a file, looked up without making a string of each: a log of a hundred million points says
// its names a hundred million times.

export interface Names {
  /** The number of the name bytes[from, to), counted from 0 in the order of first appearance. */
  find(bytes: Uint8Array, from: number, to: number): number;
  /** The name of that number. */
  text(number: number): string;
  readonly count: number;
}

export function names(): Names {
  let count = 0;
  /** All names one behind the other; name i is pool[starts[i], starts[i + 1]). */
  let pool = new Uint8Array(FIRST_SIZE);
  let poolView = viewOf(pool);
  /** The bytes of the last call, and they as a view. */
  let viewed: Uint8Array = pool;
  let view = poolView;
  let starts = new Int32Array(FIRST_SIZE);
  let hashes = new Int32Array(FIRST_SIZE);
  /** The name that came after this one the last time: logs repeat themselves, so that it is mostly right. */
  let following = new Int32Array(FIRST_SIZE);
  /** Open addressing: number + 1, or 0. */
  let slots = new Int32Array(4 * FIRST_SIZE);
  let last = 0;

  /** Four bytes at a time, from the end: names differ there. */
  function equals(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = starts[number] as number;
    if ((starts[number + 1] as number) - start !== to - from) return false;
    let at = to;
    let own = start + to - from;
    for (; at - from >= 4; at -= 4, own -= 4)
      if (view.getInt32(at - 4) !== poolView.getInt32(own - 4)) return false;
    for (; at > from; at--, own--) if (bytes[at - 1] !== pool[own - 1]) return false;
    return true;
  }

  function find(bytes: Uint8Array, from: number, to: number): number {
    if (bytes !== viewed) {
      viewed = bytes;
      view = viewOf(bytes);
    }
    const guess = following[last] as number;
    if (guess < count && equals(guess, bytes, from, to)) {
      last = guess;
      return guess;
    }
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    const mask = slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const number = (slots[slot] as number) - 1;
      if (hashes[number] === hash && equals(number, bytes, from, to)) return follow(number);
    }
    slots[slot] = count + 1;
    return follow(add(bytes, from, to, hash));
  }

  function follow(number: number): number {
    following[last] = number;
    last = number;
    return number;
  }

  function add(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const start = starts[count] as number;
    while (start + to - from > pool.length) pool = grown(pool, new Uint8Array(2 * pool.length));
    poolView = viewOf(pool);
    if (count + 2 > starts.length) {
      starts = grown(starts, new Int32Array(2 * starts.length));
      hashes = grown(hashes, new Int32Array(2 * hashes.length));
      following = grown(following, new Int32Array(2 * following.length));
    }
    pool.set(bytes.subarray(from, to), start);
    starts[count + 1] = start + to - from;
    hashes[count] = hash;
    count += 1;
    if (2 * count > slots.length) spread();
    return count - 1;
  }

  function spread(): void {
    slots = new Int32Array(4 * slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < count; number++) {
      const hash = hashes[number] as number;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
  }

  return {
    find,
    text: (number) => utf8.decode(pool.subarray(starts[number], starts[number + 1])),
    get count() {
      return count;
    },
  };
}

/** A power of two. */
const FIRST_SIZE = 1024;
const utf8 = new TextDecoder();

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function grown<A extends Uint8Array | Int32Array>(old: A, larger: A): A {
  larger.set(old);
  return larger;
}
