// Legal ways to extract completions, to lay rows out and to mask them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat } from '../legal.ts';

type Extract = (args: Args<'extract'>) => Ok<'extract'>;
type Mask = (args: Args<'mask'>) => Ok<'mask'>;

/** Index behind the last token that counts: the first stop token's, or the end. */
const stopOf = (ids: readonly number[], stops: readonly number[]): number => {
  const at = ids.findIndex((id) => stops.includes(id));
  return at < 0 ? ids.length : at;
};

const slices = ({ sequences, input_ids: prompts }: Args<'extract'>): Rows =>
  sequences.map((row, at) => row.slice(prompts[at]?.length ?? 0));

const withoutStop: Extract = (args) => ({
  completion_ids: slices(args).map((ids) => ids.slice(0, stopOf(ids, args.eos_token_ids))),
});
const rawSlice: Extract = (args) => ({ completion_ids: slices(args) });
const rawSampled: Extract = ({ sampled_ids: ids }) => ({ completion_ids: ids });

interface Row {
  readonly prompt: readonly number[];
  readonly completion: readonly number[];
}

const cutRows = (args: Args<'mask'>): Row[] =>
  args.prompt_ids.map((prompt, at) => {
    const sampled = args.completion_ids[at] ?? [];
    return { prompt, completion: sampled.slice(0, stopOf(sampled, args.eos_token_ids) + 1) };
  });

/** Rows of the trainer's own, padded by `place` to a width that is a multiple of `multiple`. */
function ownRows(
  place: 'left' | 'right' | 'both',
  options: { readonly multiple?: number; readonly trainStop?: boolean; readonly noIds?: boolean } = {},
): Mask {
  const { multiple = 1, trainStop = true } = options;
  return (args) => {
    const rows = cutRows(args);
    const longest = Math.max(...rows.map(({ prompt, completion }) => prompt.length + completion.length));
    const width = Math.ceil((longest + (place === 'both' ? 2 : 0)) / multiple) * multiple;
    const laid = rows.map(({ prompt, completion }) => {
      const free = width - prompt.length - completion.length;
      const left = place === 'left' ? free : place === 'right' ? 0 : 1;
      const around = (inner: readonly number[], fill: number): number[] => [
        ...repeat(fill, left),
        ...inner,
        ...repeat(fill, free - left),
      ];
      const stopped = args.eos_token_ids.includes(completion.at(-1) ?? -1);
      const trained = completion.map((_, at) => Number(trainStop || !stopped || at < completion.length - 1));
      return {
        ids: around([...prompt, ...completion], args.pad_token_id),
        attention: around(repeat(1, prompt.length + completion.length), 0),
        mask: around([...repeat(0, prompt.length), ...trained], 0),
        positions: around(
          [...prompt, ...completion].map((_, at) => at),
          1,
        ),
      };
    });
    return {
      input_ids: laid.map(({ ids }) => ids),
      attention_mask: laid.map(({ attention }) => attention),
      completion_mask: laid.map(({ mask }) => mask),
      position_ids: laid.map(({ positions }) => positions),
    };
  };
}

/** The block as it was sent, masked where it was attended to. */
const byAttention: Mask = ({ attention_mask, prompt_width }) => ({
  attention_mask,
  completion_mask: attention_mask.map((row) => row.map((real, at) => (at < prompt_width ? 0 : real))),
});

/** Prompts flush left, a gap, completions at one column: and no attention mask to say so. */
const gapped: Mask = (args) => {
  const rows = cutRows(args);
  const width = Math.max(...rows.map(({ completion }) => completion.length));
  const padded = (ids: readonly number[], to: number, fill: number): number[] => [
    ...ids,
    ...repeat(fill, to - ids.length),
  ];
  return {
    input_ids: rows.map(({ prompt, completion }) => [
      ...padded(prompt, args.prompt_width, args.pad_token_id),
      ...padded(completion, width, args.pad_token_id),
    ]),
    completion_mask: rows.map(({ completion }) => [
      ...repeat(0, args.prompt_width),
      ...padded(repeat(1, completion.length), width, 0),
    ]),
  };
};

/** Tokens behind the stop are attended to and not trained: harmless where attention is causal. */
const attendsAfterStop: Mask = (args) => ({
  ...byAttention(args),
  attention_mask: args.attention_mask.map((row, b) =>
    row.map((real, t) => (real === 1 || args.sequences[b]?.[t] !== args.pad_token_id ? 1 : 0)),
  ),
});

const predictorRow =
  (mask: Mask): Mask =>
  (args) => {
    const answer = mask(args);
    return { ...answer, completion_mask: answer.completion_mask.map((row) => row.slice(1)) };
  };
/** As causal models have it: a last column that predicts nothing, as wide as the row. */
const predictorFull =
  (mask: Mask): Mask =>
  (args) => {
    const answer = mask(args);
    return { ...answer, completion_mask: answer.completion_mask.map((row) => [...row.slice(1), 0]) };
  };

/** Overlong filtering: an answer that ran into the limit is not trained at all. */
const overlongFiltered =
  (mask: Mask): Mask =>
  (args) => {
    const answer = mask(args);
    const stopped = args.completion_ids.map((row) => args.eos_token_ids.includes(row.at(-1) ?? -1));
    return {
      ...answer,
      completion_mask: answer.completion_mask.map((row, b) => (stopped[b] ? row : repeat(0, row.length))),
    };
  };

const free = { can: { mask: { after_stop: 'any', unfinished: true } } } as const;

/** Supervised fine-tuning puts a stop token behind every answer: it has no row that never stopped. */
const supervised: Mask = (args) =>
  args.completion_ids.some((ids) => !args.eos_token_ids.includes(ids.at(-1) ?? -1))
    ? reject('every answer ends with a stop token here')
    : ownRows('right')(args);

export const completions: readonly Legal[] = [
  legal('a stop token behind every answer (SFT)', { mask: supervised }),
  legal(
    'a stop token behind every answer, declared',
    { mask: supervised },
    { semantics: { completions_always_stop: true } },
  ),

  legal('extraction drops the stop token', { extract: withoutStop }),
  legal('extraction returns the padded slice', { extract: rawSlice }),
  legal(
    'extraction hands on what the sampler emitted, on both sides',
    { extract: rawSampled },
    { can: { extract: { padding_side: ['left', 'right'] } } },
  ),
  legal('rows are flush left', { mask: ownRows('right') }, free),
  legal('rows are flush right, in multiples of 8', { mask: ownRows('left', { multiple: 8 }) }, free),
  legal('rows have padding on both sides', { mask: ownRows('both') }, free),
  legal(
    'the stop token is not trained, undeclared',
    { mask: ownRows('right', { trainStop: false }) },
    { ...free, is: { stop_token_in_mask: false } },
  ),
  legal('the block is masked where it is attended to', { mask: byAttention }, free),
  legal('truncated completions are left out, undeclared', { mask: overlongFiltered(ownRows('right')) }, free),
  legal(
    'truncated completions are left out, declared',
    { mask: overlongFiltered(ownRows('left')) },
    { ...free, semantics: { truncated_completions_trained: false } },
  ),
  legal('prompts are padded on their right, without an attention mask', { mask: gapped }, free),
  legal('what follows the stop token is attended to', { mask: attendsAfterStop }, free),
  legal(
    'predictor-aligned rows',
    { mask: predictorRow(ownRows('left')) },
    { ...free, layout: { alignment: 'predictor', span: 'row' } },
  ),
  legal(
    'predictor-aligned rows of full width',
    { mask: predictorFull(byAttention) },
    { ...free, layout: { alignment: 'predictor', span: 'row' } },
  ),
];
