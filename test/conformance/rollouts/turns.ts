// Legal ways to lay rollouts of several turns on rows, to render tools, to decode, and to say where completions end.
import { type Args, type Ok, reject, type Turn } from '../../../src/index.ts';
import { type Legal, legal, repeat, sum } from '../legal.ts';

type Trajectory = (args: Args<'trajectory'>) => Ok<'trajectory'>;

interface Piece {
  readonly turn: number;
  readonly ids: readonly number[];
  readonly mask: readonly number[];
  readonly logprobs: readonly number[];
}

const assistant = (turn: Turn): boolean => turn.role === 'assistant';
const cut = (turn: Turn): boolean => turn.finish_reason === 'length';

/** A turn's tracks: trained through its stop token, or up to it; what stands behind it kept untrained, or cut away. */
function pieceOf(
  args: Args<'trajectory'>,
  at: number,
  how: { readonly keep?: boolean; readonly trainStop?: boolean } = {},
): Piece {
  const turn = args.turns[at] as Turn;
  const stop = turn.ids.findIndex((id) => args.eos_token_ids.includes(id));
  const end = stop < 0 || !assistant(turn) ? turn.ids.length : stop + 1;
  const ids = how.keep === true ? turn.ids : turn.ids.slice(0, end);
  const trained = how.trainStop === false && stop >= 0 ? stop : end;
  return {
    turn: at,
    ids,
    mask: ids.map((_, t) => Number(assistant(turn) && t < trained)),
    logprobs: ids.map((_, t) => turn.logprobs[t] ?? Number.NaN),
  };
}

type Row = readonly Piece[];

function answer(args: Args<'trajectory'>, rows: readonly Row[]): Ok<'trajectory'> {
  const lay = (row: Row, of: (piece: Piece) => readonly number[], prompt: number): number[] => [
    ...repeat(prompt, args.prompt_ids.length),
    ...row.flatMap(of),
  ];
  const masks = rows.map((row) => lay(row, ({ mask }) => mask, 0));
  return {
    input_ids: rows.map((row) => [...args.prompt_ids, ...row.flatMap(({ ids }) => ids)]),
    loss_mask: masks,
    logprobs: rows.map((row) => lay(row, ({ logprobs }) => logprobs, Number.NaN)),
    advantages: masks.map((mask) => mask.map((on) => on * args.advantage)),
    response_lengths: masks.map(sum),
    truncated: rows.map((row) => Number(row.some(({ turn }) => cut(args.turns[turn] as Turn)))),
  };
}

const untrained = (piece: Piece): Piece => ({ ...piece, mask: piece.mask.map(() => 0) });
const pieces = (args: Args<'trajectory'>, how: Parameters<typeof pieceOf>[2] = {}): Piece[] =>
  args.turns.map((_, at) => pieceOf(args, at, how));
const oneRow =
  (
    change: (all: Piece[], args: Args<'trajectory'>) => readonly Piece[],
    how: Parameters<typeof pieceOf>[2] = {},
  ): Trajectory =>
  (args) =>
    answer(args, [change(pieces(args, how), args)]);

/** A row whenever `ends` says so, behind all that came before; each turn is trained in the first row that has it. */
const rowsAt =
  (ends: (args: Args<'trajectory'>) => readonly number[], keepHistory = false): Trajectory =>
  (args) => {
    const all = ends(args);
    return answer(
      args,
      all.map((end, row) => {
        const begin = row === 0 ? -1 : (all[row - 1] ?? -1);
        return pieces(args)
          .slice(0, end + 1)
          .map((piece, at) => (at > begin ? piece : untrained(pieceOf(args, at, { keep: keepHistory }))));
      }),
    );
  };
const answersAt = ({ turns }: Args<'trajectory'>): number[] =>
  turns.flatMap((turn, at) => (assistant(turn) ? [at] : []));

