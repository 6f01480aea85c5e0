// Text of a trainer that is kept and repeated: in events, on pages, in files. It is bounded where it comes in, with its
// size said, because everything that follows repeats it several times.

/** Its beginning and its end, where it is longer than `most`, and how much lies between. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… (${left.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters left out) …\n${text.slice(-half)}`;
}

/** On one line: a line break in a name would begin a line that looks like ours. */
export function onOneLine(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replaceAll(/[\s\u0085]+/gu, ' ')
    .trim();
  return line.length <= most && text.length <= 4 * most
    ? line
    : `${line.slice(0, most)}… (${text.length.toLocaleString('en')} characters)`;
}
