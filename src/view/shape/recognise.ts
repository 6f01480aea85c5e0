// Turns in a row of ids, by the headers that the chat template writes. Only headers that begin with a mark are looked
// for: words alone could be anybody's.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Ids, Role } from '../../vocabulary.ts';
import type { Answer, Range, TokenRow, Turn, ViewOptions } from '../row.ts';
import { isControl, type Writer } from '../writer.ts';

export type Recognised = Pick<TokenRow, 'turns' | 'roles' | 'answers' | 'said'>;

/** undefined where the template opens answers with no mark, or the row has no answer. */
export function turnsIn(ids: Ids, real: Range, options: ViewOptions): Recognised | undefined {
  const { writer } = options;
  const headers = writer === undefined ? undefined : headersOf(writer);
  if (headers === undefined) return undefined;
  const found: Found[] = [];
  for (let at = real.from; at < real.to; at++) {
    const header = headers.find(({ marks }) => marks.every((id, index) => ids[at + index] === id));
    if (header === undefined) continue;
    const { marks, whole } = header;
    // White space behind the header may have become one token with what follows.
    const length = whole.every((id, index) => ids[at + index] === id) ? whole.length : marks.length + 1;
    found.push({ name: header.name, at, from: Math.min(at + length, real.to) });
    at += marks.length - 1;
  }
  if (!found.some(({ name }) => name === 'assistant')) return undefined;
  return recognised(ids, real, found, stopsOf(options));
}

/** Every id that ends an answer, as far as is known. */
export function stopsOf({ tokenizer, writer, stops = [] }: ViewOptions): ReadonlySet<number> {
  const closing = writer?.stop === undefined ? undefined : tokenizer?.tokenId(writer.stop);
  return new Set([...stops, tokenizer?.eosTokenId, closing].filter((id) => id !== undefined));
}

// --- helpers ---

/** Who else may speak, as templates call them. */
const OTHERS = ['system', 'developer', 'tool', 'ipython', 'observation'] as const;
/** Whose words an engine or a tool writes. */
const TOOLS: ReadonlySet<string> = new Set(['tool', 'ipython', 'observation']);

interface Header {
  readonly name: 'user' | 'assistant' | (typeof OTHERS)[number];
  /** Its ids without the white space at its end, and with it. */
  readonly marks: Ids;
  readonly whole: Ids;
}

interface Found {
  readonly name: Header['name'];
  /** Column of the header, and of what it opens. */
  readonly at: number;
  readonly from: number;
}

const known = new WeakMap<Writer, readonly Header[] | undefined>();

function headersOf(writer: Writer): readonly Header[] | undefined {
  if (known.has(writer)) return known.get(writer);
  const assistant = headerOf(writer.tokenizer, 'assistant', writer.openers.assistant);
  const user = headerOf(writer.tokenizer, 'user', writer.openers.user);
  const headers =
    assistant === undefined || user === undefined
      ? undefined
      : [assistant, user, ...othersOf(writer.tokenizer, writer.openers)];
  known.set(writer, headers);
  return headers;
}

/** Where the headers of user and assistant differ in a word, those of the others differ in it as well. */
function othersOf(tokenizer: Tokenizer, { assistant, user }: Writer['openers']): readonly Header[] {
  const at = user.indexOf('user');
  const [front, behind] = [user.slice(0, at), user.slice(at + 'user'.length)];
  if (at < 0 || !assistant.startsWith(front) || !assistant.endsWith(behind)) return [];
  return OTHERS.flatMap((name) => headerOf(tokenizer, name, `${front}${name}${behind}`) ?? []);
}

function headerOf(tokenizer: Tokenizer, name: Header['name'], text: string): Header | undefined {
  const marks = tokenizer.encode(text.trimEnd());
  if (marks[0] === undefined || marks.length > MOST_MARKS || !isControl(tokenizer, marks[0]))
    return undefined;
  return { name, marks, whole: tokenizer.encode(text) };
}

/** Tokens of a header: it is looked for at every column. */
const MOST_MARKS = 64;

function recognised(ids: Ids, real: Range, found: readonly Found[], stops: ReadonlySet<number>): Recognised {
  const roles = ids.map((_, at): Role => (at < real.from || at >= real.to ? 'padding' : 'prompt'));
  const turns: Turn[] = [];
  const answers: Answer[] = [];
  const said: Range[] = [];
  const put = (name: string, from: number, to: number): void => {
    if (to > from) turns.push({ name, from, to });
  };
  put('padding', 0, real.from);
  const first = found[0]?.at ?? real.to;
  put('system', real.from, first);
  roles.fill('system', real.from, first);
  for (const [index, { name, at, from }] of found.entries()) {
    const next = found[index + 1]?.at ?? real.to;
    put(TOOLS.has(name) ? 'tool' : name, at, next);
    const stop = firstOf(ids, stops, from, next);
    if (name !== 'assistant') {
      said.push({ from, to: stop < 0 ? next : stop });
      if (name === 'system' || name === 'developer') roles.fill('system', at, next);
      continue;
    }
    const to = stop < 0 ? next : stop + 1;
    roles.fill('completion', from, to);
    if (stop >= 0) roles[stop] = 'stop';
    answers.push({ from, to, cut: stop < 0 && index === found.length - 1, ...(stop < 0 ? {} : { stop }) });
  }
  put('padding', real.to, ids.length);
  return { roles, turns, answers, said };
}

/** The column of the first of some ids within [from, to), or -1. */
function firstOf(ids: Ids, some: ReadonlySet<number>, from: number, to: number): number {
  for (let at = from; at < to; at++) if (some.has(ids[at] ?? -1)) return at;
  return -1;
}
