// Legal ways to cut what tools say, and to lay rewards of single turns on the tokens of rows: those that the examples have not.
import type { Args, Ok, Semantics, ToolTruncationSide, Turn } from '../../../src/index.ts';
import { type Legal, legal, sum } from '../legal.ts';

type Trajectory = (args: Args<'trajectory'>) => Ok<'trajectory'>;

/** A token of a row: its id, the turn that it is of, and whether it is trained. */
interface Token {
  readonly id: number;
  readonly turn: number;
  readonly on: boolean;
}

const assistant = (turn: Turn | undefined): boolean => turn?.role === 'assistant';
const wasCut = (turn: Turn | undefined): boolean => turn?.finish_reason === 'length';

/** One response, with so many of its first ids among those that stay. */
const cut =
  (head: (limit: number) => number) =>
  ({ turns, max_tool_tokens: limit }: Args<'trajectory'>): readonly Turn[] =>
    turns.map((turn) => {
      if (limit === undefined || turn.role !== 'tool' || turn.ids.length <= limit) return turn;
      const first = head(limit);
      return {
        ...turn,
        ids: [...turn.ids.slice(0, first), ...turn.ids.slice(turn.ids.length + first - limit)],
      };
    });

const CUTS: Readonly<Record<ToolTruncationSide, (limit: number) => number>> = {
  left: () => 0,
  right: (limit) => limit,
  middle: (limit) => Math.floor(limit / 2),
};

/** All tokens of the rollout, without what stands behind a stop. */
function tokensOf(args: Args<'trajectory'>, turns: readonly Turn[], leaveOut = false): Token[] {
  return [
    ...args.prompt_ids.map((id) => ({ id, turn: -1, on: false })),
    ...turns.flatMap((turn, at) => {
      const stop = assistant(turn) ? turn.ids.findIndex((id) => args.eos_token_ids.includes(id)) : -1;
      const ids = stop < 0 ? turn.ids : turn.ids.slice(0, stop + 1);
      return ids.map((id) => ({ id, turn: at, on: assistant(turn) && !(leaveOut && wasCut(turn)) }));
    }),
  ];
}

/** The rewards of a row: each turn's at the last token that `places` finds of it, or all of them at the row's. */
type Place = (row: readonly Token[], own: readonly number[]) => number[];

const onTurns: Place = (row, own) =>
  row.map(({ turn, on }, at) =>
    on && !row.slice(at + 1).some((later) => later.on && later.turn === turn) ? (own[turn] ?? 0) : 0,
  );
const onRows: Place = (row, own) => {
  const total = sum(onTurns(row, own));
  const last = row.findLastIndex(({ on }) => on);
  return row.map((_, at) => (at === last ? total : 0));
};
/** Whether or not the turn is trained. */
const onSampled =
  (turns: readonly Turn[]): Place =>
  (row, own) =>
    row.map(({ turn }, at) => (assistant(turns[turn]) && row[at + 1]?.turn !== turn ? (own[turn] ?? 0) : 0));

function answer(
  rows: readonly (readonly Token[])[],
  own: readonly number[] | undefined,
  place: Place,
): Ok<'trajectory'> {
  return {
    input_ids: rows.map((row) => row.map(({ id }) => id)),
    loss_mask: rows.map((row) => row.map(({ on }) => Number(on))),
    ...(own === undefined ? {} : { rewards: rows.map((row) => place(row, own)) }),
  };
}

const oneRow =
  (side: ToolTruncationSide | ((limit: number) => number), place: Place): Trajectory =>
  (args) =>
    answer(
      [tokensOf(args, cut(typeof side === 'string' ? CUTS[side] : side)(args))],
      args.turn_rewards,
      place,
    );

/** A row an answer; only that answer is trained there. */
const aRowEach =
  (side: ToolTruncationSide, place: Place): Trajectory =>
  (args) => {
    const all = tokensOf(args, cut(CUTS[side])(args));
    const ends = args.turns.flatMap((turn, at) => (assistant(turn) ? [at] : []));
    const rows = ends.map((end) =>
      all
        .filter(({ turn }) => turn <= end)
        .map((token) => ({ ...token, on: token.on && token.turn === end })),
    );
    return answer(rows, args.turn_rewards, place);
  };

/** Turns that were cut off are not trained; their rewards are given all the same, on the last token that they have, or not. */
const leavesOut =
  (kept: boolean): Trajectory =>
  (args) => {
    const turns = cut(CUTS.right)(args);
    return answer([tokensOf(args, turns, true)], args.turn_rewards, kept ? onSampled(turns) : onTurns);
  };

const rollout = (name: string, trajectory: Trajectory, semantics?: Semantics): Legal =>
  legal(
    `rollout: ${name}`,
    { trajectory },
    {
      can: { trajectory: { after_stop: 'any', max_tool_tokens: true, turn_rewards: true } },
      ...(semantics === undefined ? {} : { semantics }),
    },
  );

export const rewardedTurns: readonly Legal[] = [
  rollout('tools are cut on the left, undeclared', oneRow('left', onTurns)),
  rollout('tools are cut on the left, declared', oneRow('left', onTurns), { tool_truncation_side: 'left' }),
  rollout('tools are cut in the middle, undeclared', oneRow('middle', onTurns)),
  rollout(
    'tools are cut in the middle, the head is the longer',
    oneRow((limit) => Math.ceil(limit / 2), onTurns),
    { tool_truncation_side: 'middle' },
  ),
  rollout('tools are cut in the middle, the tail is the longer', oneRow('middle', onRows), {
    tool_truncation_side: 'middle',
    turn_reward_placement: 'row',
  }),
  rollout('rewards of a row are added up, undeclared', oneRow('right', onRows)),
  rollout('a row an answer with its reward, undeclared', aRowEach('left', onTurns)),
  rollout('a row an answer with its reward, declared as that of the row', aRowEach('right', onRows), {
    tool_truncation_side: 'right',
    turn_reward_placement: 'row',
  }),
  rollout('cut turns are left out, and their rewards with them', leavesOut(false), {
    truncated_completions_trained: false,
  }),
  rollout('cut turns are left out, and their rewards stay', leavesOut(true), {
    truncated_completions_trained: false,
    turn_reward_placement: 'turn',
  }),
];