const bare: Trajectory = (args) => {
  const { input_ids, loss_mask } = oneRow((all) => all, { keep: true })(args);
  return { input_ids, loss_mask };
};
const broadcast: Trajectory = (args) => {
  const right = oneRow((all) => all)(args);
  return {
    ...right,
    advantages: right.input_ids.map((ids) => repeat(args.advantage, ids.length)),
    completion_mask: right.input_ids.map((ids) => ids.map((_, at) => Number(at >= args.prompt_ids.length))),
  };
};
const firstCut = ({ turns }: Args<'trajectory'>): number => turns.findIndex(cut);
const dropped: Trajectory = (args) => (firstCut(args) < 0 ? oneRow((all) => all)(args) : answer(args, []));
const endsWithTheCut = oneRow((all, args) => (firstCut(args) < 0 ? all : all.slice(0, firstCut(args) + 1)));
const refusesToGoOn: Trajectory = (args) => {
  const at = firstCut(args);
  if (at >= 0 && args.turns.slice(at + 1).some(assistant))
    reject('a turn that was cut is followed by another');
  return oneRow((all) => all)(args);
};
const cutAlone = oneRow((all, args) =>
  all.map((piece) => (cut(args.turns[piece.turn] as Turn) ? untrained(piece) : piece)),
);
const cutWithRow =
  (rows: Trajectory): Trajectory =>
  (args) => {
    const right = rows(args);
    const ends = answersAt(args);
    const several = right.input_ids.length > 1;
    const masks = right.loss_mask.map((mask, row) =>
      (several ? cut(args.turns[ends[row] ?? 0] as Turn) : right.truncated?.[row] === 1)
        ? mask.map(() => 0)
        : mask,
    );
    return {
      ...right,
      loss_mask: masks,
      completion_mask: masks,
      advantages: masks.map((mask) => mask.map((on) => on * args.advantage)),
      response_lengths: masks.map(sum),
    };
  };

const withoutCutRows: Trajectory = (args) => {
  const right = rowsAt(answersAt)(args);
  const ends = answersAt(args);
  const kept = <T>(rows: readonly T[] | undefined): T[] =>
    (rows ?? []).filter((_, row) => !cut(args.turns[ends[row] ?? 0] as Turn));
  const input_ids = kept(right.input_ids);
  return {
    input_ids,
    loss_mask: kept(right.loss_mask),
    advantages: kept(right.advantages),
    truncated: input_ids.map(() => 0),
  };
};

const can = { can: { trajectory: { after_stop: 'any' } } } as const;
const rollout = (name: string, trajectory: Trajectory, declared: Parameters<typeof legal>[2] = {}): Legal =>
  legal(`rollout: ${name}`, { trajectory }, { ...can, ...declared });

export const turns: readonly Legal[] = [
  rollout('one row that keeps what stands behind stops, nothing beside it', bare),
  rollout('one row, the advantage everywhere, a completion mask over tool output', broadcast),
  rollout(
    'in float32',
    oneRow((all) => all),
    { dtype: 'float32' },
  ),
  rollout(
    'in bfloat16',
    oneRow((all) => all),
    { dtype: 'bfloat16' },
  ),
  rollout(
    'injected text at the end is dropped',
    oneRow((all, args) => all.slice(0, Math.max(...answersAt(args)) + 1)),
  ),
  rollout('a row an answer, flagged by all of its turns', rowsAt(answersAt)),
  rollout('a row an answer that was not cut, flagged by that alone', withoutCutRows, {
    semantics: { truncated_completions_trained: false },
  }),
  rollout('a row an answer, whose history keeps what stood behind stops', rowsAt(answersAt, true)),
  rollout(
    'a row for the first answers, one for the last',
    rowsAt((args) =>
      [...new Set([answersAt(args).at(-2) ?? -1, args.turns.length - 1])].filter((at) => at >= 0),
    ),
  ),
  rollout(
    'no stop token is trained',
    oneRow((all) => all, { trainStop: false }),
  ),
  rollout(
    'no stop token is trained, declared',
    oneRow((all) => all, { trainStop: false }),
    {
      semantics: { stop_token_in_mask: false },
    },
  ),
  rollout('rollouts with a cut turn are dropped', dropped),
  rollout('rollouts end with a cut turn', endsWithTheCut, {
    semantics: { truncated_completions_trained: true },
  }),
  rollout('nothing goes on behind a cut turn', refusesToGoOn),
  rollout('cut turns are left out alone', cutAlone),
  rollout('cut turns are left out alone, declared', cutAlone, {
    semantics: { truncated_completions_trained: false },
  }),
  rollout('a row with a cut turn is left out', cutWithRow(oneRow((all) => all)), {
    semantics: { truncated_completions_trained: false },
  }),
  rollout('a row an answer, cut ones are left out', cutWithRow(rowsAt(answersAt)), {
    semantics: { truncated_completions_trained: false },
  }),
  rollout(
    'what tools say is cut at 256 tokens, unasked and declared',
    (args) =>
      oneRow((all) => all)({
        ...args,
        turns: args.turns.map((turn) =>
          turn.role === 'tool' ? { ...turn, ids: turn.ids.slice(0, 256) } : turn,
        ),
      }),
    { semantics: { cut_at: [256] } },
  ),
];
