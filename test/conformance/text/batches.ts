// Legal ways to make a padded batch of conversations: either side, any width, any pad id, and rows that end as scripts of
// supervised fine-tuning end them.
import {
  type Args,
  type Ids,
  type Message,
  type Ok,
  reject,
  type Semantics,
  type Tokenizer,
} from '../../../src/index.ts';
import { families } from '../../../src/tokenizers/families.ts';
import { type Legal, legal, repeat } from '../legal.ts';
import { byTurns, tokenizerOf } from './plain-chats.ts';

interface Row {
  readonly input_ids: Ids;
  readonly labels: Ids;
}
type RowOf = (messages: readonly Message[]) => Row;

interface Padding {
  readonly side: 'left' | 'right';
  readonly pad: number;
  /** Widths are multiples of this. */
  readonly multiple?: number;
}

/** `padding` is what it does when it is not asked for another. */
const batching =
  (rowOf: RowOf, padding: Padding) =>
  ({ conversations, padding_side, pad_token_id }: Args<'sft_batch'>): Ok<'sft_batch'> => {
    const { side, pad, multiple = 1 } = padding;
    const rows = conversations.map(rowOf);
    const longest = Math.max(...rows.map(({ input_ids }) => input_ids.length));
    const width = Math.ceil(longest / multiple) * multiple;
    const padded = (values: Ids, fill: number): number[] => {
      const more = repeat(fill, width - values.length);
      return (padding_side ?? side) === 'left' ? [...more, ...values] : [...values, ...more];
    };
    return {
      input_ids: rows.map(({ input_ids }) => padded(input_ids, pad_token_id ?? pad)),
      attention_mask: rows.map(({ input_ids }) => padded(repeat(1, input_ids.length), 0)),
      labels: rows.map(({ labels }) => padded(labels, -100)),
      position_ids: rows.map(({ input_ids }) =>
        padded(
          input_ids.map((_, at) => at),
          1,
        ),
      ),
    };
  };

const ANY = { sft_batch: { padding_side: ['left', 'right'], pad_token_id: true } } as const;

function ofFamily(family: string): Legal[] {
  const tokenizer = tokenizerOf(family);
  const eos = tokenizer.eosTokenId ?? 0;
  const rowOf: RowOf = (messages) => byTurns(tokenizer, messages, false);
  return [
    legal(
      `batches for ${family}, pad is eos`,
      { sft_batch: batching(rowOf, { side: 'right', pad: eos }) },
      {},
      tokenizer,
    ),
    legal(
      `batches for ${family}, on the left in multiples of 8, the last answer trained`,
      {
        sft_batch: batching((messages) => byTurns(tokenizer, messages, true), {
          side: 'left',
          pad: tokenizer.padTokenId ?? eos,
          multiple: 8,
        }),
      },
      {},
      tokenizer,
    ),
    legal(
      `batches for ${family}, on any side with any id`,
      { sft_batch: batching(rowOf, { side: 'right', pad: eos }) },
      { can: ANY },
      tokenizer,
    ),
  ];
}

/** Pairs of answers, each half by the same code; `stops` false leaves the last stop token of every answer out. `full`: no answer is empty. */
function pairing(family: string, padding: Padding, stops: boolean, full = false): Legal {
  const tokenizer = tokenizerOf(family);
  const eos = tokenizer.eosTokenId ?? 0;
  const half = (prompts: readonly (readonly Message[])[], answers: readonly string[]) => {
    const conversations = prompts.map((prompt, row) => [
      ...prompt,
      { role: 'assistant', content: answers[row] ?? '' } as const,
    ]);
    const batch = batching((messages) => byTurns(tokenizer, messages, true), padding)({ conversations });
    const mask = batch.labels.map((row) => {
      const last = row.lastIndexOf(eos);
      return row.map((label, column) => Number(label !== -100 && (stops || column < last)));
    });
    return { ...batch, mask };
  };
  return legal(
    `pairs of conversations for ${family}, padded on the ${padding.side}${stops ? '' : ', without their stop tokens'}${full ? ', empty answers refused' : ''}`,
    {
      preference_batch: ({ prompts, chosen, rejected }) => {
        if (full && [...chosen, ...rejected].includes('')) reject('an answer is empty');
        const [better, worse] = [half(prompts, chosen), half(prompts, rejected)];
        return {
          chosen_input_ids: better.input_ids,
          chosen_attention_mask: better.attention_mask,
          chosen_mask: better.mask,
          rejected_input_ids: worse.input_ids,
          rejected_attention_mask: worse.attention_mask,
          rejected_mask: worse.mask,
        };
      },
    },
    {},
    tokenizer,
  );
}

/** A script for Qwen, with what its rows are in the end. */
function script(
  name: string,
  semantics: Semantics,
  row: (made: Row, tokenizer: Tokenizer) => Row,
  options: { readonly known?: boolean } = {},
): Legal {
  const { known = true } = options;
  const tokenizer = tokenizerOf('qwen');
  const stop = tokenizer.tokenId('<|im_end|>') ?? 0;
  const rowOf: RowOf = (messages) => row(byTurns(tokenizer, messages, false), tokenizer);
  return legal(
    name,
    {
      sft_batch: batching(rowOf, { side: 'left', pad: stop }),
      ...(known
        ? {}
        : {
            tokenize: ({ messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
              const turn: Message = { role: 'assistant', content: '' };
              if (!add) return rowOf(messages);
              const { input_ids: ids } = byTurns(tokenizer, [...messages, turn], false);
              return { input_ids: ids.slice(0, ids.lastIndexOf(stop)) };
            },
          }),
    },
    {
      semantics,
      tokens: {
        vocab_size: tokenizer.vocabSize,
        pad_token_id: stop,
        eos_token_ids: [stop, tokenizer.tokenId('<|endoftext|>') ?? stop],
      },
      can: { ...ANY, ...(known ? {} : { tokenize: { route: ['sft'] } }) },
    },
    ...(known ? [tokenizer] : []),
  );
}

const throughStop = ({ input_ids, labels }: Row, tokenizer: Tokenizer): Row => {
  const end = input_ids.lastIndexOf(tokenizer.tokenId('<|im_end|>') ?? 0) + 1;
  return { input_ids: input_ids.slice(0, end), labels: labels.slice(0, end) };
};

export const batches: readonly Legal[] = [
  ...families.flatMap(ofFamily),
  ...families.map((family, at) => pairing(family, { side: at % 2 ? 'left' : 'right', pad: 0 }, true)),
  pairing('llama3', { side: 'left', pad: 0, multiple: 8 }, false),
  pairing('qwen', { side: 'right', pad: 0 }, true, true),
  script('batches of rows that end with their stop token', { sft_target: 'assistant' }, throughStop),
  script('batches of rows with eos behind them', { sft_target: 'assistant' }, (row, tokenizer) => {
    const [ids, labels] = [[...row.input_ids], [...row.labels]];
    const eos = tokenizer.tokenId('<|endoftext|>') ?? 0;
    return { input_ids: [...ids, eos], labels: [...labels, eos] };
  }),
  script('batches that train everything', { sft_target: 'all' }, ({ input_ids }) => ({
    input_ids,
    labels: input_ids,
  })),
  script('batches without a known template, beside tokenize', { sft_target: 'assistant' }, (row) => row, {
    known: false,
  }),
];
