// Rollouts of several turns: the rows that are trained hold the very ids that were sampled and injected, and their
// loss masks train each sampled token once, and nothing else. One row for all turns, a row a turn of the assistant, or
// anything between is legal.
import {
  type Finding,
  ownTurns,
  type Property,
  placeTurns,
  type Subject,
  stripOf,
  type Trajectory,
  type TurnToken,
  tokenAt,
  turnTokens,
} from '../../../src/index.ts';
import { ask, base, type Placed, placed, rowStrip, trackFinding, turnName, turnsAsCut } from './rows.ts';

const rowsHold: Property<Trajectory> = {
  ...base,
  id: 'trajectory/rows-are-prompt-and-turns',
  title:
    'A training row is the prompt and the turns after it, id by id, as they were sampled and injected (tool output up to its limit)',
  why: 'If ids went through text, a stop token was never sampled, or a line end got lost between two turns, the policy is trained on a rollout that never happened.',
  catches: ['MT-01', 'MT-02', 'EOS-06', 'TPL-04', 'TPL-03', 'TOK-12'],
  async check(subject, drawn) {
    const { input_ids: rows } = await ask(subject, drawn);
    const cut = { ...drawn, turns: turnsAsCut(subject, drawn, rows) };
    for (const [row, ids] of rows.entries()) {
      if (placeTurns(ids, cut.prompt, cut.turns, cut.stops).length > 0) continue;
      return strayRow(subject, cut, row, ids);
    }
    return undefined;
  },
};

/** Against the rollout with or without what stands behind its stops, whichever the row follows for longer. */
function strayRow(subject: Subject, drawn: Trajectory, row: number, ids: readonly number[]): Finding {
  const all = turnTokens(drawn.prompt, drawn.turns, drawn.stops);
  const agreeing = (tokens: readonly TurnToken[]): number => {
    const first = tokens.findIndex(({ id }, at) => ids[at] !== id);
    return first < 0 ? tokens.length : first;
  };
  const cut = all.filter(({ part }) => part !== 'after stop');
  const tokens = agreeing(cut) >= agreeing(all) ? cut : all;
  const at = agreeing(tokens);
  const next = tokens[at];
  const said =
    at < ids.length
      ? `goes on with ${tokenAt(subject, ids, at)}`
      : `ends after ${at} tokens, in the middle of a turn`;
  const wanted =
    next === undefined
      ? 'the rollout is over there'
      : `the rollout has id ${next.id} of ${turnName(drawn, next.turn)} there`;
  const width = Math.max(ids.length, tokens.length);
  const columns = Array.from({ length: width }, (_, column) => column);
  return {
    kind: 'row',
    sentence: `Row ${row} is not the prompt and the turns after it: it ${said}; ${wanted}.`,
    strips: [
      stripOf(subject, {
        row,
        ids: columns.map((column) => ids[column] ?? tokens[column]?.id ?? 0),
        roles: columns.map((column) => (column < drawn.prompt.length ? 'prompt' : 'completion')),
        tracks: {
          rollout: columns.map((column) => tokens[column]?.id),
          row: columns.map((column) => ids[column]),
        },
        marks: [at],
      }),
    ],
  };
}

const trainedOnce: Property<Trajectory> = {
  ...base,
  id: 'trajectory/sampled-tokens-are-trained-once',
  title:
    'Over all rows, every sampled token is trained exactly once, and the stop tokens of all turns alike (a turn that was cut off may be left out whole)',
  why: 'Turns that are masked away, or trained again in every later row, weigh otherwise than they were rewarded.',
  catches: ['MSK-08', 'MSK-09', 'EOS-09', 'EOS-07', 'MT-02', 'MSK-12'],
  async check(subject, drawn) {
    const rows = await placed(subject, drawn);
    const counts = trainedCounts(rows);
    const candidates = leftOut(subject, drawn, rows).map((out) => {
      const expected = expectedCounts(subject, drawn, counts, out);
      return { expected, wrong: expected.filter(({ token, want }) => countOf(counts, token) !== want) };
    });
    if (candidates.some(({ wrong }) => wrong.length === 0)) return undefined;
    const [plainest] = candidates;
    const [first] = plainest?.wrong ?? [];
    if (plainest === undefined || first === undefined) return undefined;
    return countFinding(subject, drawn, rows, counts, plainest.expected, first);
  },
};

const keyOf = ({ turn, at }: TurnToken): string => `${turn}/${at}`;
type Counts = ReadonlyMap<string, number>;
const countOf = (counts: Counts, token: TurnToken): number => counts.get(keyOf(token)) ?? 0;

/** How often each token is trained, over all rows. */
function trainedCounts({ rows }: Placed): Counts {
  const counts = new Map<string, number>();
  for (const { tokens, mask } of rows)
    for (const [column, token] of tokens.entries())
      counts.set(keyOf(token), (counts.get(keyOf(token)) ?? 0) + (mask[column] ?? 0));
  return counts;
}

/**
 * The legal choices of turns that are not trained, as turn numbers; the plainest first. A turn that was cut off may be
 * left out alone, with its row, with all that came behind it, or with the whole rollout; or the rollout ends with it.
 */
