// Wrong extraction and masks whose mistake is one of JavaScript: right in the line above, wrong by a rule of the language.
import type { Args } from '../../../src/index.ts';
import { type Mutant, wrong } from '../mutant.ts';

type Ids = readonly number[];

export const rolloutsOfTheLanguage: readonly Mutant[] = [
  // Ids came as BigInt64Array and stop ids as numbers from a JSON file. 1n === 1 is false, and so is every
  // [1].includes(1n): no completion ever ends. Fix: Number(id), once, where the tensor is read.
  wrong({
    row: 'TOK-10',
    name: 'bigint-is-no-number',
    title: 'Ids are bigint, stop ids are numbers, and includes() finds none',
    layout: { alignment: 'token', span: 'completion' },
    ops: {
      mask({ sequences, prompt_width, eos_token_ids }) {
        const stops: readonly unknown[] = eos_token_ids;
        const rows = sequences.map((row) => row.slice(prompt_width).map(BigInt));
        return {
          completion_mask: rows.map((ids) => {
            const stop = ids.findIndex((id) => stops.includes(id));
            return ids.map((_, at) => (stop < 0 || at <= stop ? 1 : 0));
          }),
        };
      },
    },
  }),

  // row.slice(-n) is the last n entries for every n but 0, for which it is the whole row; and the last entries are the
  // completion only where nothing is padded behind it. Fix: slice(start, start + n).
  wrong({
    row: 'PAD-03',
    name: 'slice-from-the-end',
    title: 'Completions are row.slice(-length)',
    ops: {
      extract({ sequences, sampled_ids: sampled, eos_token_ids }) {
        return {
          completion_ids: sequences.map((row, at) => {
            const said = throughStop(sampled[at] ?? [], (id) => eos_token_ids.includes(id));
            return row.slice(-said.length);
          }),
        };
      },
    },
  }),

  // findIndex() answers -1 where there is nothing, and slice(0, -1 + 1) is empty: completions that were cut by their
  // length are gone, and only those that ended by themselves are rewarded. Fix: ask for -1 first.
  wrong({
    name: 'not-found-is-minus-one',
    title: 'A completion without a stop token is cut behind column -1',
    ops: {
      extract: (args) => ({
        completion_ids: blocks(args).map((block) =>
          block.slice(0, block.findIndex((id) => args.eos_token_ids.includes(id)) + 1),
        ),
      }),
    },
  }),
];

/** What was generated behind each padded prompt, padding included. */
function blocks({ input_ids: padded, sequences, sampled_ids: sampled }: Args<'extract'>): Ids[] {
  return sequences.map((row, at) => {
    const start = padded[at]?.length ?? 0;
    return row.slice(start, start + (sampled[at]?.length ?? 0));
  });
}

/** Through the first token that `isStop`, or all. */
function throughStop(ids: Ids, isStop: (id: number) => boolean): Ids {
  const at = ids.findIndex(isStop);
  return at < 0 ? ids : ids.slice(0, at + 1);
}
