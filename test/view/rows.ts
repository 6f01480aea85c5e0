// Rows that the tests of `view` are about, and what is flagged of them.
import type { Entry } from '../../src/view/read.ts';
import type { ViewOptions } from '../../src/view/row.ts';
import { scan } from '../../src/view/scan.ts';
import { writerOf } from '../../src/view/writer.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';

export const world = (name: string, template?: string): ViewOptions => {
  const tokenizer = loaded(familyFolders[name] ?? '');
  const writer = writerOf(tokenizer, template ?? tokenizer.chatTemplate ?? '');
  return { tokenizer, writer, truncationSide: 'right' };
};
export const qwen = world('qwen');
export const llama = world('llama3');

/** Ids of the flags and notes of one row. */
export function flags(value: unknown, options: ViewOptions = qwen): string[] {
  const entries: Entry[] = [{ number: 1, value }];
  return scan(entries, options, { most: 10 }).counts.map(({ id }) => id);
}

export const talk = (answer = 'Hello there!', question = 'Hi') => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
];

/** The row of a conversation as a trainer writes it. */
export function written(messages: readonly { role: string; content: string }[], options: ViewOptions = qwen) {
  const { kept } = scan([{ number: 1, value: { messages } }], options, { most: 1 });
  const row = kept[0]?.row;
  if (row === undefined) throw new Error('no row');
  const input_ids = [...row.ids];
  const labels = row.ids.map((id, at) => (row.trained[at] ? id : -100));
  const stop = row.answers.at(-1)?.stop ?? -1;
  return {
    input_ids,
    labels,
    answers: row.answers,
    stop,
    from: row.answers.at(-1)?.from ?? -1,
    user: row.said.at(-1)?.from ?? -1,
  };
}

export const set = (values: readonly number[], at: number, value: number): number[] =>
  values.map((each, column) => (column === at ? value : each));
