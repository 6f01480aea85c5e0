// Texts of JSON of a given size, each the worst of its kind for somebody who reads it: deep, wide, many keys, many quotes, long
// texts, numbers of every spelling. A reader that takes all of them takes what a trainer or a file can send.

/** About `size` characters of a JSON value. */
export type ShapeOf = (size: number) => string;

const filled = (unit: string, size: number): string =>
  unit.repeat(Math.max(1, Math.floor(size / unit.length)));
const list =
  (item: string): ShapeOf =>
  (size) =>
    `[${filled(`${item},`, size)}${item}]`;
const text =
  (part: string): ShapeOf =>
  (size) =>
    `"${filled(part, size)}"`;

/** Each item differs: what is the same everywhere is stored once. */
function numbered(item: (at: number) => string, size: number): string {
  const items: string[] = [];
  for (let length = 0; length < size; length += (items.at(-1)?.length ?? 0) + 1)
    items.push(item(items.length));
  return items.join();
}

const DEEP = 150;

export const SHAPES: Readonly<Record<string, ShapeOf>> = {
  'lists without anything': list('[]'),
  'objects without anything': list('{}'),
  'lists of one number': list('[0]'),
  'lists of one fraction': list('[0.5]'),
  'objects with one key': list('{"a":0}'),
  'objects with a key each': (size) => `[${numbered((at) => `{"k${at.toString(36)}":0}`, size)}]`,
  'one object of many keys': (size) => `{${numbered((at) => `"k${at.toString(36)}":0`, size)}}`,
  'one object of numbers for keys': (size) => `{${numbered((at) => `"${7919 * at}":0`, size)}}`,
  'one object of one key': (size) => `{${filled('"a":0,', size)}"a":0}`,
  'many keys with lists': (size) => `{${numbered((at) => `"k${at}":{"a":[0]}`, size)}}`,
  'deep lists': list('['.repeat(DEEP) + ']'.repeat(DEEP)),
  'deep objects': list(`${'{"a":'.repeat(DEEP)}0${'}'.repeat(DEEP)}`),
  'one wide row': (size) => `[${list('1')(size)}]`,
  'pairs of quotes': list('""'),
  'texts that differ': (size) => `[${numbered((at) => `"s${at}"`, size)}]`,
  'one long text': text('a'),
  'a text of quotes': text('\\"'),
  'a text of backslashes': text('\\\\'),
  'a text of line breaks': text('\\n'),
  'a text of spaces': text(' '),
  'a text of pairs of surrogates': text('\\ud83d\\ude00'),
  'a text of half surrogates': text('\\ud800'),
  'a text for the screen': text('\\u001b['),
  'whole numbers': list('0'),
  fractions: list('0.1'),
  'numbers beyond float64': list('1e400'),
  'zeros below 0': list('-0.0'),
  NaN: list('NaN'),
  infinities: list('-Infinity'),
  nulls: list('null'),
  'a number of many digits': (size) => `[${filled('1', size)}]`,
  'a fraction of many digits': (size) => `[0.${filled('1', size)}]`,
  'nothing but spaces': (size) => `[${filled(' ', size)}]`,
  'a text that does not end': (size) => `["${filled('\\"', size)}`,
  'lists that do not end': (size) => filled('[0,', Math.min(size, DEEP)) + filled('0,', size),
  'two commas': (size) => `[${filled('0,', size)},0]`,
};
