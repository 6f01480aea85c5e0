// What a chat template is called with, beyond the conversation that it is called for.
import type { Message, Semantics } from '../vocabulary.ts';
import { type Rendered, renderChat } from './render.ts';
import type { Tokenizer } from './tokenizer.ts';

/** The conversation as the template is handed it: behind the trainer's own system message, where it has none. */
export function calledWith(
  messages: readonly Message[],
  { default_system: content }: Semantics,
): readonly Message[] {
  if (content === undefined || messages.length === 0 || messages[0]?.role === 'system') return messages;
  return [{ role: 'system', content }, ...messages];
}

/** The special tokens that a template writes by name, as text. */
export function namedTokens(tokenizer: Tokenizer | undefined): {
  readonly bosToken?: string;
  readonly eosToken?: string;
} {
  const name = (id: number | undefined): string | undefined =>
    id === undefined ? undefined : tokenizer?.token(id);
  const [bosToken, eosToken] = [name(tokenizer?.bosTokenId), name(tokenizer?.eosTokenId)];
  return {
    ...(bosToken === undefined ? {} : { bosToken }),
    ...(eosToken === undefined ? {} : { eosToken }),
  };
}

const refusing = new WeakMap<Tokenizer, boolean>();

/** The template takes a question, and says that it takes none behind a system message, as Gemma 2's and the first ones of Mistral. */
export function refusesSystem(tokenizer: Tokenizer): boolean {
  const known = refusing.get(tokenizer);
  if (known !== undefined) return known;
  const rendered = (...roles: readonly Message['role'][]): Rendered =>
    renderChat(tokenizer.chatTemplate ?? '', {
      messages: roles.map((role) => ({ role, content: 'a' })),
      addGenerationPrompt: true,
      ...namedTokens(tokenizer),
    });
  // What only fails here, by a difference to Python's Jinja, may be rendered there.
  const refuses = 'text' in rendered('user') && 'raised' in rendered('system', 'user');
  refusing.set(tokenizer, refuses);
  return refuses;
}
