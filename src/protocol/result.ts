// What every decoder here returns: the thing, or one sentence that names the path and both facts.
import { quoted } from '../outside/text.ts';

export { type Decoded, isJsonObject, type JsonObject } from '../outside/decoded.ts';

/** A value as a complaint quotes it: JSON, shortened. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  // A configuration that is a module may hold what is no JSON.
  try {
    if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
    const { text, whole } = quoted(value, SHOWN_CHARACTERS);
    if (whole) return text;
    return typeof value === 'string' ? `${text}… (${value.length} characters)` : `${text}…`;
  } catch {
    return `a ${typeof value} that is no JSON`;
  }
}

/** Long enough to recognise a line, short enough for one terminal line beside the sentence. */
const SHOWN_CHARACTERS = 80;

export function shortened(text: string, most = SHOWN_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
