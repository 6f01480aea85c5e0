// Legal trainers that cut rows at a length of theirs, whichever end they keep, and declare it or answer so when they are asked.
import { type Args, type Ids, type Message, type Ok, reject, type Semantics } from '../../../src/index.ts';
import { type Legal, legal, repeat } from '../legal.ts';
import { byTurns, tokenizerOf } from './plain-chats.ts';

/** Which columns of a row are kept. */
export type Kept = <T>(row: readonly T[]) => readonly T[];

export const headOf =
  (most: number): Kept =>
  (row) =>
    row.slice(0, most);
export const tailOf =
  (most: number): Kept =>
  (row) =>
    row.slice(-most);
/** The first token, which may be a BOS, and the end of the row. */
export const tailBehindFirst =
  (most: number): Kept =>
  (row) =>
    row.length <= most ? row : [...row.slice(0, 1), ...row.slice(1 - most)];

const QWEN = tokenizerOf('qwen');

/** Rows as the chat template has them, of which the last answer is trained. */
export function rowOf(messages: readonly Message[], prompt: boolean): { input_ids: Ids; labels: Ids } {
  const { input_ids, labels } = byTurns(QWEN, messages, true);
  if (!prompt) return { input_ids, labels };
  const header = QWEN.encode('<|im_start|>assistant\n');
  return { input_ids: [...input_ids, ...header], labels: [] };
}

export const tokenizing =
  (kept: Kept, ofPrompts: Kept = kept) =>
  ({ messages, add_generation_prompt: prompt }: Args<'tokenize'>): Ok<'tokenize'> => {
    const { input_ids, labels } = rowOf(messages, prompt);
    return prompt
      ? { input_ids: ofPrompts(input_ids) }
      : { input_ids: kept(input_ids), labels: kept(labels) };
  };

export const batching =
  (kept: Kept) =>
  ({ conversations }: Args<'sft_batch'>): Ok<'sft_batch'> => {
    const rows = conversations.map((messages) => rowOf(messages, false));
    const cut = rows.map(({ input_ids, labels }) => ({ input_ids: kept(input_ids), labels: kept(labels) }));
    const width = Math.max(...cut.map(({ input_ids }) => input_ids.length));
    const padded = (row: Ids, fill: number): number[] => [...row, ...repeat(fill, width - row.length)];
    return {
      input_ids: cut.map(({ input_ids }) => padded(input_ids, QWEN.padTokenId ?? 0)),
      attention_mask: cut.map(({ input_ids }) => padded(repeat(1, input_ids.length), 0)),
      labels: cut.map(({ labels }) => padded(labels, -100)),
    };
  };

/** Each half is cut by itself, as a row of the batch is. */
export const pairing =
  (kept: Kept) =>
  ({ prompts, chosen, rejected }: Args<'preference_batch'>): Ok<'preference_batch'> => {
    const half = (answers: readonly string[]) =>
      batching(kept)({
        conversations: prompts.map((prompt, row) => [
          ...prompt,
          { role: 'assistant' as const, content: answers[row] ?? reject('no answer') },
        ]),
      });
    const [left, right] = [half(chosen), half(rejected)];
    const mask = (rows: readonly Ids[]): number[][] => rows.map((row) => row.map((id) => Number(id >= 0)));
    return {
      chosen_input_ids: left.input_ids,
      chosen_attention_mask: left.attention_mask,
      chosen_mask: mask(left.labels),
      rejected_input_ids: right.input_ids,
      rejected_attention_mask: right.attention_mask,
      rejected_mask: mask(right.labels),
    };
  };

const TOKENS = {
  vocab_size: QWEN.vocabSize,
  pad_token_id: QWEN.padTokenId ?? 0,
  eos_token_ids: [QWEN.eosTokenId ?? 0],
};

export function cutting(
  name: string,
  ops: Parameters<typeof legal>[1],
  declared: { readonly semantics?: Semantics; readonly is?: Semantics },
): Legal {
  return legal(name, ops, { tokens: TOKENS, ...declared }, QWEN);
}

const [AT_1024, AT_384] = [{ cut_at: [1024] }, { cut_at: [384] }];

export const cutRows: readonly Legal[] = [
  cutting('rows and prompts end at token 1,024', { tokenize: tokenizing(headOf(1024)) }, { is: AT_1024 }),
  cutting(
    'rows and prompts end at token 1,024, declared',
    { tokenize: tokenizing(headOf(1024)), sft_batch: batching(headOf(1024)) },
    { semantics: AT_1024 },
  ),
  cutting(
    'rows keep their last 384 tokens, in batches and pairs',
    {
      tokenize: tokenizing(tailOf(384)),
      sft_batch: batching(tailOf(384)),
      preference_batch: pairing(tailOf(384)),
    },
    { is: AT_384 },
  ),
  cutting(
    'rows keep their first token and their last 383, declared',
    { tokenize: tokenizing(tailBehindFirst(384)), sft_batch: batching(tailBehindFirst(384)) },
    { semantics: AT_384 },
  ),
  cutting(
    'prompts alone are cut, and rows are whole',
    { tokenize: tokenizing((row) => row, tailOf(384)) },
    { is: AT_384 },
  ),
];
