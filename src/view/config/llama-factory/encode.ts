// A conversation as LLaMA-Factory tokenises it: each slot of its template by itself, in pairs of question and answer, each
// pair cut by itself. Source: llamafactory/data/template.py (_encode, encode_multiturn) and
// llamafactory/data/processor/supervised.py (_encode_data_example), processor_utils.py (infer_seqlen).
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { layOnPieces } from '../../lay.ts';
import { rowOf, type TaggedPiece } from '../../piece-row.ts';
import type { Answer, TokenRow } from '../../row.ts';
import { controlIn } from '../../writer.ts';
import type { Talk, Turn } from './convert.ts';
import type { Encoding, Slot } from './template.ts';

/** undefined where tokens cannot be laid on the text. */
export function encodeTalk(talk: Talk, encoding: Encoding, tokenizer: Tokenizer): TokenRow | undefined {
  const { trainOnPrompt, maskHistory } = encoding;
  const pieces: TaggedPiece[] = [];
  const turns = thoughtless(talk.turns, encoding);
  const last = turns.length - 2;
  const pairs: Pair[] = [];
  for (let at = 0; at < turns.length; at += 2) {
    const [question, answer] = [turns[at], turns[at + 1]];
    if (question === undefined || answer === undefined) return undefined;
    const thought = thoughtFor(answer, at, last, encoding);
    const source = [...slotsOfQuestion(question, at, talk, encoding), ...thought.source];
    const target = [...thought.target, ...partsOfAnswer(answer.content, at + 1, encoding, tokenizer)];
    const trained = !maskHistory || at === last;
    const made = {
      source: tokensOf(
        source.map((part) => ({ ...part, trained: trainOnPrompt })),
        pieces,
        tokenizer,
      ),
      target: tokensOf(
        target.map((part) => ({ ...part, trained })),
        pieces,
        tokenizer,
      ),
    };
    if (made.source === undefined || made.target === undefined) return undefined;
    pairs.push({ source: made.source, target: made.target });
  }
  const kept = cutPairs(pairs, encoding);
  const tokens = kept.flatMap(({ source, target }) => [...source, ...target]);
  const whole = pairs.reduce((sum, { source, target }) => sum + source.length + target.length, 0);
  const row = rowOf(
    tokenizer,
    tokens.map(({ id }) => id),
    pieces,
    { first: tokens.map(({ first }) => first), last: tokens.map(({ last: end }) => end) },
    (turn) => turns[turn]?.role ?? 'system',
  );
  const cut = kept.filter(({ target }) => target.length > 0).map(({ cut: short }) => short);
  const answers = row.answers.map((answer, at): Answer => ({ ...answer, cut: cut[at] === true }));
  return { ...row, answers, lost: whole - tokens.length };
}

// --- helpers ---

/** A stretch of text that is tokenised by itself, in pieces; or one token. */
interface Part {
  readonly pieces: readonly Omit<TaggedPiece, 'trained'>[];
  readonly id?: number;
  readonly trained?: boolean;
}

interface Token {
  readonly id: number;
  readonly first: number;
  readonly last: number;
}

interface Pair {
  readonly source: readonly Token[];
  readonly target: readonly Token[];
}

function tokensOf(parts: readonly Part[], pieces: TaggedPiece[], tokenizer: Tokenizer): Token[] | undefined {
  const tokens: Token[] = [];
  for (const { pieces: own, id, trained = false } of parts) {
    const at = pieces.length;
    pieces.push(...own.map((piece) => ({ ...piece, trained })));
    if (id !== undefined) {
      tokens.push({ id, first: at, last: at });
      continue;
    }
    const texts = own.map(({ text }) => text);
    const ids = tokenizer.encode(texts.join(''));
    const laid = layOnPieces(tokenizer, texts, ids);
    if (laid === undefined) return undefined;
    for (const [index, each] of ids.entries())
      tokens.push({ id: each, first: at + (laid.first[index] ?? 0), last: at + (laid.last[index] ?? 0) });
  }
  return tokens;
}

const frame = (text: string, turn: number): Part['pieces'][number] => ({
  text,
  role: 'prompt',
  turn,
  part: 'frame',
  answer: false,
});

function slotsOfQuestion(
  { content }: Turn,
  at: number,
  talk: Talk,
  { template, defaultSystem, tokens }: Encoding,
): Part[] {
  const parts: Part[] = [];
  let text = content;
  const system = talk.system === '' ? defaultSystem : talk.system;
  if (at === 0) {
    parts.push(...template.prefix.flatMap((slot) => plainPart(slot, tokens, -1)));
    if (system !== '') {
      const [first] = template.system;
      // Llama2Template writes the system text into the first question.
      if (template.class === 'Llama2Template')
        text = `${typeof first === 'string' ? first.replace('{{content}}', () => system) : ''}${content}`;
      else parts.push(...template.system.flatMap((slot) => filledPart(slot, system, tokens, -1)));
    }
  }
  const number = String(at / 2);
  for (const slot of template.user) {
    const filled =
      typeof slot === 'string' && template.class !== 'Llama2Template'
        ? slot.replace('{{idx}}', number)
        : slot;
    parts.push(...filledPart(filled, text, tokens, at));
  }
  return parts;
}

