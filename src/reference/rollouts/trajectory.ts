// A rollout of several turns laid on a training row: which token is whose. A row is the prompt and then the turns in
// order, up to the end of one of them; nothing is inferred from ids, because injected text is full of stop tokens.
import type { Ids, ToolTruncationSide, Turn } from '../../vocabulary.ts';

export type TurnPart = 'prompt' | 'sampled' | 'stop' | 'after stop' | 'injected';

export interface TurnToken {
  readonly id: number;
  readonly part: TurnPart;
  /** Index into the turns; -1: the prompt. */
  readonly turn: number;
  /** Index within the turn. */
  readonly at: number;
}

/** Every token of the rollout in order, what the sampler left behind its stop tokens included. */
export function turnTokens(prompt: Ids, turns: readonly Turn[], stops: Ids): TurnToken[] {
  return [
    ...prompt.map((id, at): TurnToken => ({ id, part: 'prompt', turn: -1, at })),
    ...turns.flatMap((_, turn) => tokensOf(turns, turn, stops)),
  ];
}

/**
 * The tokens of a row (T,), one each: the prompt, then turns in order, each whole, or without what stands behind its
 * stop token. The last turns may be missing. Empty: the row is no such thing, so ids were lost, added or changed. More
 * than one: what stands behind a stop token reads like the turn that comes next.
 */
export function placeTurns(row: Ids, prompt: Ids, turns: readonly Turn[], stops: Ids): TurnToken[][] {
  if (!standsAt(row, 0, prompt)) return [];
  const first = prompt.map((id, at): TurnToken => ({ id, part: 'prompt', turn: -1, at }));
  return placeFrom(row, prompt.length, turns, 0, stops).map((rest) => [...first, ...rest]);
}

function placeFrom(
  row: Ids,
  column: number,
  turns: readonly Turn[],
  turn: number,
  stops: Ids,
): TurnToken[][] {
  const found: TurnToken[][] = [];
  if (turn < turns.length) {
    const whole = tokensOf(turns, turn, stops);
    const cut = whole.filter(({ part }) => part !== 'after stop');
    for (const tokens of cut.length < whole.length ? [cut, whole] : [whole]) {
      const ids = tokens.map(({ id }) => id);
      if (!standsAt(row, column, ids)) continue;
      for (const rest of placeFrom(row, column + ids.length, turns, turn + 1, stops))
        found.push([...tokens, ...rest]);
    }
  }
  // Turns without tokens leave the end of the row where it is: once is enough.
  return found.length === 0 && column === row.length ? [[]] : found;
}

/** The tokens of one turn. A turn of the assistant that ended by its length has no stop token. */
function tokensOf(turns: readonly Turn[], turn: number, stops: Ids): TurnToken[] {
  const { role, ids } = turns[turn] as Turn;
  const stop = ids.findIndex((id) => stops.includes(id));
  return ids.map((id, at) => {
    if (role !== 'assistant') return { id, part: 'injected', turn, at };
    return { id, part: stop < 0 || at < stop ? 'sampled' : at === stop ? 'stop' : 'after stop', turn, at };
  });
}

function standsAt(row: Ids, column: number, ids: Ids): boolean {
  return column + ids.length <= row.length && ids.every((id, at) => row[column + at] === id);
}

/**
 * Which turns of the assistant each row is there for, by how far the rows reach: those that no shorter row holds.
 * One row for all turns owns them all; of rows that each repeat the history, each owns its last.
 */
export function ownTurns(
  rows: readonly (readonly TurnToken[])[],
  turns: readonly Turn[],
): readonly (readonly number[])[] {
  const reach = rows.map((row) => row.reduce((last, { turn }) => Math.max(last, turn), -1));
  return reach.map((end, row) => {
    const before = reach.filter((other, at) => other < end || (other === end && at < row));
    const begin = Math.max(-1, ...before);
    return turns.flatMap(({ role }, turn) =>
      role === 'assistant' && turn > begin && turn <= end ? [turn] : [],
    );
  });
}

/**
 * The turns with what tools said cut to `limit` ids, in every legal way: on this side, or, where none is declared, on any. Of
 * what is cut in the middle, an odd number of ids leaves one more to the head or to the tail. Users are never cut short.
 */
export function cutTools(
  turns: readonly Turn[],
  limit: number | undefined,
  side: ToolTruncationSide | undefined,
): readonly (readonly Turn[])[] {
  if (limit === undefined || !turns.some(({ role, ids }) => role === 'tool' && ids.length > limit))
    return [turns];
  const heads: readonly number[] =
    side === undefined ? Object.values(HEADS).flatMap((of) => of(limit)) : HEADS[side](limit);
  return [...new Set(heads)].map((head) =>
    turns.map((turn) =>
      turn.role === 'tool' && turn.ids.length > limit
        ? { ...turn, ids: [...turn.ids.slice(0, head), ...turn.ids.slice(turn.ids.length - (limit - head))] }
        : turn,
    ),
  );
}

/** How many of the ids that stay are the first ones. */
const HEADS: Readonly<Record<ToolTruncationSide, (limit: number) => readonly number[]>> = {
  right: (limit) => [limit],
  left: () => [0],
  middle: (limit) => [Math.ceil(limit / 2), Math.floor(limit / 2)],
};
