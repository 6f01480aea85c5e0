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
    'Tool output above max_tool_tokens is cut to exactly that many ids, on the declared side; shorter output and user messages stay whole',
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
        return discard(`row ${row} is not the prompt and the turns after it, however cut`, 'trainer');
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
  // What leads nowhere leads nowhere again: a rollout of many turns has too many ways to go through all of them.
  const dead = new Set<string>();

  /** The turns from this one on, of which so many may be cut otherwise, where the row goes on at this column. */
  function from(turn: number, column: number, wrong: number): readonly Turn[] | undefined {
    const place = `${turn} ${column} ${wrong}`;
    const [own, full] = [turns[turn], whole[turn]];
    if (own === undefined || full === undefined || dead.has(place))
      return column === row.length && own === undefined ? [] : undefined;
    for (const { ids, cost } of waysOf(own, full, stops)) {
      if (cost > wrong || ids.some((id, at) => row[column + at] !== id)) continue;
      const rest = from(turn + 1, column + ids.length, wrong - cost);
      if (rest !== undefined) return [cost === 0 ? own : { ...own, ids }, ...rest];
    }
    // A row may end before the turns do.
    if (column === row.length) return turns.slice(turn);
    dead.add(place);
    return undefined;
  }

  if (prompt.some((id, at) => row[at] !== id)) return undefined;
  for (let wrong = 1; wrong <= injected; wrong++) {
    const found = from(0, prompt.length, wrong);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a row may have of a turn: of what was sampled all, or all through its stop; of what was injected any head and tail. */
function waysOf(
  own: Turn,
  { ids: full }: Turn,
  stops: Ids,
): readonly { readonly ids: Ids; readonly cost: number }[] {
  const told = { ids: own.ids, cost: 0 };
  if (own.role !== 'assistant') return [told, ...partsOf(full).map((ids) => ({ ids, cost: 1 }))];
  const stop = own.ids.findIndex((id) => stops.includes(id));
  return stop < 0 ? [told] : [{ ids: own.ids.slice(0, stop + 1), cost: 0 }, told];
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
    sentence: `Row ${row} keeps ${left.length === 0 ? 'nothing' : `[${left.join(', ')}]`} of ${turnName(drawn, at)}, [${whole.join(', ')}]; ${rule}.`,
    strips: [rowStrip(subject, { row, ids, mask: [], tokens }, {}, marks)],
  };
}

export const toolCuts: readonly Property<Trajectory>[] = [cutToTheLimit];
