// Text of other people in a page: of any length, with any character in it, and never in the way.
import { plural } from '../../text/plural.ts';
import { visible } from '../../text/visible.ts';
import { html, type Markup } from './markup.ts';

/** A longer token pushes its neighbours off the screen. */
const TOKEN_CHARACTERS = 40;
/** Escapes make it longer. */
const SEEN_CHARACTERS = 60;
/** What a tool tip holds; browsers cut longer ones themselves, at different places. */
const TITLE_CHARACTERS = 2_000;

/** The first `most` characters, whole ones; `text` itself where it has no more. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Two code units are the most that a character takes, so that the rest need not be looked at.
  const characters = [...text.slice(0, 2 * most)];
  return characters.length <= most && text.length <= 2 * most ? text : characters.slice(0, most).join('');
}

/** Running text; where it is cut its length is said. */
export function cutText(text: string, most: number): Markup {
  const shown = cut(text, most);
  return shown === text
    ? html`${readable(text)}`
    : html`${readable(shown)}… <small class="cut">${lengthOf(text)} in all</small>`;
}

/** A token as it is seen: nothing in it acts, and it keeps its direction to itself. */
export function tokenText(text: string): Markup {
  const shown = cut(text, TOKEN_CHARACTERS);
  const whole = shown === text;
  const seen = visible(shown);
  return html`<bdi>${readable(cut(seen, SEEN_CHARACTERS))}${(!whole || seen.length > SEEN_CHARACTERS) && '…'}</bdi>${!whole && html`<small class="cut"> ${lengthOf(text)}</small>`}`;
}

/** The tool tip of a token that is cut; nothing for any other. */
export function tokenTitle(text: string | undefined): string | undefined {
  if (text === undefined || cut(text, TOKEN_CHARACTERS) === text) return undefined;
  return readable(visible(cut(text, TITLE_CHARACTERS)));
}

/** Few fonts have the sign for a space that tokens are told with, and nearly all have this one. */
export function readable(text: string): string {
  return text.replaceAll('␠', '␣');
}

/** Text with `code` in it. */
export function withCode(text: string): Markup {
  const pieces = text.split(/`([^`\n]+)`/u);
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

function lengthOf(text: string): string {
  return plural(text.length, 'character');
}
