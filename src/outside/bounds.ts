// How deep and how many a JSON text's lists and objects are, and how many keys and values they hold, counted before any is
// made: what is too much is refused while it is still text. One pass, no recursion, no regular expression.

/** Nesting that nothing read here needs (a cube in an answer is 5 deep); what walks a value may recurse so far. */
export const MOST_DEPTH = 200;
/** Lists and objects of one text: each takes tens of bytes however empty it is. A tokenizer's merges are 300,000. */
export const MOST_LISTS = 2 ** 22;
/** Names in all objects of one text: two hundred bytes each where they differ. A large vocabulary has 300,000. */
const MOST_KEYS = 2 ** 21;
/** Values in all lists and objects: eight bytes each, and a text some thirty. An answer of 64 MiB has ten million numbers. */
const MOST_VALUES = 2 ** 24;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What of it is too much, as a complaint. What is no JSON is left to the parser. */
export function boundsComplaint(text: string, most: number = MOST_LISTS): string | undefined {
  if (text.length <= MOST_DEPTH) return undefined;
  let depth = 0;
  let lists = 0;
  let keys = 0;
  let values = 0;
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
        if (depth > MOST_DEPTH) return `nested deeper than ${MOST_DEPTH} levels`;
        if (lists > most) return `more than ${most.toLocaleString('en')} lists and objects`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x3a: // :
        if (++keys > MOST_KEYS) return `more than ${MOST_KEYS.toLocaleString('en')} keys`;
        break;
      case 0x2c: // ,
        if (++values > MOST_VALUES) return `more than ${MOST_VALUES.toLocaleString('en')} values`;
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
