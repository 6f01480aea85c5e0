// What a chat template is called with, beyond the conversation that it is called for.
import type { Message, Semantics } from '../vocabulary.ts';

/** The conversation as the template is handed it: behind the trainer's own system message, where it has none. */
export function calledWith(
  messages: readonly Message[],
  { default_system: content }: Semantics,
): readonly Message[] {
  if (content === undefined || messages.length === 0 || messages[0]?.role === 'system') return messages;
  return [{ role: 'system', content }, ...messages];
}
