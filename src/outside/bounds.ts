// How deep and how many a JSON text's lists and objects are, and how many keys and values they hold, counted before any is
// made: what is too much is refused while it is still text. One pass, no recursion, no regular expression.

/** Nesting that nothing read here needs (a cube in an answer is 5 deep); what walks a value may recurse so far. */
export const MOST_DEPTH = 200;

/** How many things one text may hold, at most. */
export interface Counts {
  /** Lists and objects: each takes tens of bytes however empty it is. */
  readonly lists: number;
  /** Names in all objects: two hundred bytes each where they differ. */
  readonly keys: number;
  /** Values in all lists and objects: eight bytes each, and a text some thirty. */
  readonly values: number;
  /** Values between two brackets, so of one innermost list. */
  readonly row: number;
}

/** For a file: a tokenizer's merges are 300,000 lists, a large vocabulary 300,000 keys, a log ten million numbers. */
const OF_A_FILE: Counts = { lists: 2 ** 22, keys: 2 ** 21, values: 2 ** 24, row: 2 ** 24 };
/**
 * For one line of a trainer, which answers thousands of requests. No answer holds logits. It holds a few numbers per token, for some
 * dozens of rows, and a trainer may pad them all to the length of its context.
 */
export const OF_AN_ANSWER: Counts = { lists: 2 ** 18, keys: 2 ** 17, values: 2 ** 22, row: 2 ** 18 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What of it is too much, as a complaint. What is no JSON is left to the parser. */
export function boundsComplaint(text: string, most: Counts = OF_A_FILE): string | undefined {
  if (text.length <= MOST_DEPTH) return undefined;
  let depth = 0;
  let lists = 0;
  let keys = 0;
  let values = 0;
  let row = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at < 0) return undefined;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        lists++;
        row = 0;
        if (depth > MOST_DEPTH) return `nested deeper than ${MOST_DEPTH} levels`;
        if (lists > most.lists) return `more than ${most.lists.toLocaleString('en')} lists and objects`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        row = 0;
        break;
      case 0x3a: // :
        if (++keys > most.keys) return `more than ${most.keys.toLocaleString('en')} keys`;
        break;
      case 0x2c: // ,
        if (++values > most.values) return `more than ${most.values.toLocaleString('en')} values`;
        if (++row > most.row) return `more than ${most.row.toLocaleString('en')} values per list`;
        break;
      default:
    }
  }
  return undefined;
}

/** Where the string that opens at `from` closes; -1 where it does not. */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}
