// A JSON parser for the lines that JSON.parse refuses: it also takes the bare NaN, Infinity and -Infinity that
// Python's json writes, and says where a line stops being JSON. Slower than JSON.parse, so only its fallback.
import { endOfString, MOST_DEPTH } from './bounds.ts';
import type { Decoded } from './decoded.ts';

/** Of one number; a longer one is left to the engine, whose parser needs no stack. */
const NUMBER = /^-?(?:Infinity|(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/;
const SHORT_NUMBER = 64;

/** Parses one JSON text with Python's three extra words. Complaints name the character, counted from 1. */
export function parseTolerant(text: string): Decoded<unknown> {
  const state = { text, at: 0 };
  try {
    const value = parseValue(state, 0);
    skipSpace(state);
    if (state.at < text.length) throw expected(state, 'the end of the line');
    return { ok: value };
  } catch (error) {
    if (error instanceof SyntaxError) return { complaint: error.message };
    throw error;
  }
}

interface State {
  readonly text: string;
  at: number;
}

function parseValue(state: State, depth: number): unknown {
  if (depth > MOST_DEPTH) throw new SyntaxError(`nested deeper than ${MOST_DEPTH} levels`);
  skipSpace(state);
  switch (state.text[state.at]) {
    case '{':
      return parseObject(state, depth);
    case '[':
      return parseArray(state, depth);
    case '"':
      return parseString(state);
    case 't':
      return word(state, 'true', true);
    case 'f':
      return word(state, 'false', false);
    case 'n':
      return word(state, 'null', null);
    case 'N':
      return word(state, 'NaN', Number.NaN);
    case 'I':
      return word(state, 'Infinity', Number.POSITIVE_INFINITY);
    default:
      return parseNumber(state);
  }
}

function parseObject(state: State, depth: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  state.at += 1;
  skipSpace(state);
  if (take(state, '}')) return {};
  for (;;) {
    skipSpace(state);
    if (state.text[state.at] !== '"') throw expected(state, 'a key in double quotes');
    const key = parseString(state);
    skipSpace(state);
    if (!take(state, ':')) throw expected(state, '":"');
    entries.push([key, parseValue(state, depth + 1)]);
    skipSpace(state);
    if (take(state, '}')) return Object.fromEntries(entries); // unlike assignment, safe for "__proto__"
    if (!take(state, ',')) throw expected(state, '"," or "}"');
  }
}

function parseArray(state: State, depth: number): unknown[] {
  const items: unknown[] = [];
  state.at += 1;
  skipSpace(state);
  if (take(state, ']')) return items;
  for (;;) {
    items.push(parseValue(state, depth + 1));
    skipSpace(state);
    if (take(state, ']')) return items;
    if (!take(state, ',')) throw expected(state, '"," or "]"');
  }
}

function parseString(state: State): string {
  const end = endOfString(state.text, state.at);
  const read = end < 0 ? undefined : parsed(state.text.slice(state.at, end + 1));
  if (typeof read !== 'string') throw expected(state, 'a closed string without raw control characters');
  state.at = end + 1;
  return read;
}

function parseNumber(state: State): number {
  let end = state.at;
  while (isOfNumber(state.text.charCodeAt(end))) end++;
  if (end === state.at + 1 && state.text.startsWith('Infinity', end)) end += 'Infinity'.length;
  const whole = state.text.slice(state.at, end);
  // Of `01` the 0 is a number, and what stands behind it is the complaint.
  const text = whole.length > SHORT_NUMBER ? whole : NUMBER.exec(whole)?.[0];
  const number = whole.length > SHORT_NUMBER ? parsed(whole) : Number(text);
  if (text === undefined || typeof number !== 'number' || Number.isNaN(number))
    throw expected(state, 'a value');
  state.at += text.length;
  return number;
}

/** Digits, signs, the point and the exponent. */
function isOfNumber(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    (code | 0x20) === 0x65
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function word<T>(state: State, text: string, value: T): T {
  if (!state.text.startsWith(text, state.at)) throw expected(state, 'a value');
  state.at += text.length;
  return value;
}

function take(state: State, character: string): boolean {
  if (state.text[state.at] !== character) return false;
  state.at += 1;
  return true;
}

function skipSpace(state: State): void {
  while (isSpace(state.text.charCodeAt(state.at))) state.at++;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function expected(state: State, what: string): SyntaxError {
  const character = state.text[state.at];
  const found = character === undefined ? 'the line ends' : `found ${JSON.stringify(character)}`;
  return new SyntaxError(`at character ${state.at + 1} ${found}, expected ${what}`);
}
