// Rows as trainers hand them to a model, with the labels of a legal convention, for the tests of spans.
import fc from 'fast-check';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import type { RowIds, Spans } from '../../../src/trace/ledger.ts';
import { type SpanWorld, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import { chatRow } from '../../../src/view/chat.ts';
import type { Writer } from '../../../src/view/writer.ts';
import type { Ids, Message } from '../../../src/vocabulary.ts';

export interface Padding {
  readonly left: number;
  readonly right: number;
  readonly pad: number;
  /** The model gets no attention mask, or one that is 1 on the padding as well. */
  readonly attention: 'mask' | 'none' | 'ones';
}

const PLACE = { step: 0, rank: 0, forward: 0, row: 0, model: 0 };

/** As ledger-of.ts makes a row: real is what the mask says, or all but the runs of the padding's id at both ends. */
export function padded(ids: Ids, { left, right, pad, attention }: Padding): RowIds {
  const run = (length: number, value: number): number[] => Array.from({ length }, () => value);
  const all = [...run(left, pad), ...ids, ...run(right, pad)];
  const mask = [...run(left, 0), ...ids.map(() => 1), ...run(right, 0)];
  if (attention === 'mask')
    return { ...PLACE, ids: all, attention: mask, real: mask.map((each) => each === 1) };
  if (attention === 'ones')
    return { ...PLACE, ids: all, attention: all.map(() => 1), real: all.map(() => true) };
  const first = all.findIndex((id) => id !== pad);
  const last = all.findLastIndex((id) => id !== pad);
  return { ...PLACE, ids: all, real: all.map((_, at) => first >= 0 && at >= first && at <= last) };
}

/** Columns where what should be trained is not what is. The first token of a row is nobody's target. */
export function contradictions(spans: Spans, trained: readonly boolean[]): number[] {
  return spans.expected.flatMap((each, at) =>
    at > 0 && each !== undefined && each !== (trained[at] ?? false) ? [at] : [],
  );
}

/** The labels of the tokens, at their columns. */
export const labelled = (trained: readonly boolean[], { left, right }: Padding): boolean[] => [
  ...Array.from({ length: left }, () => false),
  ...trained,
  ...Array.from({ length: right }, () => false),
];

export const paddings = (pads: readonly number[]): fc.Arbitrary<Padding> =>
  fc
    .record({
      side: fc.constantFrom('left', 'right'),
      width: fc.nat({ max: 3 }),
      pad: fc.constantFrom(...pads),
      attention: fc.constantFrom<Padding['attention']>('mask', 'none', 'ones'),
    })
    .map(({ side, width, pad, attention }) => ({
      left: side === 'left' ? width : 0,
      right: side === 'right' ? width : 0,
      pad,
      attention,
    }));

export interface Labelled {
  readonly ids: Ids;
  readonly trained: readonly boolean[];
}

export const worldOf = (tokenizer: Tokenizer, values: readonly unknown[]): SpanWorld =>
  spanWorldOf({
    tokenizer,
    generations: [],
    dataset: values.map((value, at) => ({ number: at + 1, value })),
  });

/** A conversation of which every answer is trained; undefined where the template refuses it. */
export function chatLabels(writer: Writer, messages: readonly Message[]): Labelled | undefined {
  const { row } = chatRow(
    { kind: 'chat', form: 'messages', messages: messages.map((each) => ({ ...each })) },
    writer,
    { tokenizer: writer.tokenizer, writer, trainOn: 'assistant', truncationSide: 'right' },
  );
  return row;
}

/** With the line end behind each stop token trained, and a stop token put behind the row. */
export function withStops(tokenizer: Tokenizer, { ids, trained }: Labelled): Labelled {
  const more = ids.map(
    (id, at) => (trained[at] ?? false) || (trained[at - 1] === true && tokenizer.decode([id]) === '\n'),
  );
  const eos = tokenizer.eosTokenId;
  return trained.at(-1) !== true && more.at(-1) === true && eos !== undefined && eos !== tokenizer.bosTokenId
    ? { ids: [...ids, eos], trained: [...more, true] }
    : { ids, trained: more };
}

/**
 * A prompt and its answer as TRL makes them: as many ids as the prompt has by itself are not trained. `apart`: the two
 * made into ids one by one; `answersOnly`: the line end behind the stop token is not trained.
 */
export function pairLabels(
  writer: Writer,
  prompt: readonly Message[],
  answer: readonly Message[],
  { apart, answersOnly }: { readonly apart: boolean; readonly answersOnly: boolean },
): Labelled | undefined {
  const { tokenizer } = writer;
  const asked = writer.render(
    prompt.map((each) => ({ ...each })),
    { prompt: true },
  );
  const whole = writer.render([...prompt, ...answer].map((each) => ({ ...each })));
  if (!('text' in asked) || !('text' in whole)) return undefined;
  const count = tokenizer.encode(asked.text).length;
  const ids =
    apart && whole.text.startsWith(asked.text)
      ? [...tokenizer.encode(asked.text), ...tokenizer.encode(whole.text.slice(asked.text.length))]
      : tokenizer.encode(whole.text);
  const stop = ids.lastIndexOf(tokenizer.tokenId(writer.stop ?? '') ?? -1);
  return { ids, trained: ids.map((_, at) => at >= count && (!answersOnly || at <= stop)) };
}

/** The same of texts. `eos`: a stop token is put behind; `special`: the tokenizer adds BOS. */
export function textLabels(
  tokenizer: Tokenizer,
  prompt: string,
  completion: string,
  { apart, eos, special }: { readonly apart: boolean; readonly eos: boolean; readonly special: boolean },
): Labelled {
  const end = eos && tokenizer.eosTokenId !== undefined ? [tokenizer.eosTokenId] : [];
  const front = tokenizer.encode(prompt, { addSpecialTokens: special });
  const ids = apart
    ? [...front, ...tokenizer.encode(completion), ...end]
    : [...tokenizer.encode(prompt + completion, { addSpecialTokens: special }), ...end];
  return { ids, trained: ids.map((_, at) => at >= front.length) };
}

/** Rows one after another; `bos`: each begins with BOS, or none does. */
export function pack({ bosTokenId }: Tokenizer, rows: readonly Labelled[], bos: boolean): Labelled {
  const kept = (row: Labelled): number[] =>
    row.ids.flatMap((id, at) => (bos || at > 0 || id !== bosTokenId ? [at] : []));
  return {
    ids: rows.flatMap((row) => kept(row).map((at) => row.ids[at] ?? -1)),
    trained: rows.flatMap((row) => kept(row).map((at) => row.trained[at] ?? false)),
  };
}

export function cut({ ids, trained }: Labelled, lost: number, left: boolean): Labelled {
  const within = <T>(values: readonly T[]): T[] =>
    left ? values.slice(lost) : values.slice(0, Math.max(0, values.length - lost));
  return { ids: within(ids), trained: within(trained) };
}