function leftOut(subject: Subject, drawn: Trajectory, { rows }: Placed): readonly (readonly number[])[] {
  const cut = drawn.turns.flatMap(({ finish_reason: why }, turn) => (why === 'length' ? [turn] : []));
  const [first] = cut;
  if (first === undefined) return [[]];
  const all = drawn.turns.map((_, turn) => turn);
  const trained = [[], all.filter((turn) => turn > first)];
  const declared = subject.semantics.truncated_completions_trained;
  if (declared === true) return trained;
  const owned = ownTurns(
    rows.map(({ tokens }) => tokens),
    drawn.turns,
  );
  const withRow = owned.filter((turns) => turns.some((turn) => cut.includes(turn))).flat();
  const untrained = [cut, withRow, all.filter((turn) => turn >= first), all];
  return declared === false ? untrained : [...trained, ...untrained];
}

interface Expected {
  readonly token: TurnToken;
  readonly want: number;
}

/** Where the mask of stop tokens is not declared, that of the first one that may be trained. */
function expectedCounts(
  subject: Subject,
  drawn: Trajectory,
  counts: Counts,
  out: readonly number[],
): Expected[] {
  const tokens = turnTokens([], drawn.turns, drawn.stops).filter(
    ({ part }) => part === 'sampled' || part === 'stop',
  );
  const firstStop = tokens.find(({ part, turn }) => part === 'stop' && !out.includes(turn));
  const declared = subject.semantics.stop_token_in_mask;
  const stop =
    declared === undefined
      ? Math.min(1, firstStop === undefined ? 1 : countOf(counts, firstStop))
      : Number(declared);
  return tokens.map((token) => ({
    token,
    want: out.includes(token.turn) ? 0 : token.part === 'stop' ? stop : 1,
  }));
}

function countFinding(
  subject: Subject,
  drawn: Trajectory,
  { rows }: Placed,
  counts: Counts,
  expected: readonly Expected[],
  { token, want }: Expected,
): Finding {
  const times = countOf(counts, token);
  const often = times === 0 ? 'never trained' : times === 1 ? 'trained' : `trained ${times} times`;
  const owed = want === 0 ? 'not at all' : 'exactly once';
  const what = token.part === 'stop' ? 'stops' : 'was sampled in';
  const shown = rows.filter(({ tokens }) => tokens.some((each) => keyOf(each) === keyOf(token)));
  const wanted = (each: TurnToken): number | undefined =>
    expected.find((other) => keyOf(other.token) === keyOf(each))?.want;
  return {
    kind: token.part === 'stop' ? 'stop' : times < want ? 'untrained' : 'repeated',
    sentence: `Id ${token.id}, token ${token.at} of its turn, ${what} ${turnName(drawn, token.turn)} and is ${often} over ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}; it must be trained ${owed}.`,
    strips: shown.map((row) =>
      rowStrip(
        subject,
        row,
        { 'expected over all rows': row.tokens.map(wanted), 'loss mask': row.mask },
        row.tokens.flatMap((each, column) => (keyOf(each) === keyOf(token) ? [column] : [])),
      ),
    ),
    ...(subject.semantics.truncated_completions_trained === undefined &&
    drawn.turns.some(({ finish_reason: why }) => why === 'length')
      ? {
          note: 'semantics.truncated_completions_trained is not declared: turns that were cut off, their rows or the whole rollout may be left out; none of that fits.',
        }
      : {}),
  };
}

function neverTrained(
  id: string,
  title: string,
  why: string,
  catches: readonly string[],
  parts: readonly TurnToken['part'][],
  words: string,
): Property<Trajectory> {
  return {
    ...base,
    id,
    title,
    why,
    catches,
    async check(subject, drawn) {
      const { rows } = await placed(subject, drawn);
      return trackFinding(
        subject,
        rows,
        'trained',
        ({ mask }) => mask,
        ({ part }) => (parts.includes(part) ? 0 : undefined),
        (column, { row, ids, tokens }) =>
          `${tokenAt(subject, ids, column)} of row ${row} ${words.replace('TURN', turnName(drawn, tokens[column]?.turn ?? -1))}, but the loss mask trains on it.`,
      );
    },
  };
}

export const trajectoryProperties: readonly Property<Trajectory>[] = [
  rowsHold,
  trainedOnce,
  neverTrained(
    'trajectory/injected-tokens-are-never-trained',
    'Text of a tool or a user is never trained, nor is the prompt',
    'Trained on tool output, the policy learns to make results up instead of asking for them.',
    ['MSK-02', 'MSK-01', 'MSK-05'],
    ['prompt', 'injected'],
    'was not sampled: it belongs to TURN',
  ),
  {
    ...neverTrained(
      'trajectory/nothing-behind-a-stop-is-trained',
      'Within a turn, nothing after its stop token is trained',
      'Text that the sampler wrote after the end of its turn was thrown away before the tool was called. If it is trained all the same, the policy learns to answer for the tool.',
      ['MT-04', 'EOS-03'],
      ['after stop'],
      'stands after the stop token of TURN',
    ),
    coverage: { ...base.coverage, 'tokens after a stop': 0.1 },
    needs: [
      ({ hello }) =>
        hello.ops.trajectory?.after_stop === 'any'
          ? undefined
          : 'op `trajectory` does not declare after_stop "any": nothing is ever sent after a stop token',
    ],
  },
];
