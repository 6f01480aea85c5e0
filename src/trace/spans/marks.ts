// What a chat template writes before each role's content, as ids that can be found in a row, and what must stand before
// such a header where the template wrote it: a user can type a header, but hardly the end of the turn before it.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { stopsOf } from '../../view/shape/recognise.ts';
import { controlIn, isControl, type Writer } from '../../view/writer.ts';
import type { Ids } from '../../vocabulary.ts';

export type Speaker = 'system' | 'user' | 'assistant' | 'tool';

export interface Header {
  readonly name: Speaker;
  /** Its ids without the white space at its end, and with it. */
  readonly marks: Ids;
  readonly whole: Ids;
}

export interface Marks {
  readonly tokenizer: Tokenizer;
  /** The longest first: one may begin like another. */
  readonly headers: readonly Header[];
  /** Ids that end an answer. */
  readonly stops: ReadonlySet<number>;
  /** Ids that the template ends turns with, of any role. */
  readonly closers: ReadonlySet<number>;
  /** "user>assistant": a turn that is always closed before the next header. */
  readonly closed: ReadonlySet<string>;
  /** The token that the template ends answers with; undefined where it writes none. */
  readonly closing: number | undefined;
  kindOf(id: number): Kind;
  /** So many tokens at the beginning of an answer, [from, to), open or close a thought: a generation prompt may have them. */
  thoughtAt(ids: Ids, from: number, to: number): number;
}

export type Kind = 'white' | 'control' | 'word';

/** undefined where the template opens answers with no mark of its own. */
export function marksOf(writer: Writer): Marks | undefined {
  const { tokenizer } = writer;
  const glues = ARRANGEMENTS.flatMap((roles) => gluesOf(writer, roles));
  const openers: [Speaker, string][] = [
    ['assistant', assistantOpener(writer, glues)],
    ['user', writer.openers.user],
    ['tool', toolOpener(writer, glues)],
    ['system', systemOpener(writer)],
  ];
  const headers = openers.flatMap(([name, text]) => headerOf(tokenizer, name, text));
  if (!headers.some(({ name }) => name === 'assistant')) return undefined;
  const stops = stopsOf({ tokenizer, writer, truncationSide: 'right' });
  const closing = writer.stop === undefined ? undefined : tokenizer.tokenId(writer.stop);
  const closers = new Set(closing === undefined ? stops : [closing]);
  const closed = new Set<string>();
  for (const { from, to, text } of glues) {
    const opener = openers.find(([name]) => name === to)?.[1].trim() ?? '';
    const at = opener === '' ? -1 : text.lastIndexOf(opener);
    const last = tokenizer.encode(at < 0 ? '' : text.slice(0, at).trim()).at(-1);
    if (last === undefined || !isControl(tokenizer, last)) continue;
    closers.add(last);
    closed.add(`${from}>${to}`);
  }
  return {
    tokenizer,
    headers: headers.sort((left, right) => right.marks.length - left.marks.length),
    stops,
    closers,
    closed,
    closing,
    kindOf: kinds(tokenizer),
    thoughtAt: (ids, from, to) => thoughtAt(writer, ids, from, to),
  };
}

/** What a token is to the eye of a reader of turns. */
export function kinds(tokenizer: Tokenizer): (id: number) => Kind {
  const known = knownKinds.get(tokenizer) ?? new Map<number, Kind>();
  knownKinds.set(tokenizer, known);
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const kind = isControl(tokenizer, id)
      ? 'control'
      : tokenizer.decode([id]).trim() === ''
        ? 'white'
        : 'word';
    known.set(id, kind);
    return kind;
  };
}

/**
 * So many tokens at the beginning of an answer open or close a thought. A generation prompt may contain them, and then
 * they are no answer; where it does not, they are.
 */
export function thoughtAt({ template, tokenizer }: Writer, ids: Ids, from: number, to: number): number {
  // A template that knows of no thoughts leaves them to the answer.
  if (!template.includes('think')) return 0;
  const most = Math.min(MOST_THOUGHT, to - from);
  if (!THOUGHT.test(tokenizer.decode(ids.slice(from, from + most)).trimStart())) return 0;
  for (let length = most; length > 0; length--)
    if (ONLY_THOUGHT.test(tokenizer.decode(ids.slice(from, from + length)))) return length;
  return 0;
}

