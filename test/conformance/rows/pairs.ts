// Legal ways to lay preference pairs out in rows.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows, repeat } from '../legal.ts';

type Preference = (args: Args<'preference'>) => Ok<'preference'>;
type Ids = readonly number[];

interface Laid {
  readonly ids: number[];
  readonly real: number[];
  readonly mask: number[];
}

/** Rows of both halves by one function; `stop` false leaves the last token out of the masks. */
function halves(
  lay: (prompt: Ids, completion: Ids, mask: Ids, pad: number, width: Widths) => Laid,
  options: { readonly stop?: boolean; readonly stacked?: boolean; readonly stops?: Ids } = {},
): Preference {
  const { stop = true, stacked = false, stops = [] } = options;
  return ({ prompt_ids: prompts, chosen_ids: chosen, rejected_ids: rejected, pad_token_id: pad }) => {
    const half = (completions: Rows): Laid[] => {
      const all = stacked ? [...chosen, ...rejected] : completions;
      const width = { prompt: longest(prompts), completion: longest(all), row: 0 };
      const rows = all.map((row, at) => (prompts[at % prompts.length]?.length ?? 0) + row.length);
      return completions.map((row, at) =>
        lay(
          prompts[at] ?? [],
          row,
          row.map((id, t) => Number(stop || t < row.length - 1 || !stops.includes(id))),
          pad,
          { ...width, row: Math.max(...rows) },
        ),
      );
    };
    const [one, two] = [half(chosen), half(rejected)];
    return {
      chosen_input_ids: one.map(({ ids }) => ids),
      chosen_attention_mask: one.map(({ real }) => real),
      chosen_mask: one.map(({ mask }) => mask),
      rejected_input_ids: two.map(({ ids }) => ids),
      rejected_attention_mask: two.map(({ real }) => real),
      rejected_mask: two.map(({ mask }) => mask),
    };
  };
}

interface Widths {
  readonly prompt: number;
  readonly completion: number;
  readonly row: number;
}

const longest = (rows: Rows): number => Math.max(...rows.map((row) => row.length));

/** [left | prompt | gap | completion | right] paddings. */
function around(
  left: number,
  gap: number,
  right: number,
  prompt: Ids,
  completion: Ids,
  mask: Ids,
  pad: number,
): Laid {
  const row = (first: Ids, second: Ids, fill: number): number[] => [
    ...repeat(fill, left),
    ...first,
    ...repeat(fill, gap),
    ...second,
    ...repeat(fill, right),
  ];
  return {
    ids: row(prompt, completion, pad),
    real: row(repeat(1, prompt.length), repeat(1, completion.length), 0),
    mask: row(repeat(0, prompt.length), mask, 0),
  };
}

const block = (prompt: Ids, completion: Ids, mask: Ids, pad: number, width: Widths): Laid =>
  around(
    width.prompt - prompt.length,
    0,
    width.completion - completion.length,
    prompt,
    completion,
    mask,
    pad,
  );
const gapped = (prompt: Ids, completion: Ids, mask: Ids, pad: number, width: Widths): Laid =>
  around(
    0,
    width.prompt - prompt.length,
    width.completion - completion.length,
    prompt,
    completion,
    mask,
    pad,
  );
/** Flush right, to a multiple of eight. */
const eights = (prompt: Ids, completion: Ids, mask: Ids, pad: number, width: Widths): Laid =>
  around(
    Math.ceil(width.row / 8) * 8 - prompt.length - completion.length,
    0,
    0,
    prompt,
    completion,
    mask,
    pad,
  );

const fixed = { vocab_size: 32, pad_token_id: 2, eos_token_ids: [2] };

export const pairRows: readonly Legal[] = [
  legal('pairs as a block of prompts and completions', { preference: halves(block) }),
  legal(
    'pairs of prompts of at most 512 tokens and answers of at most 1,024, declared',
    {
      preference: (args) =>
        halves(block)({
          ...args,
          prompt_ids: args.prompt_ids.map((row) => row.slice(-512)),
          chosen_ids: args.chosen_ids.map((row) => row.slice(0, 1024)),
          rejected_ids: args.rejected_ids.map((row) => row.slice(0, 1024)),
        }),
    },
    { semantics: { cut_at: [512, 1024] } },
  ),
  legal('pairs stacked to one width', { preference: halves(block, { stacked: true }) }),
  legal('pairs with a gap behind short prompts', { preference: halves(gapped) }),
  legal('pairs flush right, in multiples of eight', { preference: halves(eights) }, { tokens: fixed }),
  legal(
    'stop tokens count in no pair',
    { preference: halves(block, { stop: false, stops: [2] }) },
    { tokens: fixed, semantics: { stop_token_in_mask: false } },
  ),
  legal(
    'stop tokens count in pairs, and not in completions',
    { preference: halves(block) },
    { tokens: fixed, semantics: { stop_token_in_mask: false } },
  ),
];
