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

/** A value that somebody else wrote, as JSON, in a sentence: enough to find it by. */
export function told(value: unknown): string {
  const { text, whole } = quoted(value, MOST_TOLD);
  const line = text.replaceAll(',', ', ');
  return whole ? onOneLine(line, MOST_TOLD) : `${onOneLine(line.slice(0, MOST_TOLD), MOST_TOLD)}…`;
}

const MOST_TOLD = 80;

/**
 * The beginning of a value's JSON, at most about `most` characters, and whether it is all of it. Only as much of the value is read
 * as is quoted: JSON.stringify would write megabytes of an answer for the 80 characters that a sentence has room for.
 */
export function quoted(value: unknown, most: number): { readonly text: string; readonly whole: boolean } {
  let text = '';
  const full = (): boolean => text.length > most;
  const write = (each: unknown): void => {
    if (full()) return;
    if (typeof each === 'string') text += JSON.stringify(each.length > most ? each.slice(0, most + 1) : each);
    else if (Array.isArray(each)) {
      text += '[';
      for (let at = 0; at < each.length && !full(); at++) {
        if (at > 0) text += ',';
        write(each[at]);
      }
      text += ']';
    } else if (typeof each === 'object' && each !== null && !('toJSON' in each)) {
      text += '{';
      let first = true;
      for (const key in each) {
        if (full()) break;
        const own: unknown = (each as Readonly<Record<string, unknown>>)[key];
        if (!Object.hasOwn(each, key) || own === undefined || typeof own === 'function') continue;
        text += `${first ? '' : ','}${JSON.stringify(key.length > most ? key.slice(0, most + 1) : key)}:`;
        first = false;
        write(own);
      }
      text += '}';
    } else text += JSON.stringify(each) ?? 'null';
  };
  if (value === undefined) return { text: 'undefined', whole: true };
  write(value);
  return full() ? { text: text.slice(0, most), whole: false } : { text, whole: true };
}

/** Of all texts in a value that was parsed, names left out; characters, where nothing else is said. */
export function lengthOfTexts(
  value: unknown,
  lengthOf: (text: string) => number = ({ length }) => length,
): number {
  if (typeof value === 'string') return lengthOf(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + lengthOfTexts(each, lengthOf), 0);
}

/** Whether `text` has `part` in it, in linear time however long both are: V8 takes the product of the two at worst. */
export function includesText(text: string, part: string): boolean {
  if (text.length * part.length <= MOST_STEPS) return text.includes(part);
  // Knuth, Morris and Pratt: how much of `part` is still matched where the next character differs.
  const back = new Int32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    while (matched > 0 && part.charCodeAt(at) !== part.charCodeAt(matched)) matched = back[matched - 1] ?? 0;
    if (part.charCodeAt(at) === part.charCodeAt(matched)) matched++;
    back[at] = matched;
  }
  for (let at = 0, matched = 0; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(at) !== part.charCodeAt(matched)) matched = back[matched - 1] ?? 0;
    if (text.charCodeAt(at) === part.charCodeAt(matched)) matched++;
    if (matched === part.length) return true;
  }
  return false;
}

const MOST_STEPS = 2 ** 28;
