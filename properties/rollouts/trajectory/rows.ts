// The answer of op `trajectory`, laid on the rollout: which token of each row is whose. Shared by the properties of the
// stage; rows that are not the rollout are the business of one of them only.
import {
  type Args,
  bandOf,
  cutTools,
  discard,
  type Finding,
  type Ok,
  type Property,
  placeTurns,
  type Role,
  type Strip,
  type Subject,
  stopsOf,
  stripOf,
  type Trajectory,
  type TrajectoryOptions,
  type Turn,
  type TurnPart,
  type TurnToken,
  trajectory,
  trajectoryLabels,
  type World,
} from '../../../src/index.ts';

export const base = {
  stage: 'trajectory',
  level: 'must',
  ops: ['trajectory'],
  given: (world) => trajectory(optionsOf(world)),
  labels: trajectoryLabels,
  // Nothing of cut turns: a trainer may refuse them.
  coverage: {
    'several turns': 0.2,
    'tool output': 0.2,
    'two injected in a row': 0.1,
    'stop among injected ids': 0.1,
  },
} as const satisfies Partial<Property<Trajectory>>;

/** Rollouts as this trainer takes them: where it cuts what tools say, some are cut. */
export const optionsOf = (world: World): TrajectoryOptions => ({
  ...stopsOf(world, 'trajectory'),
  afterStop: world.hello.ops.trajectory?.after_stop === 'any',
  ...(world.hello.ops.trajectory?.max_tool_tokens === true ? { toolLimit: 'sometimes' } : {}),
});

export interface TurnRow {
  readonly row: number;
  readonly ids: readonly number[];
  readonly mask: readonly number[];
  readonly tokens: readonly TurnToken[];
}

export interface Placed {
  readonly answer: Ok<'trajectory'>;
  readonly rows: readonly TurnRow[];
}

export const argsOf = (drawn: Trajectory): Args<'trajectory'> => ({
  prompt_ids: drawn.prompt,
  turns: drawn.turns,
  advantage: drawn.advantage,
  eos_token_ids: drawn.stops,
  ...(drawn.maxToolTokens === undefined ? {} : { max_tool_tokens: drawn.maxToolTokens }),
  ...(drawn.rewards === undefined ? {} : { turn_rewards: drawn.rewards }),
});

export const ask = (subject: Subject, drawn: Trajectory) => subject.ask('trajectory', argsOf(drawn));

/**
 * The turns as rows hold them: what tools said is cut on the side that is declared, or else on the one that most of these rows
 * are cut on. All legal cuts are of one length, so that only the ids hang on the side.
 */
export function turnsAsCut(
  { semantics }: Subject,
  { prompt, turns, stops, maxToolTokens }: Trajectory,
  rows: readonly (readonly number[])[],
): readonly Turn[] {
  const ways = cutTools(turns, maxToolTokens, semantics.tool_truncation_side).map((cut) => ({
    cut,
    fit: rows.filter((ids) => placeTurns(ids, prompt, cut, stops).length > 0).length,
  }));
  const most = Math.max(...ways.map(({ fit }) => fit));
  return ways.find(({ fit }) => fit === most)?.cut ?? turns;
}

/** For a check that has nothing to say where a row is not the rollout, or its mask not as long as the row. */
export async function placed(subject: Subject, drawn: Trajectory): Promise<Placed> {
  const answer = await ask(subject, drawn);
  const turns = turnsAsCut(subject, drawn, answer.input_ids);
  const rows = answer.input_ids.map((ids, row): TurnRow => {
    const [tokens, ...others] = placeTurns(ids, drawn.prompt, turns, drawn.stops);
    if (tokens === undefined)
      return discard(`row ${row} is not the prompt and the turns after it`, 'trainer');
    if (others.some((other) => trainable(other) !== trainable(tokens)))
      return discard(`row ${row} can be read in several ways`, 'trainer');
    const mask = answer.loss_mask[row] ?? [];
    if (mask.length !== ids.length)
      return discard(`the loss mask of row ${row} has another length`, 'trainer');
    return { row, ids, mask, tokens };
  });
  return { answer, rows };
}

/** Which tokens may be trained, and whose they are. */
const trainable = (tokens: readonly TurnToken[]): string =>
  tokens
    .map(({ part, turn, at }) => (part === 'sampled' || part === 'stop' ? `${turn}/${at}` : ''))
    .join(' ');

const ROLES: Readonly<Record<TurnPart, Role>> = {
  prompt: 'prompt',
  sampled: 'completion',
  stop: 'stop',
  'after stop': 'after stop',
  injected: 'tool',
};

export function rowStrip(
  subject: Subject,
  { row, ids, tokens }: TurnRow,
  tracks: Readonly<Record<string, readonly (number | undefined)[]>>,
  marks: readonly number[],
): Strip {
  return stripOf(subject, { row, ids, roles: tokens.map(({ part }) => ROLES[part]), tracks, marks });
}

/** The first row with a token whose value of a track is not what it must be; `expected` has no opinion on undefined. */
export function trackFinding(
  subject: Subject,
  rows: readonly TurnRow[],
  name: string,
  observed: (row: TurnRow) => readonly number[],
  expected: (token: TurnToken, column: number, row: TurnRow) => number | undefined,
  words: (column: number, row: TurnRow) => string,
): Finding | undefined {
  const band = bandOf(subject, 1);
  for (const row of rows) {
    const seen = observed(row);
    const wanted = row.tokens.map((token, column) => expected(token, column, row));
    const marks = wanted.flatMap((want, column) =>
      want === undefined || band.close(seen[column], want) ? [] : [column],
    );
    const [first] = marks;
    if (first === undefined) continue;
    return {
      kind: name,
      sentence: words(first, row),
      strips: [rowStrip(subject, row, { expected: wanted, observed: seen }, marks)],
    };
  }
  return undefined;
}

/** "the assistant's turn 2", counted as the turns of the request are. */
export const turnName = (drawn: Trajectory, turn: number): string =>
  `turn ${turn} (${drawn.turns[turn]?.role ?? 'prompt'})`;
