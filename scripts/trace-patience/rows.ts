// Rows in the form that a script reads, as long as it can take, and no role in them that it does not know.
import type { DatasetForm, Sketch } from '../../src/generators/rows/dataset/kinds.ts';
import { type DatasetRow, rowOf, tokensOf } from '../../src/generators/rows/dataset/rows.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';

export type Form = DatasetForm | 'text';
export type Row = DatasetRow | { readonly text: string };

/** What a script's own data show that it reads. */
export interface Reads {
  readonly form: Form;
  readonly system: boolean;
  readonly tools: boolean;
  readonly turns: boolean;
}

/** What rows of these forms say; undefined: they are of none of them. */
export function readsOf(data: readonly unknown[]): Reads | undefined {
  const forms = new Set(data.map(formOf));
  const [form] = forms;
  if (form === undefined || forms.size > 1) return undefined;
  const roles = data.map((row) => rolesOf(row));
  return {
    form,
    system: roles.some((those) => those.includes('system')),
    tools: roles.some((those) => those.includes('tool')),
    turns: roles.some((those) => those.filter((role) => role === 'user').length > 1),
  };
}

export function written({ system, exchanges }: Sketch, reads: Reads): Row {
  const { form } = reads;
  const last = exchanges.slice(-1);
  if (form === 'chat') {
    const kept = { exchanges: reads.turns ? exchanges : last };
    return rowOf(reads.system && system !== undefined ? { ...kept, system } : kept, form);
  }
  // Earlier turns are a part of the prompt.
  const before = [
    ...(system === undefined ? [] : [system]),
    ...exchanges.slice(0, -1).flatMap(({ user, answer }) => [user, answer]),
  ];
  const told = last.map((each) => ({ ...each, user: [...before, each.user].join('\n') }));
  if (form !== 'text') return rowOf({ exchanges: told }, form);
  return { text: told.map(({ user, answer }) => `${user} ${answer}`.trimEnd()).join('\n') };
}

/** Undefined: its chat template refuses it. */
export function lengthOf(row: Row, tokenizer: Tokenizer): number | undefined {
  if ('text' in row) return tokenizer.encode(row.text).length;
  const tokens = tokensOf(row, tokenizer);
  return typeof tokens === 'number' ? tokens : undefined;
}

/** Rows of exactly so many tokens, as far as the tokenizer lets them be had. */
export function filled(most: number, reads: Reads, tokenizer: Tokenizer): readonly Row[] {
  return ['a', 'yes and no', '', '4 of them'].flatMap((answer, at) => {
    let user = `Row ${at}`;
    const asked = (text: string): Row => written({ exchanges: [{ user: text, answer, worse: 'b' }] }, reads);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const missing = most - (lengthOf(asked(user), tokenizer) ?? most);
      if (missing <= 0) break;
      const next = PIECES.map((piece) => user + piece).find(
        (text) => (lengthOf(asked(text), tokenizer) ?? Number.POSITIVE_INFINITY) <= most,
      );
      if (next === undefined) break;
      user = next;
    }
    return lengthOf(asked(user), tokenizer) === most ? [asked(user)] : [];
  });
}

// --- helpers ---

const MOST_TRIES = 600;
const PIECES = [' the river is long', ' and', ' a', '.'];

function formOf(row: unknown): Form | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const keys = Object.keys(row).sort().join();
  if (keys === 'messages') return 'chat';
  if (Object.values(row).some((value) => typeof value !== 'string')) return undefined;
  if (keys === 'completion,prompt') return 'prompt-completion';
  if (keys === 'chosen,prompt,rejected') return 'preference';
  if (keys === 'prompt' || keys === 'text') return keys;
  return undefined;
}

function rolesOf(row: unknown): readonly string[] {
  if (typeof row !== 'object' || row === null || !('messages' in row)) return [];
  const { messages } = row;
  if (!Array.isArray(messages)) return [];
  return messages.map((message: { readonly role?: unknown }) => String(message.role));
}
