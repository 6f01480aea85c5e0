// Rows of which nothing is known but their ids: turns by the marks of the tokenizer's own chat template. Where contents
// may have been typed to look like marks, and cannot be told from them, nothing is expected.
import type { TrainOn } from '../../view/row.ts';
import type { Ids } from '../../vocabulary.ts';
import type { RowIds, Spans } from '../ledger.ts';
import type { Header, Marks, Speaker } from './marks.ts';
import { annotatedSpans, blankOf, type Expected, lay, put, type Stretch, walkOf } from './walk.ts';

/** undefined: none of the template's headers stands in the row. */
export function templateSpans(row: RowIds, marks: Marks, trainOn: TrainOn | undefined): Spans | undefined {
  const walk = walkOf(row);
  const { tokenizer, stops } = marks;
  const pad = tokenizer.padTokenId;
  let [start, end] = [0, walk.count];
  // Padding that the attention mask does not know of.
  while (start < end && walk.ids[start] === pad && pad !== tokenizer.bosTokenId) start++;
  while (end > start && walk.ids[end - 1] === pad) end--;
  // A stop token with the padding's id, and one that the trainer put behind it, are not padding yet.
  if (pad !== undefined && stops.has(pad)) end = Math.min(walk.count, end + MOST_STOPS);
  const next = walk.ids[end];
  // Where the padding is told by the id of the stop token, the first of it behind an answer is the stop token.
  const hidden = end === walk.count && row.attention === undefined && next === marks.closing;
  const stretch = turnsIn(walk.ids.slice(start, end + (hidden ? 1 : 0)), marks, trainOn);
  if (stretch === undefined) return undefined;
  const annotation = blankOf(row);
  put(annotation, walk, 0, start, 'padding', false);
  put(annotation, walk, end, walk.count, 'padding', false);
  lay(annotation, walk, start, hidden && !isStop(stretch) ? shortened(stretch) : stretch);
  return annotatedSpans(annotation, { kind: 'template' });
}

/** The turns of a text of ids; undefined where it has no header. */
export function turnsIn(ids: Ids, marks: Marks, trainOn: TrainOn | undefined): Stretch | undefined {
  const found = headersIn(ids, marks);
  const [first] = found;
  if (first === undefined) return undefined;
  const roles: Stretch['roles'][number][] = ids.map(() => 'prompt');
  const expected: Expected[] = ids.map(() => false);
  const completions: { from: number; to: number; stop?: number }[] = [];
  const fill = (from: number, to: number, value: Expected): void => {
    expected.fill(value, from, Math.max(from, to));
  };
  // Cut at its left, a row may begin within an answer.
  if (ids[0] !== marks.tokenizer.bosTokenId) fill(0, first.at, undefined);
  else roles.fill('system', 0, first.at);
  const conversations = conversationsIn(ids, found, marks);
  for (const [index, { name, at, from, sure }] of found.entries()) {
    const next = found[index + 1]?.at ?? ids.length;
    if (!sure) fill(from, Math.min(from + 1, next), undefined);
    if (name === 'tool' || name === 'system') roles.fill(name, at, next);
    // Behind the end of a turn the template writes a mark. Words there were typed, or the end was, and so may the header
    // be: of a prompt that is text, with a completion behind it.
    const typed = wordsBehind(ids, from, next, marks);
    if (name !== 'assistant') {
      if (typed !== undefined) fill(typed, next, undefined);
      continue;
    }
    const answer = answerIn(ids, from, next, marks);
    const last = !found.slice(index + 1).some((other) => other.name === 'assistant');
    const target =
      answer.unclosed || typed !== undefined ? undefined : expectationOf(last, conversations > 1, trainOn);
    roles.fill('completion', from, answer.to);
    fill(from, answer.to, target);
    if (target === true)
      fill(from, from + Math.max(marks.thoughtAt(ids, from, answer.to), sure ? 0 : 1), undefined);
    if (answer.stop !== undefined) roles[answer.stop] = 'stop';
    if (answer.to > from) completions.push({ from, to: answer.to, ...stopOf(answer.stop) });
    // Behind the stop token what is no header of the template may be the answer's own, in which the token was spelled.
    const again = found[index + 1]?.name === 'assistant';
    fill(answer.to, again ? (found[index + 1]?.from ?? next) : next, undefined);
  }
  for (const [at, id] of ids.entries()) if (id === marks.tokenizer.bosTokenId) expected[at] = undefined;
  if (trainOn === 'all')
    for (const [at, each] of expected.entries()) if (each === false) expected[at] = undefined;
  return { roles, expected, completions };
}

// --- helpers ---

