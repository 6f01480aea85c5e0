// Golden cases of what is computed from logits or by the trainer's own models: scoring, entropy, the supervised loss,
// preference losses. Logits are multiples of 1/8, made by a formula that anybody can follow.
import type { World } from '../../check/property.ts';
import type { Args } from '../../protocol/message.ts';
import { type Cube, IGNORE_INDEX, type Matrix } from '../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../case.ts';
import { endedByPad, idsOf, otherArrangement } from '../ids.ts';

/** Ids of the logits that are handed over. */
const VOCABULARY = 5;

/** (B, T, V): logit v behind token t of row b is ((7 b + 5 t + 3 v) mod 11) / 8 - 0.5. */
function logits(rows: number, columns: number): Cube {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  return numbers(rows).map((b) =>
    numbers(columns).map((t) => numbers(VOCABULARY).map((v) => ((7 * b + 5 * t + 3 * v) % 11) / 8 - 0.5)),
  );
}

/** One full row, and one padded on the left. */
const INPUT_IDS: Matrix = [
  [1, 4, 2, 3, 1],
  [0, 3, 1, 2, 2],
];
const ATTENTION: Matrix = [
  [1, 1, 1, 1, 1],
  [0, 1, 1, 1, 1],
];
const PROMPT_WIDTH = 2;
const COMPLETIONS: Matrix = [
  [0, 0, 1, 1, 1],
  [0, 0, 1, 1, 0],
];

function logprobArgs(temperature: number): Args<'logprobs'> {
  return {
    input_ids: INPUT_IDS,
    attention_mask: ATTENTION,
    logits: logits(2, 5),
    prompt_width: PROMPT_WIDTH,
    temperature,
  };
}

const scored: readonly GoldenCase[] = [
  goldenCase('logprobs/temperature-one', 'logprobs', () => logprobArgs(1)),
  ...([0.5, 2] as const).map((temperature) =>
    goldenCase(`logprobs/temperature-${temperature}`, 'logprobs', ({ hello }) =>
      hello.ops.logprobs?.temperature === true
        ? logprobArgs(temperature)
        : 'op `logprobs` scores at temperature 1 only',
    ),
  ),
  goldenCase('logprobs/two-shards', 'logprobs', ({ hello }) =>
    hello.ops.logprobs?.shards === true
      ? {
          input_ids: INPUT_IDS.map((row) => row.slice(0, -1)),
          attention_mask: ATTENTION.map((row) => row.slice(0, -1)),
          logits: logits(2, 4),
          prompt_width: PROMPT_WIDTH,
          temperature: 1,
          shards: 2,
        }
      : 'op `logprobs` does not compute in shards',
  ),
];

const NO_TOKENS = 'hello.tokens is needed: the ids must be ids of the model';

/** Two rows for the trainer's own models, of 3 + 2 and 1 + 3 tokens. */
function rows(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  if (world.hello.tokens === undefined) return NO_TOKENS;
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: [plain(0, 1, 2), plain(3)],
    completion_ids: [
      [...plain(4), stop(0)],
      [...plain(5, 6), stop(0)],
    ],
  };
}

/** One row only: what a batch mate does to it would show beside the case of two. */
function row(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  const both = rows(world);
  if (typeof both === 'string') return both;
  return { prompt_ids: both.prompt_ids.slice(1), completion_ids: both.completion_ids.slice(1) };
}

/** Of lengths that no sorting leaves in this order; two have one prompt. */
function threeRows(world: World): { prompt_ids: number[][]; completion_ids: number[][] } | string {
  const both = rows(world);
  if (typeof both === 'string') return both;
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: [plain(3), ...both.prompt_ids],
    completion_ids: [[...plain(7), stop(0)], ...both.completion_ids],
  };
}

const BATCHES = [
  ['two-rows', rows],
  ['three-rows', threeRows],
  ['one-row', row],
] as const;

const withModels: readonly GoldenCase[] = [
  goldenCase('score/two-rows', 'score', rows),
  goldenCase('score/three-rows', 'score', threeRows),
  goldenCase('score/one-row', 'score', row),
  goldenCase('score/packed', 'score', (world) => {
    if (world.hello.ops.score?.packed !== true) return 'op `score` does not score packed rows';
    const given = rows(world);
    return typeof given === 'string' ? given : { ...given, packed: true };
  }),
  ...BATCHES.map(([name, of]) =>
    goldenCase(`values/${name}`, 'values', (world) => {
      const given = of(world);
      return typeof given === 'string' ? given : { ...given, temperature: 1 };
    }),
  ),
  goldenCase('values/another-temperature', 'values', (world) => {
    if (world.hello.ops.values?.temperature !== true) return 'op `values` is asked at temperature 1 only';
    const given = rows(world);
    return typeof given === 'string' ? given : { ...given, temperature: 0.5 };
  }),
  goldenCase('reward_model/pad-is-a-stop', 'reward_model', (world) => {
    if (world.hello.tokens === undefined) return NO_TOKENS;
    const ids = endedByPad(idsOf(world));
    return (
      otherArrangement(world, 'pad is a stop') ?? {
        prompt_ids: [[ids.pad, ...ids.plain(0)], ids.plain(1)],
        completion_ids: [
          [...ids.plain(2), ids.pad],
          [...ids.plain(3, 4), ids.pad],
        ],
      }
    );
  }),
  ...BATCHES.map(([name, of]) => goldenCase(`reward_model/${name}`, 'reward_model', of)),
  ...BATCHES.map(([name, of]) => goldenCase(`update/${name}`, 'update', of)),
];

