// A JSON parser for the lines that JSON.parse refuses: it also takes the bare NaN, Infinity and -Infinity that
// Python's json writes, and says where a line stops being JSON. Slower than JSON.parse, so only its fallback.
import type { Decoded } from './result.ts';

/** Nesting that no message needs (a cube in an answer is 5 deep) but that keeps the recursion off the stack's end. */
const MAX_DEPTH = 200;

const NUMBER = /-?(?:Infinity|(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids raw control characters in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;

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
  if (depth > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
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
      return Number(token(state, NUMBER, 'a value'));
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
  return JSON.parse(token(state, STRING, 'a closed string without raw control characters')) as string;
}

function word<T>(state: State, text: string, value: T): T {
  if (!state.text.startsWith(text, state.at)) throw expected(state, 'a value');
  state.at += text.length;
  return value;
}

function token(state: State, pattern: RegExp, what: string): string {
  pattern.lastIndex = state.at;
  const match = pattern.exec(state.text);
  if (match === null) throw expected(state, what);
  state.at = pattern.lastIndex;
  return match[0];
}

function take(state: State, character: string): boolean {
  if (state.text[state.at] !== character) return false;
  state.at += 1;
  return true;
}

function skipSpace(state: State): void {
  SPACE.lastIndex = state.at;
  SPACE.exec(state.text);
  state.at = SPACE.lastIndex;
}

function expected(state: State, what: string): SyntaxError {
  const character = state.text[state.at];
  const found = character === undefined ? 'the line ends' : `found ${JSON.stringify(character)}`;
  return new SyntaxError(`at character ${state.at + 1} ${found}, expected ${what}`);
}
