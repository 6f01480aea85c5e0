// Damage to a file, as disks, editors and strangers do it: bytes changed, cut, put twice, or taken from elsewhere; and, in
// text, values of JSON in the place of others. Everything follows from a seed.

/** From 0 to `below` - 1. */
export type Dice = (below: number) => number;

/** The same numbers for the same seed, on every machine (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** One of the seeds with one to six damages. */
export function mutated(seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  let bytes = pick(seeds, dice);
  for (let left = 1 + dice(6); left > 0; left--) {
    bytes = pick(DAMAGES, dice)(bytes, dice, pick(seeds, dice));
    if (bytes.length > MOST_BYTES) bytes = bytes.subarray(0, MOST_BYTES);
  }
  return bytes;
}

/** Damages that double must end somewhere. */
const MOST_BYTES = 2 ** 20;

function pick<T>(from: readonly T[], dice: Dice): T {
  const one = from[dice(from.length)];
  if (one === undefined) throw new Error('there is nothing to pick from');
  return one;
}

type Damage = (bytes: Uint8Array, dice: Dice, other: Uint8Array) => Uint8Array;

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const textOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** A piece of at most `most` bytes: from where, to where. */
function piece(bytes: Uint8Array, dice: Dice, most = 64): readonly [from: number, to: number] {
  const from = dice(bytes.length + 1);
  return [from, Math.min(bytes.length, from + dice(most + 1))];
}

function replaced(bytes: Uint8Array, from: number, to: number, put: Uint8Array): Uint8Array {
  return joined(bytes.subarray(0, from), put, bytes.subarray(to));
}

const VALUES: readonly string[] = [
  'null',
  'true',
  '-1',
  '0',
  '0.5',
  '1e308',
  '-1e308',
  '9007199254740991',
  '9007199254740993',
  '1e15',
  '2147483648',
  'NaN',
  '-Infinity',
  '""',
  '"x"',
  '[]',
  '{}',
  '[[]]',
  '[[400000000,0]]',
  '{"a":{}}',
  '"__proto__"',
  '"constructor"',
  '"\\ud800"',
  '"\\u0000"',
  '"../../x"',
  '"\\u001b[2J"',
  '{"__proto__":{"polluted":1}}',
  '{"dtype":"int64","shape":[400000000,0],"data":""}',
  '{"dtype":"float32","shape":[-1,-1],"data":"AACAPw=="}',
];

const DAMAGES: readonly Damage[] = [
  // A bit, a byte, a few bytes of chance.
  (bytes, dice) => changed(bytes, dice, (byte) => byte ^ (1 << dice(8))),
  (bytes, dice) => changed(bytes, dice, () => dice(256)),
  (bytes, dice) =>
    changed(bytes, dice, () => pick([0, 1, 0x7f, 0x80, 0xff, 0x22, 0x5c, 0x0a, 0x5b, 0x7b], dice)),
  (bytes, dice) =>
    replaced(
      bytes,
      ...piece(bytes, dice),
      Uint8Array.from({ length: dice(16) }, () => dice(256)),
    ),
  // Gone, twice, many times, cut off, from elsewhere.
  (bytes, dice) => replaced(bytes, ...piece(bytes, dice, 512), new Uint8Array(0)),
  (bytes, dice) => {
    const [from, to] = piece(bytes, dice, 512);
    return replaced(bytes, to, to, bytes.subarray(from, to));
  },
  (bytes, dice) => {
    const [from, to] = piece(bytes, dice, 16);
    const many = Buffer.concat(Array.from({ length: 1 << dice(12) }, () => bytes.subarray(from, to)));
    return replaced(bytes, to, to, new Uint8Array(many));
  },
  (bytes, dice) => bytes.subarray(0, dice(bytes.length + 1)),
  (bytes, dice, other) => replaced(bytes, ...piece(bytes, dice), other.subarray(...piece(other, dice, 256))),
  // A value of JSON where another stands; depth.
  valueChanged,
  valueChanged,
  valueChanged,
  (bytes, dice) => {
    const [from] = piece(bytes, dice);
    const open = pick(['[', '{"a":'], dice).repeat(1 << dice(14));
    return replaced(bytes, from, from, textOf(open));
  },
];

function changed(bytes: Uint8Array, dice: Dice, to: (byte: number) => number): Uint8Array {
  if (bytes.length === 0) return bytes;
  const copy = Uint8Array.from(bytes);
  const at = dice(copy.length);
  copy[at] = to(copy[at] ?? 0);
  return copy;
}

/** The value behind a colon, a comma or a bracket, up to the next. */
function valueChanged(bytes: Uint8Array, dice: Dice): Uint8Array {
  const isSign = (byte: number | undefined): boolean => byte !== undefined && SIGNS.includes(byte);
  let from = dice(bytes.length + 1);
  while (from < bytes.length && !isSign(bytes[from])) from++;
  if (from >= bytes.length) return bytes;
  let to = from + 1;
  while (to < bytes.length && !isSign(bytes[to]) && to - from < LONGEST_VALUE) to++;
  return replaced(bytes, from + 1, to, textOf(pick(VALUES, dice)));
}

const SIGNS: readonly number[] = [...':,[]{}'].map((sign) => sign.charCodeAt(0));
const LONGEST_VALUE = 4_096;
