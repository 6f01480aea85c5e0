// What the template makes of contents and turns: a content that it prints in part or otherwise than it is, turns that it opens
// alike, and a prompt for the model to answer that opens the answer otherwise than the rows do.
import { includesText } from '../../outside/text.ts';
import type { Fault } from '../flags.ts';
import { type ChatMessage, callsOf } from '../shape/messages.ts';
import type { Part, Writer } from '../writer.ts';

/** @param skeleton empty where it cannot be had */
export function printedFaults(
  { messages, text, skeleton }: { messages: readonly ChatMessage[]; text: string; skeleton: readonly Part[] },
  writer: Writer,
): Fault[] {
  return [...changedContent(messages, text, skeleton), ...turnNotes(messages, writer)];
}

// --- helpers ---

const squeezed = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** Characters that are searched for contents that are not where they are expected: a second. */
const MOST_LOOKING = 2 ** 28;
const SHOWN_CHARACTERS = 40;

/** Thoughts and places of images are taken out by right, and what a tool says may be written as JSON. */
const mayBeOther = ({ role, content }: ChatMessage): boolean =>
  role === 'tool' || typeof content !== 'string' || /<\/?think|<\|?(?:image|video|audio)/i.test(content);

function changedContent(messages: readonly ChatMessage[], text: string, skeleton: readonly Part[]): Fault[] {
  const printed = new Set(skeleton.flatMap((part) => ('message' in part ? [part.message] : [])));
  const whole = squeezed(text);
  let [from, left] = [0, MOST_LOOKING];
  for (const [at, message] of messages.entries()) {
    if (!printed.has(at) || mayBeOther(message) || callsOf(message).length > 0) continue;
    const content = squeezed(message.content as string);
    const next = whole.indexOf(content, from);
    if (next >= 0) {
      from = next + content.length;
      continue;
    }
    left -= whole.length;
    if (left < 0) return [];
    if (includesText(whole, content)) continue;
    const kept = startIn(whole, content);
    const what = `Message ${at}, of role '${message.role}',`;
    const shown = JSON.stringify(content.slice(kept, kept + SHOWN_CHARACTERS));
    const sentence =
      kept < FEWEST
        ? `${what} is printed otherwise than it is: ${shown} is not in the row.`
        : `${what} is printed in part: of its ${content.length} characters the first ${kept} are in the row, and ${shown} is not.`;
    return [{ id: 'content-changed', sentence, columns: [] }];
  }
  return [];
}

/** So many characters stand in a text by no chance. */
const FEWEST = 8;

/** How many of the first characters of `content` stand in `text`. */
function startIn(text: string, content: string): number {
  let [least, most] = [0, content.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (text.includes(content.slice(0, middle))) least = middle;
    else most = middle - 1;
  }
  return least;
}

function turnNotes(messages: readonly ChatMessage[], { turns }: Writer): Fault[] {
  if (!messages.some(({ role }) => role === 'assistant')) return [];
  const { question, answer, prompted } = turns;
  const faults: Fault[] = [];
  if (question !== undefined && question === answer)
    faults.push({
      id: 'turns-alike',
      sentence: `The template opens the turns of the user and of the assistant alike, with ${JSON.stringify(answer.trim())}.`,
      columns: [],
    });
  if (answer !== undefined && prompted !== undefined && !isBegun(answer, prompted))
    faults.push({
      id: 'other-generation-prompt',
      sentence: `The row opens an answer with ${JSON.stringify(answer)}, and the prompt that the model is given to answer ends with ${JSON.stringify(prompted)}.`,
      columns: [],
    });
  return faults;
}

/** One goes on where the other ends: a thought may be opened in one of them. */
const isBegun = (answer: string, prompted: string): boolean =>
  answer.startsWith(prompted) || prompted.startsWith(answer);
