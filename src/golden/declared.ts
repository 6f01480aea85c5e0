// What the trainer says of itself, as entries of their own: a declaration that changes is a change, whatever the answers are.
import { TOKEN_ROW } from '../protocol/json.ts';
import type { Hello } from '../protocol/message.ts';
import { type Entry, type Fields, HELLO, type Said, sorted } from './entry.ts';

export const DECLARED = 'declared';

/** One a kind of declaration, in a fixed order; the folder of the tokenizer is of this machine, its content is not. */
export function declarations(hello: Hello, tokenizer: Fields | undefined): readonly Entry[] {
  const { ops, layout = TOKEN_ROW, semantics = {}, tokens, dtype = 'float32' } = hello;
  const own = Object.entries(ops).flatMap(([op, has]) =>
    has.layout === undefined ? [] : [[op, has.layout]],
  );
  const parts: Readonly<Record<string, object>> = {
    // Their layouts stand with the layout.
    ops: Object.fromEntries(Object.entries(ops).map(([op, { layout: _, ...has }]) => [op, has])),
    layout: { all: layout, ...Object.fromEntries(own) },
    semantics,
    tokens: tokens ?? {},
    numbers: { dtype },
    tokenizer: tokenizer ?? {},
  };
  return Object.entries(parts).map(([name, value]): Entry => {
    const said: Said = { kind: 'answer', fields: sorted(value) as Fields };
    return { id: `${DECLARED}/${name}`, op: HELLO, args: {}, said };
  });
}
