// A row of a data set in the shape that SFTTrainer takes it for: the columns of the whole data set decide, not the row's own.

import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { TrainOn } from '../../row.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import { shapesOf } from '../../shape/shape.ts';
import type { ChatShape, Shape, Unread } from '../../shape/shapes.ts';
import { trainFields } from '../../shape/train-flags.ts';

/** Settings of `trl sft` that rows depend on. */
export interface TrlSettings {
  readonly maxLength: number | null;
  readonly keepEnd: boolean;
  readonly packing: boolean;
  readonly strategy: string;
  readonly completionOnly: boolean | null;
  readonly assistantOnly: boolean;
  readonly textField: string;
  readonly eos?: string;
  readonly skip: boolean;
  /** Columns that the mixture keeps. */
  readonly columns?: readonly string[];
}

export type Kind = 'ids' | 'pair' | 'messages' | 'text';

/** In the order in which TRL asks for the columns. */
export function kindOf(columns: ReadonlySet<string>): Kind {
  if (columns.has('input_ids')) return 'ids';
  if (columns.has('prompt')) return 'pair';
  return columns.has('messages') || columns.has('conversations') ? 'messages' : 'text';
}

export interface Making {
  readonly settings: TrlSettings;
  readonly columns: ReadonlySet<string>;
  readonly kind: Kind;
  readonly completionOnly: boolean;
  readonly trainOn: TrainOn;
  readonly tokenizer: Tokenizer;
}

export interface TrlRows {
  readonly shapes: (value: unknown) => readonly Shape[] | Unread;
  /** Train flags that messages have. */
  readonly flags: () => ReadonlySet<string>;
}

export function trlShapes(making: Making): TrlRows {
  const flags = new Set<string>();
  const shapes: TrlRows['shapes'] = (value) => {
    if (!isJsonObject(value)) return { problem: 'The row is not an object.' };
    if (value.chat_template_kwargs !== undefined)
      return { problem: 'The row has chat_template_kwargs, which view does not pass to the template.' };
    const { kind } = making;
    if (kind === 'ids') return shapesOf(idsOf(value, making));
    if (kind === 'pair') return pairOf(value, making);
    if (kind === 'messages') return messagesOf(value, making);
    const { textField } = making.settings;
    const text = value[textField];
    return typeof text === 'string'
      ? [{ kind: 'text', form: 'text', text }]
      : { problem: `TRL stops: the row has no text in the column ${textField} (dataset_text_field).` };
  };
  const withoutFlags = (made: readonly Shape[] | Unread): readonly Shape[] | Unread =>
    'problem' in made ? made : made.map((shape) => (shape.kind === 'chat' ? flagless(shape, flags) : shape));
  return { shapes: (value) => withoutFlags(shapes(value)), flags: () => flags };
}

// --- helpers ---

/** TRL hands messages to the template and trains by its own rules. */
function flagless(shape: ChatShape, flags: Set<string>): ChatShape {
  const messages = shape.messages.map((message) => {
    const own = Object.keys(trainFields(message));
    if (own.length === 0) return message;
    for (const name of own) flags.add(name);
    const rest = Object.entries(message).filter(([key]) => !own.includes(key));
    return Object.fromEntries(rest) as unknown as ChatMessage;
  });
  return { ...shape, messages };
}

/** Labels stay; otherwise the masks that TRL applies become labels, and without any every token is one. */
function idsOf(row: JsonObject, { columns, completionOnly }: Making): JsonObject {
  const {
    input_ids: ids,
    labels,
    completion_mask: completion,
    assistant_masks: assistant,
    attention_mask,
  } = row;
  const rest = attention_mask === undefined ? { input_ids: ids } : { input_ids: ids, attention_mask };
  if (columns.has('labels')) return { ...rest, labels };
  if (completionOnly && completion !== undefined)
    return {
      ...rest,
      completion_mask: completion,
      ...(assistant === undefined ? {} : { assistant_masks: assistant }),
    };
  return assistant === undefined ? { ...rest, labels: ids } : { ...rest, assistant_masks: assistant };
}

function pairOf(row: JsonObject, { completionOnly, trainOn }: Making): readonly Shape[] | Unread {
  const { prompt, completion, tools } = row;
  if (completion === undefined || prompt === undefined)
    return {
      problem: `TRL stops: the row has no ${prompt === undefined ? 'prompt' : 'completion'}, and the data set has the column prompt.`,
    };
  const more = tools === undefined ? {} : { tools };
  // Answers within the prompt are trained as well, unless the completion alone is.
  if (Array.isArray(prompt) && Array.isArray(completion) && !completionOnly && trainOn !== 'completion')
    return shapesOf({ messages: [...prompt, ...completion], ...more });
  return shapesOf({ prompt, completion, ...more });
}

function messagesOf(row: JsonObject, { columns }: Making): readonly Shape[] | Unread {
  const { messages, conversations, tools } = row;
  const more = tools === undefined ? {} : { tools };
  if (!columns.has('conversations')) return shapesOf({ messages, ...more });
  if (!Array.isArray(conversations)) return { problem: 'conversations is not a list of turns.' };
  if (!conversations.every((turn) => isJsonObject(turn) && typeof turn.from === 'string'))
    return columns.has('messages')
      ? shapesOf({ messages, ...more })
      : {
          problem:
            'TRL stops: it reads conversations as {"from", "value"}, and {"role", "content"} as messages.',
        };
  // TRL renames the fields and leaves the names of the roles: human stays human.
  return shapesOf({
    messages: conversations.map((turn) => {
      const { from, value, ...others } = turn as JsonObject;
      return { ...others, role: from, content: value };
    }),
    ...more,
  });
}
