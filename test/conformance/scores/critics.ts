// Legal critics and reward models.
import type { Args, Hello, Ok } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

const at = (values: readonly number[], index: number): number => values[index] ?? Number.NaN;

const float32 = { dtype: 'float32' } as const;
const TOKENS = { vocab_size: 64, pad_token_id: 0, eos_token_ids: [0, 1] };
const tokens = { tokens: TOKENS } satisfies Partial<Hello>;

/** What a model makes of a row so far: order and place of every id count. */
const state = (ids: readonly number[]): number =>
  Math.sin(ids.reduce((total, id, at) => total * 0.7 + Math.sin(id * (at + 1) + 1), 0.3) * 3);

const critic =
  (head: (prefix: readonly number[]) => number) =>
  ({ prompt_ids, completion_ids }: Args<'values'>): Ok<'values'> => ({
    values: completion_ids.map((ids, row) =>
      ids.map((_, t) => head([...(prompt_ids[row] ?? []), ...ids.slice(0, t)])),
    ),
  });

const rewardModel = ({ prompt_ids, completion_ids }: Args<'reward_model'>): Ok<'reward_model'> => ({
  scores: completion_ids.map((ids, row) => 5 * state([...(prompt_ids[row] ?? []), ...ids])),
});
/** What stands before the stop token is rated. */
const withoutStop = (args: Args<'reward_model'>): Ok<'reward_model'> =>
  rewardModel({
    ...args,
    completion_ids: args.completion_ids.map((ids) =>
      TOKENS.eos_token_ids.includes(at(ids, ids.length - 1)) ? ids.slice(0, -1) : ids,
    ),
  });

export const critics: readonly Legal[] = [
  legal('a critic', { values: critic(state) }, { ...tokens, can: { values: { temperature: true } } }),
  legal(
    'a critic that reads its prompt in both directions',
    {
      values: (args) => ({
        values: critic(state)(args).values.map((row, at) =>
          row.map((value) => value + state([...(args.prompt_ids[at] ?? [])].toReversed())),
        ),
      }),
    },
    { ...tokens, is: { prefix_attention: true } },
  ),
  legal('a critic whose head is new', { values: critic(() => 0) }, tokens),
  legal(
    'a critic in float32',
    { values: critic((ids) => Math.fround(state(ids))) },
    { ...tokens, ...float32 },
  ),
  legal('a reward model', { reward_model: rewardModel }, tokens),
  ...([-512, 0] as const).map((from) =>
    legal(
      `a reward model of the ${from < 0 ? 'last' : 'first'} 512 tokens of a row, declared`,
      {
        reward_model: ({ prompt_ids, completion_ids }) => ({
          scores: completion_ids.map((ids, row) => {
            const whole = [...(prompt_ids[row] ?? []), ...ids];
            return 5 * state(from < 0 ? whole.slice(from) : whole.slice(0, 512));
          }),
        }),
      },
      { ...tokens, semantics: { cut_at: [512] } },
    ),
  ),
  legal('a reward model that does not see the stop token', { reward_model: withoutStop }, tokens),
];