function plainPart(slot: Slot, tokens: Encoding['tokens'], turn: number): Part[] {
  if (typeof slot === 'string') return slot === '' ? [] : [{ pieces: [frame(slot, turn)] }];
  const token = tokens(slot);
  return token === undefined ? [] : [{ pieces: [frame(token.text, turn)], id: token.id }];
}

function filledPart(slot: Slot, content: string, tokens: Encoding['tokens'], turn: number): Part[] {
  if (typeof slot !== 'string' || !slot.includes(HOLE)) return plainPart(slot, tokens, turn);
  const [before = '', ...rest] = slot.split(HOLE);
  // Only the first hole is filled.
  const after = rest.join(HOLE);
  const all = [
    frame(before, turn),
    { ...frame(content, turn), part: 'content' as const },
    ...tailOf(after, turn),
  ].filter(({ text }) => text !== '');
  return all.length === 0 ? [] : [{ pieces: all }];
}

const HOLE = '{{content}}';

/** What closes the question, and the header of the answer, where a second mark begins it. */
function tailOf(after: string, turn: number): Part['pieces'] {
  const header = after.search(/(?<=[>\]][\s\S]*)[<[]/);
  return turn < 0 || header < 0
    ? [frame(after, turn)]
    : [frame(after.slice(0, header), turn), frame(after.slice(header), turn + 1)];
}

function partsOfAnswer(
  content: string,
  turn: number,
  { template, tokens }: Encoding,
  tokenizer: Tokenizer,
): Part[] {
  const own = (text: string, part: 'content' | 'stop' | 'frame'): Part['pieces'][number] => ({
    text,
    role: part === 'stop' ? 'stop' : 'completion',
    turn,
    part,
    answer: true,
  });
  return template.assistant.flatMap((slot): Part[] => {
    if (typeof slot !== 'string') {
      const token = tokens(slot);
      return token === undefined ? [] : [{ pieces: [own(token.text, 'stop')], id: token.id }];
    }
    if (slot === '') return [];
    if (!slot.includes(HOLE)) return [{ pieces: [frame(slot, turn)] }];
    const [before = '', ...rest] = slot.split(HOLE);
    const after = rest.join(HOLE);
    const stop = controlIn(tokenizer, after);
    const end = stop === undefined ? 0 : stop.at + stop.text.length;
    const all = [
      own(before, 'frame'),
      own(content, 'content'),
      own(stop === undefined ? '' : after.slice(0, stop.at), 'frame'),
      own(stop?.text ?? '', 'stop'),
      frame(after.slice(end), turn),
    ].filter(({ text }) => text !== '');
    return all.length === 0 ? [] : [{ pieces: all }];
  });
}

/** Of templates that think: earlier thoughts may go, and an answer without one gets an empty thought. */
function thoughtless(
  turns: readonly Turn[],
  { template, thinking, maskHistory, preserve }: Encoding,
): Turn[] {
  if (template.class !== 'ReasoningTemplate') return [...turns];
  return turns.map((turn, at) => {
    const goes = thinking === false || (maskHistory && !preserve && at < turns.length - 2);
    return at % 2 === 1 && goes ? { ...turn, content: withoutThought(turn.content, template.thought) } : turn;
  });
}

function withoutThought(content: string, [open, close]: readonly [string, string]): string {
  let rest = content;
  for (let from = rest.indexOf(open); from >= 0; from = rest.indexOf(open, from)) {
    const end = rest.indexOf(close, from + open.length);
    if (end < 0) break;
    rest = rest.slice(0, from) + rest.slice(end + close.length);
  }
  return rest.replace(/^\n+/, '');
}

function thoughtFor(
  { content }: Turn,
  at: number,
  last: number,
  { template, thinking, maskHistory, preserve }: Encoding,
): { readonly source: Part[]; readonly target: Part[] } {
  const none = { source: [], target: [] };
  if (template.class !== 'ReasoningTemplate' || (maskHistory && !preserve && at !== last)) return none;
  const [open, close] = template.thought;
  if (content.includes(open.trim()) || content.includes(close.trim())) return none;
  const turn = at + 1;
  const text = open + close;
  return thinking === true
    ? { source: [], target: [{ pieces: [{ text, role: 'completion', turn, part: 'frame', answer: true }] }] }
    : { source: [{ pieces: [frame(text, turn)] }], target: [] };
}

function cutPairs(
  pairs: readonly Pair[],
  { cutoff, maskHistory }: Encoding,
): (Pair & { readonly cut: boolean })[] {
  const kept: (Pair & { readonly cut: boolean })[] = [];
  let total = 0;
  for (const { source, target } of maskHistory ? pairs.toReversed() : pairs) {
    if (total >= cutoff) break;
    const [from, to] = roomFor(source.length, target.length, cutoff - total);
    total += from + to;
    kept.push({ source: source.slice(0, from), target: target.slice(0, to), cut: to < target.length });
  }
  return maskHistory ? kept.reverse() : kept;
}

/** infer_seqlen: the shorter of the two is spared. */
function roomFor(source: number, target: number, room: number): readonly [number, number] {
  const most =
    target * 2 < room
      ? room
      : source * 2 < room
        ? room - source
        : Math.trunc(room * (target / (source + target)));
  const to = Math.min(most, target);
  return [Math.min(Math.max(room - to, 0), source), to];
}
