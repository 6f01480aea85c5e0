// The field's shapes of a row: a conversation, a text, or ids.
import { lengthOfTexts } from '../../outside/text.ts';
import type { Ids } from '../../vocabulary.ts';
import type { TokenRow } from '../row.ts';
import { type ChatMessage, callsOf } from './messages.ts';
import { toldIn } from './train-flags.ts';

export interface ChatShape {
  readonly kind: 'chat';
  readonly form: Form;
  readonly messages: readonly ChatMessage[];
  /** So many messages in front are the prompt, where the row says which are; otherwise absent. */
  readonly prompt?: number;
  readonly tools?: readonly unknown[];
}

export interface TextShape {
  readonly kind: 'text';
  readonly form: Form;
  /** Absent: the row is one text. */
  readonly prompt?: string;
  readonly text: string;
}

export interface IdsShape {
  readonly kind: 'ids';
  readonly form: Form;
  readonly ids: Ids;
  readonly labels?: Ids;
  /** 1: trained. Several masks of a row train what all of them have. */
  readonly masks: readonly { readonly name: string; readonly values: Ids }[];
  readonly attention?: Ids;
  readonly positions?: Ids;
  /** The conversation that the ids were made of, where the row has kept it. */
  readonly chat?: ChatShape;
  /** What is trained of them, where a trainer's rules made them. */
  readonly assumed?: string;
  /** What users say is trained as well, by a setting or by the row itself. */
  readonly promptsTrained?: boolean;
}

/** Made already, by the rules of a trainer whose configuration was read. */
export interface MadeShape {
  readonly kind: 'made';
  readonly form: Form;
  readonly row: TokenRow;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly assumed: string;
  /** As of ids. */
  readonly promptsTrained?: boolean;
}

export type Shape = ChatShape | TextShape | IdsShape | MadeShape;
/** How the row is written, in the words of its keys. */
export type Form =
  | 'messages'
  | 'conversations'
  | 'prompt and completion'
  | 'chosen'
  | 'rejected'
  | 'text'
  | 'instruction and output'
  | 'input_ids';

export interface Unread {
  readonly problem: string;
  /** Of a row that was read, and that the trainer leaves out. */
  readonly id?: 'left-out';
}

/** Whether any message of a conversation says itself that it is trained or not; undefined where there is no answer. */
export function hasTrainFlags(shape: Shape): boolean | undefined {
  const chat = shape.kind === 'ids' ? shape.chat : shape;
  if (chat?.kind !== 'chat') return undefined;
  if (!chat.messages.some(({ role }) => role === 'assistant')) return undefined;
  return toldIn(chat.messages).size > 0;
}

/** Bytes of all texts that a shape's tokens are made of: no tokenizer makes more tokens of them. */
export function bytesOf(shape: Shape): number {
  if (shape.kind === 'made') return lengthOfTexts(shape.messages, Buffer.byteLength);
  if (shape.kind === 'ids') return lengthOfTexts(shape.chat?.messages, Buffer.byteLength);
  return lengthOfTexts(
    shape.kind === 'text' ? [shape.prompt, shape.text] : [shape.messages, shape.tools],
    Buffer.byteLength,
  );
}

/** Messages of a shape, and calls in them: what they cost does not depend on how much text they have. */
export function messagesIn(shape: Shape): number {
  const chat = shape.kind === 'ids' ? shape.chat : shape;
  if (chat?.kind !== 'chat') return 0;
  return chat.messages.reduce((sum, message) => sum + 1 + callsOf(message).length, 0);
}