const entropyArgs = (completion_mask: Matrix): Args<'entropy'> => ({
  input_ids: INPUT_IDS,
  attention_mask: ATTENTION,
  logits: logits(2, 5),
  completion_mask,
  prompt_width: PROMPT_WIDTH,
});

/** The reference's logits are those of the policy one row on. */
const fullKl: readonly GoldenCase[] = ([1, 0.5] as const).map((temperature) =>
  goldenCase(`full_kl/temperature-${temperature === 1 ? 'one' : temperature}`, 'full_kl', ({ hello }) =>
    temperature !== 1 && hello.ops.full_kl?.temperature !== true
      ? 'op `full_kl` is computed at temperature 1 only'
      : { ...entropyArgs(COMPLETIONS), ref_logits: logits(3, 5).slice(1), temperature },
  ),
);

const entropies: readonly GoldenCase[] = [
  goldenCase('entropy/completions', 'entropy', () => entropyArgs(COMPLETIONS)),
  goldenCase('entropy/gap-of-a-tool', 'entropy', () =>
    entropyArgs([
      [0, 0, 1, 0, 1],
      [0, 0, 0, 1, 0],
    ]),
  ),
];

/** The labels of the last tokens, and none for the padding. */
const LABELS: Matrix = [
  [IGNORE_INDEX, IGNORE_INDEX, 2, 3, 1],
  [IGNORE_INDEX, IGNORE_INDEX, IGNORE_INDEX, 2, 2],
];

const SPLITS = { micro_batches: 'micro-batches', ranks: 'two-ranks', shards: 'two-shards' } as const;

const sftArgs = (labels: Matrix): Args<'sft_loss'> => ({
  input_ids: INPUT_IDS,
  attention_mask: ATTENTION,
  labels,
  logits: logits(2, 5),
  micro_batches: [[0, 1]],
});

const supervised: readonly GoldenCase[] = [
  goldenCase('sft_loss/one-batch', 'sft_loss', () => sftArgs(LABELS)),
  goldenCase('sft_loss/every-token', 'sft_loss', () =>
    sftArgs(INPUT_IDS.map((ids, b) => ids.map((id, t) => (ATTENTION[b]?.[t] === 1 ? id : IGNORE_INDEX)))),
  ),
  goldenCase('sft_loss/row-without-labels', 'sft_loss', () =>
    sftArgs(LABELS.map((row, b) => (b === 1 ? row.map(() => IGNORE_INDEX) : row))),
  ),
  ...(['micro_batches', 'ranks', 'shards'] as const).map((name) =>
    goldenCase(`sft_loss/${SPLITS[name]}`, 'sft_loss', ({ hello }) => {
      if (hello.ops.sft_loss?.[name] !== true) return `op \`sft_loss\` does not take \`${name}\``;
      const args = sftArgs(LABELS);
      if (name === 'shards') return { ...args, shards: 2 };
      return name === 'ranks' ? { ...args, ranks: [[0], [1]] } : { ...args, micro_batches: [[0], [1]] };
    }),
  ),
];

const pairArgs = {
  chosen_logprobs: [
    [-0.5, -1],
    [-0.25, -0.75, -1.5],
  ],
  rejected_logprobs: [[-1.5, -1, -0.5], [-2]],
  ref_chosen_logprobs: [
    [-1, -0.75],
    [-0.5, -0.5, -1.25],
  ],
  ref_rejected_logprobs: [[-1, -1, -0.25], [-1.5]],
} as const;

const preferences: readonly GoldenCase[] = [
  goldenCase('preference_loss/two-pairs', 'preference_loss', () => pairArgs),
  goldenCase('preference_loss/equal-to-the-reference', 'preference_loss', () => ({
    ...pairArgs,
    ref_chosen_logprobs: pairArgs.chosen_logprobs,
    ref_rejected_logprobs: pairArgs.rejected_logprobs,
  })),
  // Of three lengths that no sorting leaves in this order, and a margin that clamps and tolerances meet.
  goldenCase('preference_loss/far-apart', 'preference_loss', () => ({
    chosen_logprobs: [[-64, -64], [-0.25], [-0.5, -1, -0.75]],
    rejected_logprobs: [[-0.5], [-64, -64, -32], [-1, -1.5]],
    ref_chosen_logprobs: [[-0.5, -0.75], [-0.5], [-1, -0.25, -0.5]],
    ref_rejected_logprobs: [[-1], [-0.75, -1, -0.25], [-0.5, -2]],
  })),
  goldenCase('preference_loss/settings', 'preference_loss', ({ hello }) => {
    const knobs = Object.entries(hello.ops.preference_loss?.knobs ?? {});
    if (knobs.length === 0) return 'op `preference_loss` lists no settings';
    const settings = Object.fromEntries(knobs.map(([name, values]) => [name, values.at(-1) ?? 0]));
    return { ...pairArgs, settings };
  }),
];

export const logitCases: readonly GoldenCase[] = [
  ...scored,
  ...withModels,
  ...entropies,
  ...fullKl,
  ...supervised,
  ...preferences,
];
