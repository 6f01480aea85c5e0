// HTML that cannot be injected into: what stands between the tags is escaped unless it is Markup already.

/** Made by `html`, `raw` or `join` only. */
export interface Markup {
  readonly markup: string;
}

export type Piece = Markup | string | number | undefined | false | readonly Piece[];

/** html`<td>${text}</td>`: strings and numbers are escaped, undefined and false print nothing, lists are joined. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return raw(strings.map((string, at) => string + textOf(pieces[at])).join(''));
}

/** Trusts its argument: for our own style sheet and script only. */
export function raw(markup: string): Markup {
  return { markup };
}

/**
 * Text as it may stand in a document and in an attribute. Lone surrogates cannot be written as UTF-8, and control and
 * format characters (zero width, right-to-left override) would act rather than be seen: both become escapes.
 */
export function escapeText(text: string): string {
  return text.replace(ACTING, escapeOf).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

// Newline and tab may stay: they only space the text. The zero-width joiner holds emoji together.
const ACTING = /(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function textOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (typeof piece === 'string') return escapeText(piece);
  if (typeof piece === 'number') return String(piece);
  return 'markup' in piece ? piece.markup : piece.map(textOf).join('');
}
