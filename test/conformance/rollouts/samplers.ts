// Legal samplers.
import { type Args, logSoftmax, type Ok } from '../../../src/index.ts';
import { type Legal, legal, type Rows } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Sampling = Args<'sampling'>;
type Record = (args: Sampling, processed: Rows) => Rows;

/** What is filled in for tokens that are left out: most use minus infinity, some the least number of their format. */
interface Habits {
  readonly fill?: number;
  readonly temperatureLast?: boolean;
  readonly joint?: boolean;
  readonly round?: (x: number) => number;
}

const top = (row: readonly number[], k: number): ((id: number) => boolean) => {
  const least = k === 0 ? -Infinity : (row.toSorted((a, b) => b - a)[k - 1] ?? -Infinity);
  return (id) => (row[id] ?? -Infinity) >= least;
};
/** As transformers has it: from the least likely up, what stays within 1 - p goes. */
const nucleus = (row: readonly number[], p: number): ((id: number) => boolean) => {
  if (p >= 1) return () => true;
  const probabilities = logSoftmax(row).map(Math.exp);
  const ascending = row.map((_, id) => id).sort((a, b) => (row[a] ?? 0) - (row[b] ?? 0));
  const gone = new Set<number>();
  let mass = 0;
  for (const id of ascending.slice(0, -1)) {
    mass += probabilities[id] ?? 0;
    if (mass <= 1 - p) gone.add(id);
  }
  return (id) => !gone.has(id);
};

function processed(args: Sampling, habits: Habits = {}): number[][] {
  const { fill = -Infinity, temperatureLast = false, joint = false, round = (x) => x } = habits;
  return args.logits.map((logits, b) => {
    const generated = args.completion_ids[b] ?? [];
    const held = [
      ...(generated.length < args.min_new_tokens ? args.eos_token_ids : []),
      // As vLLM has it: what a sequence is held against is so long as what stands before its last token.
      ...(args.banned_sequences ?? []).flatMap((each) =>
        each.length - 1 <= generated.length &&
        String(generated.slice(generated.length - each.length + 1)) === String(each.slice(0, -1))
          ? each.slice(-1)
          : [],
      ),
    ];
    const allowed = logits.map((z, id) => (held.includes(id) ? fill : z));
    const scaled = allowed.map((z) => round(z / args.temperature));
    const judged = temperatureLast ? allowed : scaled;
    const first = top(judged, args.top_k);
    const second = nucleus(joint ? judged : judged.map((z, id) => (first(id) ? z : fill)), args.top_p);
    return logSoftmax(scaled.map((z, id) => (first(id) && second(id) ? z : fill))).map(round);
  });
}

const sampler =
  (record: Record | undefined, habits: Habits = {}) =>
  (args: Sampling): Ok<'sampling'> => {
    const logprobs = processed(args, habits);
    if (record === undefined) return { logprobs };
    const rows = record(args, logprobs);
    return { logprobs, sampled_logprobs: args.sampled_ids.map((id, b) => rows[b]?.[id] ?? Number.NaN) };
  };

const ofProcessed: Record = (_, rows) => rows;
const ofRaw: Record = ({ logits }) => logits.map(logSoftmax);
const atTemperature: Record = ({ logits, temperature }) =>
  logits.map((row) => logSoftmax(row.map((z) => z / temperature)));
/** Stop tokens are held back by a bias on the logits, which the record sees. */
const behindTheBias: Record = (args) => processed({ ...args, top_k: 0, top_p: 1 });

const all = {
  sampling: { processors: ['temperature', 'top_k', 'top_p', 'min_new_tokens', 'banned_sequences'] },
} as const;
const f32 = Math.fround;
const scored = ({ input_ids: ids, logits, temperature }: Args<'logprobs'>): Ok<'logprobs'> => ({
  logprobs: ids.map((row, b) =>
    row.map((id, t) =>
      t === 0 ? 0 : (logSoftmax((logits[b]?.[t - 1] ?? []).map((z) => z / temperature))[id] ?? Number.NaN),
    ),
  ),
});

export const samplers: readonly Legal[] = [
  legal('a sampler that records what it drew from', { sampling: sampler(ofProcessed) }, { can: all }),
  legal(
    'the temperature behind the truncations',
    { sampling: sampler(ofRaw, { temperatureLast: true }) },
    { can: all },
  ),
  legal('top-k and top-p at once', { sampling: sampler(undefined, { joint: true }) }, { can: all }),
  legal(
    'the least number of float32 for minus infinity',
    { sampling: sampler(ofProcessed, { fill: -3.4e38 }) },
    { can: all, semantics: { sampling_logprobs: 'processed' } },
  ),
  legal(
    'a bias that the record sees',
    { sampling: sampler(behindTheBias) },
    { can: all, semantics: { sampling_logprobs: 'temperature' } },
  ),
  legal(
    'recorded at the temperature and scored at it',
    { sampling: sampler(atTemperature), logprobs: scored },
    {
      can: { ...all, logprobs: { temperature: true } },
      semantics: { sampling_logprobs: 'temperature', temperature_in_scoring: true },
    },
  ),
  legal(
    'recorded raw, scored at the temperature, and nothing said',
    { sampling: sampler(ofRaw), logprobs: scored },
    { can: { ...all, logprobs: { temperature: true } } },
  ),
  legal(
    'recorded from what was left, and scored over everything',
    { sampling: sampler(ofProcessed), logprobs: scored },
    { can: { ...all, logprobs: { temperature: true } }, semantics: { sampling_logprobs: 'processed' } },
  ),
  legal(
    'a sampler in float32',
    { sampling: sampler(ofProcessed, { round: f32 }) },
    { can: all, dtype: 'float32' },
  ),
  legal(
    'a sampler in bfloat16',
    { sampling: sampler(ofProcessed, { round: b16 }) },
    { can: all, dtype: 'bfloat16', semantics: { sampling_logprobs: 'processed' } },
  ),
];
