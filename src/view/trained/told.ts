// Train flags laid on a rendered conversation: which ranges of its text are trained, what is odd about the flags, and
// what had to be assumed.
import type { Fault } from '../flags.ts';
import type { Piece } from '../piece.ts';
import type { Range, TrainOn } from '../row.ts';
import { type ChatMessage, contentText } from '../shape/messages.ts';
import { readersOf, type Stretch, type Told, toldIn } from '../shape/train-flags.ts';

/** A range of an answer; `turn` is the index of its message. */
export interface Placed extends Range {
  readonly turn?: number;
}

/** One range per answer. */
export function answerRanges(pieces: readonly Piece[]): Placed[] {
  const ranges = new Map<number, Placed>();
  let at = 0;
  for (const { text, turn, answer } of pieces) {
    const to = at + text.length;
    if (answer) ranges.set(turn, { from: ranges.get(turn)?.from ?? at, to, turn });
    at = to;
  }
  return [...ranges.values()];
}

/** Ranges that the template marks, each with the answer that it overlaps; both are in order. */
export function withTurnsOf(marked: readonly Range[], answers: readonly Placed[]): Placed[] {
  let next = 0;
  return marked.map(({ from, to }) => {
    while (next < answers.length && (answers[next]?.to ?? 0) <= from) next++;
    const answer = answers[next];
    const turn = answer !== undefined && answer.from < to ? answer.turn : undefined;
    return { from, to, ...(turn === undefined ? {} : { turn }) };
  });
}

export interface Telling {
  readonly told: ReadonlyMap<number, Told>;
  readonly messages: readonly ChatMessage[];
  readonly pieces: readonly Piece[];
  /** Answers that say nothing are trained; otherwise the last alone. */
  readonly all: boolean;
}

/** A flag decides about its own answer alone; the others follow the convention. */
export function toldRanges(answers: readonly Placed[], telling: Telling): Range[] {
  const { told, all } = telling;
  const contents = new Map<number, Range>();
  let at = 0;
  for (const { text, turn, answer, part } of telling.pieces) {
    if (answer && part === 'content') contents.set(turn, { from: at, to: at + text.length });
    at += text.length;
  }
  return answers.flatMap((answer, index) => {
    const own = told.get(answer.turn ?? -1);
    const content = contents.get(answer.turn ?? -1);
    if (own?.only !== undefined && content !== undefined) return detailed(answer, content, own.only, telling);
    return (own?.trained ?? (all || index === answers.length - 1)) ? [answer] : [];
  });
}

/** What is odd about the flags of a conversation. */
export function toldFaults(messages: readonly ChatMessage[]): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const add = (id: Fault['id'], sentence: string): void => {
    if (!seen.has(id)) faults.push({ id, sentence, columns: [] });
    seen.add(id);
  };
  for (const [at, own] of toldIn(messages)) {
    const who = `Message ${at}, of role '${messages[at]?.role.slice(0, SHOWN_CHARACTERS)}',`;
    if (own.text !== undefined)
      add('text-train-flag', `${who} says ${own.text}: a text, and so true in Python.`);
    if (own.odd !== undefined) add('odd-train-flag', `${who} says ${own.odd}.`);
    else if (own.trained === true && own.text === undefined && messages[at]?.role !== 'assistant')
      add('prompt-flagged', `${who} says by "${own.names[0]}" that it is trained.`);
  }
  return faults;
}

export function toldAssumption(messages: readonly ChatMessage[], target: TrainOn): string[] {
  const told = toldIn(messages);
  const names = [...new Set([...told.values()].flatMap((own) => own.names))].sort();
  if (names.length === 0) return [];
  if (target === 'all')
    return [`train flags of messages (${names.join(', ')}) are not read, because of --train-on all`];
  return [
    `an answer's own train flag decides about it: ${readersOf(names)}; absent and null say nothing, and TRL reads no flags`,
  ];
}

// --- helpers ---

/** Characters of a foreign text shown in a sentence. */
const SHOWN_CHARACTERS = 40;

/** The stretches of a content, and all that the template puts around it, such as the stop token. */
function detailed(
  answer: Placed,
  content: Range,
  only: readonly Stretch[],
  { messages }: Telling,
): readonly Range[] {
  const whole = contentText(messages[answer.turn ?? -1]?.content);
  // White space at the ends may be gone; of a content that was changed otherwise nothing can be placed.
  const lead = whole.length - whole.trimStart().length;
  const shift = content.to - content.from === whole.length ? 0 : lead;
  const ranges = only.map(({ from, to }) => ({
    from: Math.max(content.from, content.from + from - shift),
    to: Math.min(content.to, content.from + to - shift),
  }));
  return [...ranges, { from: Math.max(content.to, answer.from), to: answer.to }].filter(
    ({ from, to }) => to > from,
  );
}
