// Rewards and penalties of single turns, laid on the tokens of the rows: each once, and where it was earned.
import {
  bandOf,
  CHOICES,
  discard,
  type Finding,
  type Property,
  type Semantics,
  type Subject,
  type Trajectory,
  type TurnToken,
  tokenAt,
  trajectory,
} from '../../../src/index.ts';
import {
  base,
  optionsOf,
  type Placed,
  placed,
  rowStrip,
  type TurnRow,
  trackFinding,
  turnName,
} from './rows.ts';

const rewardBase = {
  ...base,
  given: (world) => trajectory({ ...optionsOf(world), turnRewards: true }),
  coverage: { ...base.coverage, 'several turns with rewards': 0.2, penalty: 0.2 },
  needs: [
    ({ hello }) =>
      hello.ops.trajectory?.turn_rewards === true
        ? undefined
        : 'op `trajectory` does not declare turn_rewards',
  ],
} as const satisfies Partial<Property<Trajectory>>;

interface Rewarded {
  readonly rows: readonly TurnRow[];
  /** One row of numbers each. */
  readonly rewards: readonly (readonly number[])[];
  /** In how many rows tokens of a turn are trained, by its number. */
  readonly times: readonly number[];
}

async function rewarded(subject: Subject, drawn: Trajectory): Promise<Rewarded> {
  const { answer, rows } = await placed(subject, drawn);
  const rewards = answer.rewards ?? discard('the answer has no rewards', 'trainer');
  if (rows.some(({ row, ids }) => rewards[row]?.length !== ids.length))
    return discard('the rewards of a row have another length', 'trainer');
  return { rows, rewards, times: timesTrained(drawn, rows) };
}

function timesTrained({ turns }: Trajectory, rows: Placed['rows']): number[] {
  return turns.map((_, turn) => rows.filter((row) => turnsTrained(row).includes(turn)).length);
}

const turnsTrained = ({ tokens, mask }: TurnRow): number[] => [
  ...new Set(tokens.flatMap(({ turn }, column) => (mask[column] === 1 && turn >= 0 ? [turn] : []))),
];

const givenOnce: Property<Trajectory> = {
  ...rewardBase,
  id: 'trajectory/turn-rewards-are-given-once',
  title: "Over all rows, the reward of each trained turn is given once: all of them add up to the turns' own",
  why: 'A reward that every later row repeats, or that the next one overwrites, pays the policy for something else than it did.',
  catches: ['MT-06'],
  async check(subject, drawn): Promise<Finding | undefined> {
    const { rows, rewards, times } = await rewarded(subject, drawn);
    const own = drawn.rewards ?? [];
    const due = sum(own.filter((_, turn) => (times[turn] ?? 0) > 0));
    const total = sum(rewards.flat());
    // Of what was cut off and left out, nobody says what becomes of its reward.
    const open = own.filter((_, turn) => times[turn] === 0);
    const band = bandOf(subject, rewards.flat().length);
    if (sumsOf(open).some((more) => band.close(total, due + more))) return undefined;
    const paid = own.flatMap((reward, turn) =>
      (times[turn] ?? 0) > 0 && reward !== 0 ? [{ reward, turn }] : [],
    );
    const lost = paid.find(({ reward }) => band.close(total, due - reward));
    const twice = paid.find(({ reward }) => band.close(total, due + reward));
    const as =
      lost !== undefined
        ? `, as if that of ${turnName(drawn, lost.turn)} were lost`
        : twice !== undefined
          ? `, as if that of ${turnName(drawn, twice.turn)} were given twice`
          : '';
    return {
      kind: lost !== undefined ? 'lost' : twice !== undefined ? 'twice' : 'sum',
      sentence: `The rewards of all rows add up to ${total}${as}; the trained turns have ${paid.map(({ reward, turn }) => `${reward} (turn ${turn})`).join(', ') || 'none'}, ${due} together.`,
      strips: rows.map((row) =>
        rowStrip(
          subject,
          row,
          { 'reward of the turn': row.tokens.map(({ turn }) => own[turn]), rewards: rewards[row.row] ?? [] },
          row.tokens.flatMap((_, column) => (rewards[row.row]?.[column] === 0 ? [] : [column])),
        ),
      ),
    };
  },
};

