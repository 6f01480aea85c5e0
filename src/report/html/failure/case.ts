// A case as JSON that can be read: short values on one line, and those that do not matter dimmed and underlined with
// dots. A long case is cut: it is read in its file.
import type { CasePath } from '../../../check/events.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { cut } from '../page/text.ts';

/** A case and the legend of what is marked in it. */
export function caseBlock(given: unknown, anyValue: readonly CasePath[] = []): Markup {
  if (given === undefined) return html``;
  const text = flat(given);
  if (text.length > MOST_CHARACTERS)
    return html`<pre class="case">${cut(text, MOST_CHARACTERS)}…</pre><p class="note">Cut here: the case has ${plural(text.length, 'character')}.</p>`;
  const any = new Set(anyValue.map((path) => JSON.stringify(path)));
  const legend =
    any.size > 0 &&
    html`<p class="note"><span class="any">dotted</span> any value fails: ${any.size === 1 ? '1 value does not matter' : `${any.size} values do not matter, each by itself`}.</p>`;
  return html`<pre class="case">${lay(given, [], '', any)}</pre>${legend}`;
}

/** What is read on a page; a longer case is copied from its file. */
const MOST_CHARACTERS = 4_000;
/** A line that is no longer than this is not broken. */
const LINE = 80;
const INDENT = 2;
/** Comma and space. */
const SEPARATOR = 2;

type Any = ReadonlySet<string>;

/** `label` is what stands before the value on its line. */
function lay(value: unknown, path: CasePath, label: string, any: Any): Markup {
  const entries = entriesOf(value);
  if (entries === undefined) return leaf(value, path, any);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const outer = path.length * INDENT;
  if (outer + label.length + flat(value).length <= LINE) return inline(value, path, any);
  const inner = outer + INDENT;
  let used = 0;
  // Values without parts fill their lines; any other stands on its own.
  const items = entries.map(({ key, label: name, value: item }, at) => {
    const width = name.length + flat(item).length + SEPARATOR;
    const fills = Array.isArray(value) && entriesOf(item) === undefined && at > 0 && used + width <= LINE;
    used = fills ? used + width : inner + width;
    return html`${at > 0 && ','}${fills ? ' ' : `\n${' '.repeat(inner)}`}${name}${lay(item, [...path, key], name, any)}`;
  });
  return html`${open}${items}\n${' '.repeat(outer)}${close}`;
}

function inline(value: unknown, path: CasePath, any: Any): Markup {
  const entries = entriesOf(value);
  if (entries === undefined) return leaf(value, path, any);
  const items = entries.map(
    ({ key, label, value: item }, at) => html`${at > 0 && ', '}${label}${inline(item, [...path, key], any)}`,
  );
  return Array.isArray(value) ? html`[${items}]` : html`{${items}}`;
}

function leaf(value: unknown, path: CasePath, any: Any): Markup {
  // Two neighbours that are written from the right would change places.
  const text = typeof value === 'string' ? html`<bdi>${flat(value)}</bdi>` : html`${flat(value)}`;
  return any.has(JSON.stringify(path)) ? html`<span class="any">${text}</span>` : text;
}

interface Entry {
  readonly key: string | number;
  readonly label: string;
  readonly value: unknown;
}

function entriesOf(value: unknown): readonly Entry[] | undefined {
  if (Array.isArray(value)) return value.map((item, key) => ({ key, label: '', value: item }));
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => ({ key, label: `${quoted(key)}: `, value: item }));
}

/** On one line, numbers as the protocol writes them. */
function flat(value: unknown): string {
  const entries = entriesOf(value);
  if (entries !== undefined) {
    const text = entries.map(({ label, value: item }) => label + flat(item)).join(', ');
    return Array.isArray(value) ? `[${text}]` : `{${text}}`;
  }
  if (typeof value === 'string') return quoted(value);
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** What has no width or turns the line around is escaped as JSON does it, so that what is copied is what was meant. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
