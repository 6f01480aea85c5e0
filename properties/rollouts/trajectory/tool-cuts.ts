// What a tool said above the limit of the request: so many ids are left, on one side, and nothing else is cut.
import {
  discard,
  type Finding,
  type Ids,
  type Property,
  placeTurns,
  type Subject,
  type Trajectory,
  type Turn,
  trajectory,
  turnTokens,
} from '../../../src/index.ts';
import { ask, base, optionsOf, rowStrip, turnName, turnsAsCut } from './rows.ts';

const cutToTheLimit: Property<Trajectory> = {
  ...base,
  id: 'trajectory/tool-responses-are-cut-to-the-limit',
  settles: ['tool_truncation_side'],
  title:
    'Of what a tool said above max_tool_tokens exactly so many ids are left, on the declared side; what fits, and what a user said, is left alone',
  why: 'Cut at the other end, a search loses its best hit or a program its result, and nothing fails: the policy is trained to answer without what it asked for.',
  catches: ['MT-05'],
  given: (world) => trajectory({ ...optionsOf(world), toolLimit: 'always' }),
  coverage: { 'tool output above the limit': 0.1, 'tool output': 0.2 },
  needs: [
    ({ hello }) =>
      hello.ops.trajectory?.max_tool_tokens === true
        ? undefined
        : 'op `trajectory` does not declare max_tool_tokens',
  ],
  async check(subject, drawn) {
    const { input_ids: rows } = await ask(subject, drawn);
    const turns = turnsAsCut(subject, drawn, rows);
    for (const [row, ids] of rows.entries()) {
      if (placeTurns(ids, drawn.prompt, turns, drawn.stops).length > 0) continue;
      const kept = cutAnyhow(ids, drawn, turns);
      if (kept === undefined)
        return discard(`row ${row} is not the prompt and the turns behind it, however cut`, 'trainer');
      return cutFinding(subject, drawn, row, ids, turns, kept);
    }
    return undefined;
  },
};

/** The turns as the row has them, if something was cut out of each injected one at most: as few as can be otherwise than `turns`. */
function cutAnyhow(
  row: Ids,
  { prompt, turns: whole, stops }: Trajectory,
  turns: readonly Turn[],
): readonly Turn[] | undefined {
  const injected = turns.filter(({ role }) => role !== 'assistant').length;
  for (let wrong = 1; wrong <= injected; wrong++) {
    const found = cutSomehow(row, prompt, whole, turns, stops, wrong);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `turns`, of which so many may be cut out of the whole ones in another way. */
function cutSomehow(
  row: Ids,
  prompt: Ids,
  whole: readonly Turn[],
  turns: readonly Turn[],
  stops: Ids,
  wrong: number,
  from = 0,
): readonly Turn[] | undefined {
  if (placeTurns(row, prompt, turns, stops).length > 0) return turns;
  if (wrong === 0) return undefined;
  for (let at = from; at < turns.length; at++) {
    const [turn, full] = [turns[at], whole[at]];
    if (turn === undefined || full === undefined || turn.role === 'assistant') continue;
    for (const ids of partsOf(full.ids)) {
      const other = turns.map((each, index) => (index === at ? { ...each, ids } : each));
      const found = cutSomehow(row, prompt, whole, other, stops, wrong - 1, at + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** A head and a tail of these ids, for every two of them; the longest first. */
function partsOf(ids: Ids): Ids[] {
  return ids
    .flatMap((_, left) =>
      Array.from({ length: left + 1 }, (__, head) => [
        ...ids.slice(0, head),
        ...ids.slice(ids.length - (left - head)),
      ]),
    )
    .concat([[...ids]])
    .sort((a, b) => b.length - a.length);
}

function cutFinding(
  subject: Subject,
  drawn: Trajectory,
  row: number,
  ids: Ids,
  turns: readonly Turn[],
  kept: readonly Turn[],
): Finding {
  const at = kept.findIndex((turn, index) => turn !== turns[index]);
  const [whole, left, wanted] = [drawn.turns[at], kept[at], turns[at]].map((turn) => turn?.ids ?? []) as [
    Ids,
    Ids,
    Ids,
  ];
  const limit = drawn.maxToolTokens ?? 0;
  const side = subject.semantics.tool_truncation_side;
  const user = drawn.turns[at]?.role === 'user';
  const fits = !user && whole.length <= limit;
  const kind = user ? 'user' : fits ? 'fits' : left.length === limit ? 'side' : 'limit';
  const rule = {
    user: 'max_tool_tokens is for what tools say',
    fits: `max_tool_tokens is ${limit}, so all of it fits`,
    limit: `max_tool_tokens is ${limit}`,
    side:
      side === undefined
        ? `as the others are cut, [${wanted.join(', ')}] must be`
        : `tool_truncation_side is "${side}", which leaves [${wanted.join(', ')}]`,
  }[kind];
  const tokens =
    placeTurns(ids, drawn.prompt, kept, drawn.stops)[0] ?? turnTokens(drawn.prompt, kept, drawn.stops);
  const marks = tokens.flatMap(({ turn }, column) => (turn === at ? [column] : []));
  return {
    kind,
    sentence: `Of ${turnName(drawn, at)}, [${whole.join(', ')}], ${left.length === 0 ? 'nothing' : `[${left.join(', ')}]`} is left in row ${row}; ${rule}.`,
    strips: [rowStrip(subject, { row, ids, mask: [], tokens }, {}, marks)],
  };
}

export const toolCuts: readonly Property<Trajectory>[] = [cutToTheLimit];