const standsOnItsTurn: Property<Trajectory> = {
  ...rewardBase,
  id: 'trajectory/turn-reward-stands-on-its-turn',
  settles: ['turn_reward_placement'],
  title:
    "The reward of a turn stands on the turn's last trained token, or those of a row on the row's, as is declared; every other token has 0",
  why: 'On a token that a tool wrote it is masked away, on another turn it pays for what that one did.',
  catches: ['VAL-01', 'MT-06', 'ADV-09'],
  async check(subject, drawn) {
    const all = await rewarded(subject, drawn);
    const declared = subject.semantics.turn_reward_placement;
    const findings = (declared === undefined ? CHOICES.turn_reward_placement.values : [declared]).map((way) =>
      placementFinding(subject, drawn, all, way),
    );
    const [first] = findings;
    if (first === undefined || findings.includes(undefined)) return undefined;
    return declared === undefined ? { ...first, note: NEITHER } : first;
  },
};

type Placement = NonNullable<Semantics['turn_reward_placement']>;
const NEITHER =
  "semantics.turn_reward_placement is not declared: all rewards of a row may stand on the row's last trained token; that does not fit either.";

function placementFinding(
  subject: Subject,
  drawn: Trajectory,
  { rows, rewards, times }: Rewarded,
  way: Placement,
): Finding | undefined {
  const own = drawn.rewards ?? [];
  const expected = (token: TurnToken, column: number, row: TurnRow): number | undefined => {
    const last = row.mask.findLastIndex(
      (on, at) => on === 1 && (way === 'row' || row.tokens[at]?.turn === token.turn),
    );
    if (last !== column) return token.turn >= 0 && times[token.turn] === 0 && isSaid(token) ? undefined : 0;
    const paid = way === 'row' ? turnsTrained(row) : [token.turn];
    const due = sum(paid.filter((turn) => times[turn] === 1).map((turn) => own[turn] ?? 0));
    // Which row pays for a turn that several train, and whether one that none trains is paid for, is not said.
    const open = own.filter((_, turn) =>
      way === 'row' ? times[turn] !== 1 : paid.includes(turn) && times[turn] !== 1,
    );
    const seen = rewards[row.row]?.[column] ?? Number.NaN;
    return nearest(
      sumsOf(open).map((more) => due + more),
      seen,
    );
  };
  return trackFinding(
    subject,
    rows,
    'reward',
    ({ row }) => rewards[row] ?? [],
    expected,
    (column, row) => {
      const token = row.tokens[column];
      const want = token === undefined ? undefined : expected(token, column, row);
      const whose = token === undefined ? '' : ` of ${turnName(drawn, token.turn)}`;
      return `${tokenAt(subject, row.ids, column)} of row ${row.row}${whose} has reward ${rewards[row.row]?.[column] ?? 'none'}; it must have ${want}: ${want === 0 ? 'it is not the last trained token' : 'it is the last trained token'} of its ${way}.`;
    },
  );
}

const isSaid = ({ part }: TurnToken): boolean => part !== 'injected';
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** What some of these add up to, for every choice of some; 0 is first. */
function sumsOf(values: readonly number[]): number[] {
  let sums = [0];
  for (const value of values) sums = [...new Set([...sums, ...sums.map((each) => each + value)])];
  return sums;
}

const nearest = (values: readonly number[], to: number): number | undefined =>
  [...values].sort((a, b) => Math.abs(a - to) - Math.abs(b - to))[0];

export const turnRewards: readonly Property<Trajectory>[] = [givenOnce, standsOnItsTurn];
