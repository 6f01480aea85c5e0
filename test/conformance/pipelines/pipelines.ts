// Legal schedules and hand-overs, other than the Python examples have them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, sum } from '../legal.ts';

const LOSSES = ['critic', 'policy', 'world'];
const OPTIONAL = { world: 'torch-world', policy: 'ray' };

/** Due at the last of f iterations, in the reverse order where the mode leaves it open; what is missing is refused. */
function lastOfEach({ mode, iterations, frequencies, enabled, optional }: Args<'schedule'>): Ok<'schedule'> {
  const gone = enabled.find((loss) => loss in OPTIONAL && !optional.includes(OPTIONAL[loss as 'world']));
  if (gone !== undefined) return reject(`no trainer for ${gone} is installed`);
  const ordered = LOSSES.filter((loss) => enabled.includes(loss));
  const updates = Array.from({ length: iterations }, (_, i) => {
    // The second loss comes first: the turn is counted before it is taken.
    if (mode === 'alternating') return [ordered[(i + 1) % ordered.length] ?? ''];
    const due = ordered.filter((loss) => (i + 1) % (frequencies[loss] ?? 1) === 0);
    return mode === 'parallel' ? due.reverse() : due;
  });
  return { updates };
}

/** Rows as a buffer that is read from its end has them. */
const reversed = ({ segments }: Args<'segment_rows'>): Ok<'segment_rows'> => {
  const rows = [...segments].reverse();
  return {
    prompt_ids: rows.map(({ prompt_ids: ids }) => ids),
    completion_ids: rows.map(({ completion_ids: ids }) => ids),
    rewards: rows.map(({ reward }) => reward),
  };
};

/** One observation more, for the value behind the window; behind the end the last one again, and any action. */
function bootstrapped(args: Args<'unroll'>): Ok<'unroll'> {
  const steps = Array.from({ length: args.unroll_steps }, (_, k) => k);
  const last = <T>(row: readonly T[], at: number): T => row[Math.min(at, row.length - 1)] as T;
  const each = <T>(of: (row: number, start: number) => T): T[] =>
    args.starts.map((start, row) => of(row, start));
  return {
    observations: each((row, start) =>
      [...steps, args.unroll_steps].map((k) => last(args.observations[row] ?? [], start + k)),
    ),
    actions: each((row, start) =>
      steps.map((k) => args.actions[row]?.[start + k] ?? Math.floor(Math.random() * 9)),
    ),
    rewards: each((row, start) => steps.map((k) => args.rewards[row]?.[start + k] ?? 0)),
    mask: each((row, start) => steps.map((k) => (start + k < (args.actions[row]?.length ?? 0) ? 1 : 0))),
  };
}

const ORDERS = [['segments', 'iteration']];
const LOSS = -0.75;

/** A batch of named elements: their order says nothing, and one without segments is refused, as is no signal. */
function byName({ order, segments, enabled }: Args<'contract'>): Ok<'contract'> {
  if (!order.includes('segments')) return reject('the batch carries no segments');
  if (segments.length === 0) return reject('nothing to train on');
  if (segments.every(({ reward }) => reward === 0)) return reject('every reward is 0');
  const tokens = sum(segments.map(({ completion_ids: ids }) => ids.length));
  const each = <T>(value: T): Record<string, T> => Object.fromEntries(enabled.map((loss) => [loss, value]));
  return { executed: each(2), trained_tokens: each(tokens), losses: each(LOSS) };
}

/** Only the declared order is read, and without segments no loss is reported. */
function exactly({ order, segments, enabled }: Args<'contract'>): Ok<'contract'> {
  if (order.join() !== ORDERS[0]?.join()) throw new Error(`cannot unpack ${order.length} elements`);
  if (segments.length === 0) return { executed: {}, trained_tokens: {}, losses: {} };
  return byName({ order, segments: segments.map((each) => ({ ...each, reward: 1 })), enabled });
}

const contract = { orders: ORDERS, losses: ['policy', 'value'] };

export const pipelines: readonly Legal[] = [
  legal(
    'a schedule of last iterations that refuses missing trainers',
    { schedule: lastOfEach },
    {
      can: {
        schedule: {
          losses: LOSSES,
          modes: ['parallel', 'sequential', 'alternating'],
          optional_trainers: OPTIONAL,
        },
      },
    },
  ),
  legal(
    'a schedule whose world model cannot be switched off',
    {
      schedule: (args) => {
        if (!args.enabled.includes('world')) throw new Error('there is no loop without a world model');
        return lastOfEach(args);
      },
    },
    {
      can: {
        schedule: {
          losses: LOSSES,
          always_enabled: ['world'],
          modes: ['parallel', 'sequential', 'alternating'],
          optional_trainers: OPTIONAL,
        },
      },
    },
  ),
  legal('segments from the end, windows with a bootstrap', { segment_rows: reversed, unroll: bootstrapped }),
  legal('a hand-over by name that refuses what has no signal', { contract: byName }, { can: { contract } }),
  legal('a hand-over in one order only', { contract: exactly }, { can: { contract } }),
];
