// What a chat template is called with, beyond the conversation that it is called for.
import type { Message, Semantics } from '../vocabulary.ts';
import { renderChat } from './render.ts';
import type { Tokenizer } from './tokenizer.ts';

/** The conversation as the template is handed it: behind the trainer's own system message, where it has none. */
export function calledWith(
  messages: readonly Message[],
  { default_system: content }: Semantics,
): readonly Message[] {
  if (content === undefined || messages.length === 0 || messages[0]?.role === 'system') return messages;
  return [{ role: 'system', content }, ...messages];
}

const refusing = new WeakMap<Tokenizer, boolean>();

/** The template takes a question, and not behind a system message, as Gemma 2's and the first ones of Mistral. */
export function refusesSystem(tokenizer: Tokenizer): boolean {
  const known = refusing.get(tokenizer);
  if (known !== undefined) return known;
  const { chatTemplate: template } = tokenizer;
  const takes = (...roles: readonly Message['role'][]): boolean =>
    template !== undefined &&
    'text' in
      renderChat(template, {
        messages: roles.map((role) => ({ role, content: 'a' })),
        addGenerationPrompt: true,
      });
  const refuses = takes('user') && !takes('system', 'user');
  refusing.set(tokenizer, refuses);
  return refuses;
}
