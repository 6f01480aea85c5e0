// Rows as a trainer's rules make them, each with ids and what is trained of them; what they do not make is said once, and
// ends the reading. A trainer's folder has the rules alone.
import { isJsonObject, type JsonObject } from '../../outside/decoded.ts';
import type { Ids } from '../../vocabulary.ts';
import { IGNORE_INDEX } from '../../vocabulary.ts';
import type { TokenRow } from '../row.ts';
import type { ChatMessage } from '../shape/messages.ts';
import type { Form, Shape, Unread } from '../shape/shapes.ts';
import { trainFields } from '../shape/train-flags.ts';
import type { SettingFault } from './fault.ts';
import { type ConfigFile, faultOf } from './file.ts';
import type { After } from './plan.ts';

export interface Tokens {
  readonly ids: Ids;
  readonly trained: readonly boolean[];
  readonly form: Form;
  /** The conversation that they were rendered from, as the template got it. */
  readonly messages?: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
  /** What is trained of a row, in a sentence. */
  readonly assumed: string;
  /** Prompts are trained, and meant to be. */
  readonly promptsTrained?: boolean;
  /** The same with whose token each is, where the rules say it. */
  readonly row?: TokenRow;
}

export type Ruled =
  | Tokens
  | { readonly shapes: readonly Shape[] }
  /** Several of one. */
  | { readonly rows: readonly Tokens[] }
  /** Why the trainer leaves the row out, where nobody said that it should. */
  | { readonly leftOut: string }
  /** Why the trainer ends with an error at this row. */
  | { readonly stops: string }
  /** What the row has that these rules do not make. */
  | { readonly unsupported: string }
  /** The setting by which the row is left out, as it was meant to be. */
  | { readonly filtered: string };

export interface RuledRows {
  readonly shapes: (value: unknown, from: number) => readonly Shape[] | Unread;
  /** What is known when all rows have been seen. */
  readonly after: (config: ConfigFile) => After;
}

export function ruledRows(trainer: string, make: (row: JsonObject, from: number) => Ruled): RuledRows {
  let unsupported: string | undefined;
  const flags = new Set<string>();
  const filtered = new Map<string, number>();
  return {
    shapes: (value, from) => {
      if (!isJsonObject(value)) return { problem: 'The row is not an object.' };
      const made = make(value, from);
      if ('unsupported' in made) {
        unsupported ??= `A row is not one that these rules make: ${made.unsupported}.`;
        return { problem: unsupported };
      }
      if ('leftOut' in made)
        return { id: 'left-out', problem: `${trainer} leaves the row out: ${made.leftOut}.` };
      if ('stops' in made) return { problem: `${trainer} stops at this row: ${made.stops}.` };
      if ('filtered' in made) {
        filtered.set(made.filtered, (filtered.get(made.filtered) ?? 0) + 1);
        return [];
      }
      if ('shapes' in made) return made.shapes;
      return ('rows' in made ? made.rows : [made]).map((each) => shapeOf(each, flags));
    },
    after: (config) => ({
      ...(unsupported === undefined ? {} : { unsupported }),
      faults: [
        ...[...flags].map((name) =>
          faultOf(
            config,
            `messages.${name}`,
            `${trainer} reads no such train flag: ${name} of a message does nothing.`,
            'note',
          ),
        ),
        ...[...filtered].map(
          ([key, rows]): SettingFault =>
            faultOf(config, key, `By it, ${rows} ${rows === 1 ? 'row is' : 'rows are'} left out.`, 'note'),
        ),
      ],
    }),
  };
}

// --- helpers ---

/** The trainer has read the flags that it reads: the others are not to be judged by. */
function shapeOf(
  { ids, trained, form, messages, tools, assumed, promptsTrained, row }: Tokens,
  flags: Set<string>,
): Shape {
  const plain = messages?.map((message) => {
    const own = Object.keys(trainFields(message));
    for (const name of own) flags.add(name);
    return own.length === 0
      ? message
      : (Object.fromEntries(
          Object.entries(message).filter(([key]) => !own.includes(key)),
        ) as unknown as ChatMessage);
  });
  const prompts = promptsTrained === undefined ? {} : { promptsTrained };
  if (row !== undefined) {
    const said = (plain ?? []).map(({ role, content }) => ({ role, content: String(content) }));
    return { kind: 'made', form, row, messages: said, assumed, ...prompts };
  }
  return {
    kind: 'ids',
    form: 'input_ids',
    ids,
    labels: ids.map((id, at) => (trained[at] === true ? id : IGNORE_INDEX)),
    masks: [],
    assumed: `${form}: ${assumed}`,
    ...prompts,
    ...(plain === undefined
      ? {}
      : { chat: { kind: 'chat', form, messages: plain, ...(tools === undefined ? {} : { tools }) } }),
  };
}
