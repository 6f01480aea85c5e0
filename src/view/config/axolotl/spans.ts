// Where the words of a turn are among the tokens of a conversation: rendered with other words in their place, it differs
// there alone. Source: _find_turn_from_text, find_first_eos_token in axolotl/prompt_strategies/chat_template.py.
import { layOnPieces } from '../../lay.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import type { WriteOptions, Writer } from '../../writer.ts';

/** Contents that no two of which share a letter at either end: what a template glues to one, the other shows. */
const STANDINS = ['[[dummy_message]]', 'zzdummymessagezz'];

interface Looking {
  readonly text: string;
  readonly ids: readonly number[];
  readonly writer: Writer;
  readonly options: WriteOptions;
  /** The first system text is never looked for. */
  readonly mistral: boolean;
}

/** Tokens of a turn's words; -1, -1 where they are not printed. */
export function spanOf(
  turns: readonly ChatMessage[],
  at: number,
  { text, ids, writer, options, mistral }: Looking,
): { readonly from: number; readonly to: number } | undefined {
  const none = { from: -1, to: -1 };
  const turn = turns[at];
  if (turn === undefined || (at === 0 && turn.role === 'system' && mistral)) return none;
  let [from, to] = [text.length, 0];
  for (const content of STANDINS) {
    const other = writer.render(
      turns.map((each, index) => (index === at ? { role: turn.role, content } : each)),
      options,
    );
    if ('problem' in other) return undefined;
    const most = Math.min(text.length, other.text.length);
    let start = 0;
    while (start < most && text[start] === other.text[start]) start++;
    let end = 0;
    while (end < most - start && text.at(-1 - end) === other.text.at(-1 - end)) end++;
    from = Math.min(from, start);
    to = Math.max(to, text.length - end);
  }
  if (to <= from) return none;
  const laid = layOnPieces(
    writer.tokenizer,
    [text.slice(0, from), text.slice(from, to), text.slice(to)],
    ids,
  );
  if (laid === undefined) return undefined;
  const first = ids.findIndex((_, index) => (laid.last[index] ?? 0) >= 1);
  const after = ids.findIndex((_, index) => (laid.first[index] ?? 0) >= 2);
  const last = after < 0 ? ids.length : after;
  return first < 0 || last <= first ? none : { from: first, to: last };
}

/** As Python looks, from the last token where the place is -1. */
export function endAfter(ids: readonly number[], from: number, isEnd: (id: number) => boolean): number {
  if (from < 0 && isEnd(ids.at(-1) ?? -1)) return -1;
  for (let at = Math.max(0, from); at < ids.length; at++) if (isEnd(ids[at] ?? -1)) return at;
  return -1;
}
