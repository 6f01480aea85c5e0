// Of rollouts of several turns: where what a tool said is cut, and which token has the reward of a turn.
import { specials } from '../../../generators/specials.ts';
import type { Args } from '../../../protocol/message.ts';
import { cutTools, placeTurns, type TurnToken } from '../../../reference/index.ts';
import type { Ids, Semantics, Turn } from '../../../vocabulary.ts';
import { stopsOf } from '../../needs.ts';
import type { Subject, World } from '../../property.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';

type Rollout = Args<'trajectory'>;

export const toolTruncation: Probe<Rollout> = {
  id: 'tool_truncation_side',
  items: ['tool_truncation_side'],
  ops: ['trajectory'],
  complete: true,
  lack: offering('max_tool_tokens'),
  variants: async () =>
    SIDES.map((tool_truncation_side) => ({
      name: `what a tool said is cut ${tool_truncation_side === 'middle' ? 'in the middle' : `on the ${tool_truncation_side}`}`,
      items: { tool_truncation_side },
    })),
  cases: (world) =>
    SHAPES.map(([length, limit]) => ({ ...rolloutOf(world, length), max_tool_tokens: limit })),
  async fits(subject, given, variants) {
    const { input_ids: rows } = await answerOf(subject, given);
    const long = rows.filter((ids) => ids.length > untilTool(given));
    if (long.length === 0) return discard('has no effect: no row holds what a tool said');
    return variants.map(({ items }) => {
      const ways = cutTools(given.turns, given.max_tool_tokens, items.tool_truncation_side);
      const fitting = ways.map(
        (turns) => long.filter((ids) => place(ids, given, turns) !== undefined).length,
      );
      return misfitOf(
        [
          {
            where: 'the number of rows that are cut so',
            expected: long.length,
            observed: Math.max(...fitting),
          },
        ],
        () => 0.5,
      );
    });
  },
};

export const turnRewardPlacement: Probe<Rollout> = {
  id: 'turn_reward_placement',
  items: ['turn_reward_placement'],
  ops: ['trajectory'],
  complete: true,
  lack: offering('turn_rewards'),
  variants: async () => [
    { name: "each reward stands on its turn's last trained token", items: { turn_reward_placement: 'turn' } },
    {
      name: "the rewards of a row stand on the row's last trained token",
      items: { turn_reward_placement: 'row' },
    },
  ],
  cases: (world) => REWARDS.map((turn_rewards) => ({ ...rolloutOf(world, 1), turn_rewards })),
  async fits(subject, given, variants) {
    const { input_ids: rows, loss_mask: masks, rewards } = await answerOf(subject, given);
    if (rewards === undefined) return discard('the answer has no rewards');
    const laid = rows.map((ids, row) => {
      const tokens =
        place(ids, given, given.turns) ?? discard('a row is not the prompt and the turns after it');
      return tokens.map((token, column) => ({ ...token, on: masks[row]?.[column] === 1 }));
    });
    if (laid.every((row) => new Set(row.filter(({ on }) => on).map(({ turn }) => turn)).size < 2))
      return discard('has no effect: no row trains several turns');
    return variants.map(({ items }) =>
      misfitOf(
        laid.flatMap((row, at) =>
          expectedOf(row, given.turn_rewards ?? [], items).map((expected, column) => ({
            where: `the reward of token ${column} of row ${at}`,
            expected,
            observed: rewards[at]?.[column],
          })),
        ),
        () => SMALL,
      ),
    );
  },
};

const SIDES = ['right', 'left', 'middle'] as const;
/** Ids that a tool said, and the limit: whatever side they are lost on, others stay. */
const SHAPES = [
  [5, 2],
  [5, 3],
  [6, 4],
] as const;
/** Of the two turns and the tool between them; neither the sum nor one of them is another's. */
const REWARDS = [
  [-0.25, 0, 1],
  [0.5, 0, -2],
] as const;
/** In any precision these numbers are written as they are. */
const SMALL = 1 / 16;

function offering(name: 'max_tool_tokens' | 'turn_rewards') {
  return ({ hello }: World): string | undefined =>
    hello.ops.trajectory?.[name] === true ? undefined : `op \`trajectory\` does not take ${name}`;
}

async function answerOf(subject: Subject, given: Rollout) {
  const outcome = await subject.attempt('trajectory', given);
  return 'ok' in outcome ? outcome.ok : discard(`the rollout is refused (${outcome.refused})`);
}

/** Two turns that stopped, and a tool between them that said so many ids, all of them different. */
function rolloutOf(world: World, length: number): Rollout {
  const [special] = draw(specials(world.hello.tokens, stopsOf(world, 'trajectory')), 1);
  const { plain = [], stops = [] } = special ?? {};
  const ids = (count: number, from: number): Ids =>
    Array.from({ length: count }, (_, at) => plain[(from + at) % plain.length] ?? 0);
  const said = (from: number): Turn => ({
    role: 'assistant',
    ids: [...ids(2, from), ...stops.slice(0, 1)],
    logprobs: [-0.5, -0.25, -1],
    finish_reason: 'stop',
  });
  return {
    prompt_ids: ids(2, 0),
    turns: [
      said(2),
      { role: 'tool', ids: ids(length, 4), logprobs: [], finish_reason: 'none' },
      said(4 + length),
    ],
    advantage: 1,
    eos_token_ids: stops,
  };
}

const untilTool = ({ prompt_ids, turns }: Rollout): number => prompt_ids.length + (turns[0]?.ids.length ?? 0);

const place = (ids: Ids, { prompt_ids, eos_token_ids }: Rollout, turns: readonly Turn[]) =>
  placeTurns(ids, prompt_ids, turns, eos_token_ids)[0];

function expectedOf(
  row: readonly (TurnToken & { readonly on: boolean })[],
  rewards: readonly number[],
  { turn_reward_placement: way }: Semantics,
): number[] {
  const ends = new Map<number, number>();
  for (const [column, { on, turn }] of row.entries()) if (on) ends.set(turn, column);
  const last = Math.max(...ends.values());
  const expected = row.map(() => 0);
  for (const [turn, column] of ends) {
    const at = way === 'row' ? last : column;
    expected[at] = (expected[at] ?? 0) + (rewards[turn] ?? 0);
  }
  return expected;
}