/**
 * So many tokens before an answer are a thought that the template wrote there, an empty one as a rule: it stands between
 * header and content, and trainers differ in whether they take it for the answer's.
 */
export function thoughtBefore({ template, tokenizer }: Writer, ids: Ids, from: number): number {
  if (!template.includes('think')) return 0;
  for (let length = Math.min(MOST_THOUGHT, from); length > 0; length--) {
    const text = tokenizer.decode(ids.slice(from - length, from));
    if (THOUGHT.test(text) && ONLY_THOUGHT.test(text)) return length;
  }
  return 0;
}

// --- helpers ---

const knownKinds = new WeakMap<Tokenizer, Map<number, Kind>>();

const THOUGHT = /^<\/?think(?:ing)?>/u;
const ONLY_THOUGHT = /^(?:\s*<\/?think(?:ing)?>)+\s*$/u;
/** Tokens looked at: an empty thought of a vocabulary without tokens for it has about ten. */
const MOST_THOUGHT = 16;

const ARRANGEMENTS: readonly (readonly Speaker[])[] = [
  ['user', 'assistant', 'user', 'assistant'],
  ['system', 'user', 'assistant'],
  ['user', 'assistant', 'tool', 'assistant'],
];

/** What the template writes between the contents of two messages. */
interface Glue {
  readonly from: Speaker;
  readonly to: Speaker;
  readonly text: string;
}

function gluesOf(writer: Writer, roles: readonly Speaker[]): Glue[] {
  // The contents are sentinels; a template that refuses the arrangement has nothing to teach.
  const skeleton = writer.skeleton(roles.map((role) => ({ role, content: '' })));
  if ('problem' in skeleton) return [];
  return skeleton.flatMap((part, at) => {
    const [before, after] = [skeleton[at - 1], skeleton[at + 1]];
    if (!('glue' in part) || before === undefined || after === undefined) return [];
    const from = 'message' in before ? roles[before.message] : undefined;
    const to = 'message' in after ? roles[after.message] : undefined;
    return from === undefined || to === undefined ? [] : [{ from, to, text: part.glue }];
  });
}

/** The generation prompt without the thought that it may open; where there is none, what ends the user's turn. */
function assistantOpener({ openers }: Writer, glues: readonly Glue[]): string {
  if (openers.assistant !== '') return withoutThought(openers.assistant);
  return withoutThought(glues.find(({ from, to }) => from === 'user' && to === 'assistant')?.text ?? '');
}

function withoutThought(text: string): string {
  return text.replace(/(?:<\/?think(?:ing)?>\s*)+$/u, '');
}

function toolOpener({ closing }: Writer, glues: readonly Glue[]): string {
  const glue = glues.find(({ from, to }) => from === 'assistant' && to === 'tool')?.text ?? '';
  return closing !== '' && glue.startsWith(closing) ? glue.slice(closing.length).trimStart() : '';
}

function systemOpener({ skeleton, tokenizer }: Writer): string {
  const roles = ['system', 'user', 'assistant'];
  const parts = skeleton(roles.map((role) => ({ role, content: '' })));
  const [first, second] = 'problem' in parts ? [] : parts;
  if (first === undefined || second === undefined || !('glue' in first)) return '';
  const bos = tokenizer.bosTokenId === undefined ? '' : (tokenizer.token(tokenizer.bosTokenId) ?? '');
  const text = first.glue.startsWith(bos) ? first.glue.slice(bos.length) : first.glue;
  return 'message' in second && roles[second.message] === 'system' ? text.trimStart() : '';
}

function headerOf(tokenizer: Tokenizer, name: Speaker, text: string): Header[] {
  // Only a header that begins with a mark: words alone could be anybody's.
  const control = controlIn(tokenizer, text);
  if (control === undefined || control.at !== 0) return [];
  return [{ name, marks: tokenizer.encode(text.trimEnd()), whole: tokenizer.encode(text) }];
}