/** The template's own, and another one behind it. */
const MOST_STOPS = 2;

interface Found {
  readonly name: Speaker;
  /** Token of the header, and of what it opens. */
  readonly at: number;
  readonly from: number;
  /** The header's white space is a token of its own; otherwise the first token of the content may be half header. */
  readonly sure: boolean;
}

interface Answer {
  /** Behind its stop token. */
  readonly to: number;
  readonly stop: number | undefined;
  /** Another turn begins, and this one was not ended as the template ends it. */
  readonly unclosed: boolean;
}

const stopOf = (stop: number | undefined): { stop?: number } => (stop === undefined ? {} : { stop });

function headersIn(ids: Ids, marks: Marks): Found[] {
  const found: Found[] = [];
  for (let at = 0; at < ids.length; at++) {
    const header = marks.headers.find((each) => each.marks.every((id, index) => ids[at + index] === id));
    if (header === undefined || !isWritten(ids, at, header, found.at(-1), marks)) continue;
    const sure = header.whole.every((id, index) => ids[at + index] === id);
    const from = Math.min(at + (sure ? header.whole : header.marks).length, ids.length);
    found.push({ name: header.name, at, from, sure });
    at += header.marks.length - 1;
  }
  return found;
}

/** The turn before it was ended, where the template always ends it. */
function isWritten(ids: Ids, at: number, header: Header, before: Found | undefined, marks: Marks): boolean {
  const { bosTokenId, eosTokenId } = marks.tokenizer;
  let previous = at - 1;
  // A trainer may have put EOS between two conversations.
  const skips = (id = -1): boolean =>
    marks.kindOf(id) === 'white' || (id === eosTokenId && !marks.closers.has(id));
  while (previous >= 0 && skips(ids[previous])) previous--;
  const id = ids[previous];
  if (id === undefined || id === bosTokenId || marks.closers.has(id)) return true;
  // What stands before a system message is the end of another conversation.
  if (header.name === 'system') return before === undefined || marks.closing === undefined;
  return !marks.closed.has(`${before?.name ?? 'system'}>${header.name}`);
}

function answerIn(ids: Ids, from: number, next: number, marks: Marks): Answer {
  const { stops, kindOf } = marks;
  let stop = from;
  while (stop < next && !stops.has(ids[stop] ?? -1)) stop++;
  if (stop >= next) {
    const open = next < ids.length;
    // White space before the next header may be the template's.
    let end = next;
    while (open && end > from && kindOf(ids[end - 1] ?? -1) === 'white') end--;
    return { to: end, stop: undefined, unclosed: open && marks.closing !== undefined };
  }
  return { to: stop + 1, stop, unclosed: false };
}

/** The first token behind an end of the turn [from, next) that is followed by a word, if there is one. */
function wordsBehind(ids: Ids, from: number, next: number, { closers, kindOf }: Marks): number | undefined {
  for (let end = from; end < next; end++) {
    if (!closers.has(ids[end] ?? -1)) continue;
    let at = end + 1;
    while (at < next && kindOf(ids[at] ?? -1) === 'white') at++;
    if (at < next && kindOf(ids[at] ?? -1) === 'word') return end + 1;
  }
  return undefined;
}

/** An earlier answer may be a part of the prompt: of a preference, or of data that say what the prompt is. */
function expectationOf(last: boolean, packed: boolean, trainOn: TrainOn | undefined): Expected {
  if (last || trainOn === 'assistant' || trainOn === 'all') return true;
  return trainOn === 'last' && !packed ? false : undefined;
}

/** Conversations packed into one row, as far as BOS tells. */
function conversationsIn(ids: Ids, found: readonly Found[], { tokenizer, kindOf }: Marks): number {
  const bos = tokenizer.bosTokenId;
  const begun = ids.filter((id, at) => at > 0 && id === bos && ids[at - 1] !== bos).length;
  if (begun > 0) return begun + 1;
  // Behind an answer a turn of a role that was not looked for: a system message, and with it another conversation.
  const others = found.filter(({ name, from }, index) => {
    const next = found[index + 1]?.at ?? ids.length;
    return (
      name === 'assistant' && ids.slice(from, next).some((id) => kindOf(id) === 'control' && id === ids[0])
    );
  });
  return others.length + 1;
}

const isStop = ({ roles, completions }: Stretch): boolean => completions.at(-1)?.stop === roles.length - 1;

function shortened({ roles, expected, completions }: Stretch): Stretch {
  const length = roles.length - 1;
  return {
    roles: roles.slice(0, length),
    expected: expected.slice(0, length),
    completions: completions.map((each) => ({ ...each, to: Math.min(each.to, length) })),
  };
}
