// Legal rewards, formats, parsers, environments, schedules and hand-overs, other than the Python examples have them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal, sum } from './trainer.ts';

const SAMPLES = [
  { prompt: 'What is 2 + 2?', reference: '4', right: '\\boxed{4}', wrong: '\\boxed{5}' },
  { prompt: 'And 3 + 3?', reference: '6', right: 'So: \\boxed{6}', wrong: 'So: \\boxed{7}' },
];

/** -1 for a wrong answer as for none, and no lengths. */
const plusMinus = ({ completions, references }: Args<'reward'>): Ok<'reward'> => ({
  rewards: completions.map((text, row) => (text.includes(`\\boxed{${references[row]}}`) ? 1 : -1)),
});

/** Less a price for each token, up to a bound. */
const withLengths = ({ completions, references, completion_ids: ids }: Args<'reward'>): Ok<'reward'> => ({
  rewards: completions.map((text, row) => {
    const graded = text.includes(`\\boxed{${references[row]}}`) ? 2 : text.includes('\\boxed{') ? 0.5 : -1;
    return graded - Math.min(0.25, (ids[row]?.length ?? 0) / 64);
  }),
  lengths: ids.map((row) => row.length),
});

/** Without a bound at -1, and with a factor; what has no buffer is refused. */
const unbounded = ({
  lengths,
  max_length: limit,
  buffer,
}: Args<'overlong_penalty'>): Ok<'overlong_penalty'> => {
  if (buffer === 0) return reject('the buffer must be above 0');
  return { penalties: lengths.map((length) => Math.min((-(length - limit + buffer) / buffer) * 0.5, 0)) };
};

/** Without a buffer the limit itself is too long. */
const hardLimit = ({
  lengths,
  max_length: limit,
  buffer,
}: Args<'overlong_penalty'>): Ok<'overlong_penalty'> => ({
  penalties: lengths.map((length) => {
    if (buffer === 0) return length >= limit ? -1 : 0;
    return Math.max(-1, Math.min(0, (limit - buffer - length) / buffer));
  }),
});

/** Thought and answer on lines of their own, once; no tools. */
const strictLines = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) =>
    /^<think>\n[^<]*\n<\/think>\n<answer>\n[^<]*\n<\/answer>$/.test(text) ? 1 : 0,
  ),
});

/** Thought and answer with nothing between, -1 where they are not. */
const strictTight = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => (/^<think>[^<]*<\/think><answer>[^<]*<\/answer>$/.test(text) ? 1 : -1)),
});

/** Part of the score for each tag that stands there exactly once, and all of it only in order. */
const partial = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => {
    const tags = ['<think>', '</think>', '<answer>', '</answer>'];
    const once = tags.filter((tag) => text.split(tag).length === 2).length;
    return once / 8 + (/^<think>[^<]*<\/think>\s*<answer>[^<]*<\/answer>$/.test(text) ? 0.5 : 0);
  }),
});

/** The prompt ends with the opening tag of the thought. */
const begunInThePrompt = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => (/^[^<]*<\/think>\s*<answer>[^<]*<\/answer>$/.test(text) ? 1 : 0)),
});

const TOOLS = [
  { name: 'look', parameters: { at: 'string' } },
  { name: 'wait', parameters: {} },
] as const;
const OPEN = '<call>';
const CLOSE = '</call>';

/** Mends commas and braces, takes a call whose closing tag the sampler left out, and calls all else bad JSON. */
function forgiving({ text }: Args<'parse_tool_call'>): Ok<'parse_tool_call'> {
  const at = text.indexOf(OPEN);
  if (at < 0) return { status: 'no_call' };
  const end = text.lastIndexOf(CLOSE);
  const body = (end < at ? text.slice(at + OPEN.length) : text.slice(at + OPEN.length, end)).trim();
  const call =
    parsed(body) ?? (end < at ? undefined : (parsed(`${body}}`) ?? parsed(body.replace(/,}$/, '}'))));
  if (call === undefined) return { status: end < at ? 'truncated' : 'bad_json' };
  const { name, arguments: given } = call as { name?: unknown; arguments?: unknown };
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) return { status: 'unknown_tool' };
  const owed = Object.entries(tool.parameters);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { status: 'bad_arguments' };
  const values = given as Readonly<Record<string, unknown>>;
  if (owed.some(([key, kind]) => typeof values[key] !== kind)) return { status: 'bad_arguments' };
  return { status: 'call', name: tool.name, arguments: JSON.stringify(values) };
}

function parsed(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever is no call ends the episode, with nothing to say; calls are free. */
function endsAtMistakes({ text }: Args<'tool_step'>): Ok<'tool_step'> {
  const { status } = forgiving({ text });
  const called = status === 'call';
  return { observation: called ? 'done' : '', reward: 0, status, done: called ? 0 : 1 };
}

const CALLS = { tags: { tool_call: 'call', answer: 'final' }, tool_specs: TOOLS };

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
  legal('rewards of plus and minus one', { reward: plusMinus }, { can: { reward: { samples: SAMPLES } } }),
  legal('rewards less a price of length', { reward: withLengths }, { can: { reward: { samples: SAMPLES } } }),
  legal('an overlong penalty without a bound, that needs a buffer', { overlong_penalty: unbounded }),
  legal('an overlong penalty that is a hard limit without a buffer', { overlong_penalty: hardLimit }),
  legal('a format of lines, without tools', { format_score: strictLines }),
  legal('a format without line ends, or minus one', { format_score: strictTight }),
  legal('a format with partial credit', { format_score: partial }),
  legal('a format that begins within the thought', { format_score: begunInThePrompt }),
  legal(
    'a parser that mends, and an environment that ends at mistakes',
    { parse_tool_call: forgiving, tool_step: endsAtMistakes },
    { can: { parse_tool_call: CALLS, tool_step: CALLS } },
  ),
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
  legal('segments from the end, windows with a bootstrap', { segment_rows: reversed, unroll: bootstrapped }),
  legal('a hand-over by name that refuses what has no signal', { contract: byName }, { can: { contract } }),
  legal('a hand-over in one order only', { contract: exactly }, { can: { contract } }),
];
