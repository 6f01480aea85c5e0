// Numbers out of the bytes of a text, as Number() would read them, nearly all of them without a string.

/** Where `parseNumber` puts what it read. */
export interface ReadNumber {
  value: number;
}

/**
 * Reads bytes[from, to) as a decimal number, or as what Python and others write where there is none: NaN, Infinity,
 * inf, with a sign, in any case. False: it is no number.
 */
export function parseNumber(bytes: Uint8Array, from: number, to: number, into: ReadNumber): boolean {
  let at = from;
  const negative = bytes[at] === MINUS;
  if (negative || bytes[at] === PLUS) at += 1;
  const start = at;
  /** The first EXACT_DIGITS that count, and up to TAIL_DIGITS behind them. */
  let mantissa = 0;
  let tail = 0;
  let digits = 0;
  let point = -1;
  let code = 0;
  for (; at < to; at++) {
    code = bytes[at] as number;
    if (code >= ZERO && code <= NINE) {
      if (digits < EXACT_DIGITS) mantissa = mantissa * 10 + (code - ZERO);
      else if (digits < EXACT_DIGITS + TAIL_DIGITS) tail = tail * 10 + (code - ZERO);
      if (digits > 0 || code !== ZERO) digits += 1;
    } else if (code === POINT && point < 0) point = at;
    else break;
  }
  // `.5` and `5.` are numbers, `.` is none.
  if (at - start - (point < 0 ? 0 : 1) === 0) return point < 0 && parseWord(bytes, at, to, negative, into);
  let exponent = point < 0 ? 0 : point + 1 - at;
  if (at < to) {
    if ((code | LOWER) !== LETTER_E) return false;
    at += 1;
    const down = bytes[at] === MINUS;
    if (down || bytes[at] === PLUS) at += 1;
    if (at >= to) return false;
    let power = 0;
    for (; at < to; at++) {
      code = bytes[at] as number;
      if (code < ZERO || code > NINE) return false;
      power = Math.min(power * 10 + (code - ZERO), LARGEST_POWER);
    }
    exponent += down ? -power : power;
  }
  let value = Number.NaN;
  if (digits <= EXACT_DIGITS && exponent >= -EXACT_POWER && exponent <= EXACT_POWER) {
    // Both the digits and the power of ten are doubles exactly, so that one rounding is the right one (Clinger 1990).
    value = exponent < 0 ? mantissa / (POWERS[-exponent] as number) : mantissa * (POWERS[exponent] as number);
  } else if (digits <= EXACT_DIGITS + TAIL_DIGITS && exponent < 0 && exponent >= -EXACT_POWER) {
    value = quotient(mantissa, Math.max(0, digits - EXACT_DIGITS), tail, -exponent);
  }
  if (Number.isNaN(value)) value = Number(latin1(bytes, start, to));
  into.value = negative ? -value : value;
  return true;
}

/**
 * (mantissa · 10^places + tail) / 10^power with the digits held in two doubles (Dekker 1971), which is right but for the
 * last few of 104 bits. Where those would decide how it is rounded: NaN.
 */
function quotient(mantissa: number, places: number, tail: number, power: number): number {
  const factor = POWERS[places] as number;
  const product = mantissa * factor;
  // Exact sum of the three: `high` and `low`.
  const rest = productError(mantissa, factor, product) + tail;
  const high = product + rest;
  const low = rest - (high - product);
  const divisor = POWERS[power] as number;
  const first = high / divisor;
  const taken = first * divisor;
  const second = (high - taken - productError(first, divisor, taken) + low) / divisor;
  const value = first + second * (1 + UNSURE);
  return value === first + second * (1 - UNSURE) ? value : Number.NaN;
}

/** What is lost when a · b is rounded to `product`. */
function productError(a: number, b: number, product: number): number {
  const aShifted = SPLIT * a;
  const aHigh = aShifted - (aShifted - a);
  const aLow = a - aHigh;
  const bShifted = SPLIT * b;
  const bHigh = bShifted - (bShifted - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** 2^27 + 1 parts a double in two of half its digits. */
const SPLIT = 134_217_729;
/** The second double has 53 bits, less those lost in three roundings. */
const UNSURE = 2 ** -40;

function parseWord(
  bytes: Uint8Array,
  from: number,
  to: number,
  negative: boolean,
  into: ReadNumber,
): boolean {
  if (to - from < 3 || to - from > 8) return false;
  const word = latin1(bytes, from, to).toLowerCase();
  if (word === 'nan') into.value = Number.NaN;
  else if (word === 'inf' || word === 'infinity')
    into.value = negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  else return false;
  return true;
}

/** ASCII in, so that one byte is one character. */
function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const LOWER = 0x20;
/** Any so many digits are a double exactly; so is 10^22, and no higher power of ten. */
const EXACT_DIGITS = 15;
const EXACT_POWER = 22;
/** With EXACT_DIGITS more than any double needs (17), and a number of two doubles exactly. */
const TAIL_DIGITS = 4;
/** Beyond it everything is zero or infinite, whatever the digits; it keeps the sum small. */
const LARGEST_POWER = 100_000;
const POWERS = Float64Array.from({ length: EXACT_POWER + 1 }, (_, power) => Number(`1e${power}`));
