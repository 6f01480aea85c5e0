// Legal rewards and formats of text, other than the Python examples have them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

const SAMPLES = [
  { prompt: 'What is 2 + 2?', reference: '4', right: '\\boxed{4}', wrong: '\\boxed{5}' },
  { prompt: 'And 3 + 3?', reference: '6', right: 'So: \\boxed{6}', wrong: 'So: \\boxed{7}' },
];

/** Of its boxes the last one counts. */
const boxed = (text: string): string | undefined => [...text.matchAll(/\\boxed\{([^}]*)\}/g)].at(-1)?.[1];

/** -1 for a wrong answer as for none, and no lengths. */
const plusMinus = ({ completions, references }: Args<'reward'>): Ok<'reward'> => ({
  rewards: completions.map((text, row) => (boxed(text) === references[row] ? 1 : -1)),
});

/** The first box counts, and a number that is near earns a part. */
const firstAndNear = ({ completions, references }: Args<'reward'>): Ok<'reward'> => ({
  rewards: completions.map((text, row) => {
    const off = Number(/\\boxed\{(-?\d+)\}/.exec(text)?.[1] ?? Number.NaN) - Number(references[row]);
    return Number.isNaN(off) ? 0 : 1 / (1 + Math.abs(off));
  }),
});

/** Less a price for each token, up to a bound. */
const withLengths = ({ completions, references, completion_ids: ids }: Args<'reward'>): Ok<'reward'> => ({
  rewards: completions.map((text, row) => {
    const answer = boxed(text);
    const graded = answer === references[row] ? 2 : answer === undefined ? -1 : 0.5;
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

/** DAPO's punishment as it is written down: without a buffer, Python's division by 0 is what refuses. */
const divided = (args: Args<'overlong_penalty'>): Ok<'overlong_penalty'> => {
  if (args.buffer === 0) throw new Error('division by zero');
  const { penalties } = unbounded(args) as Ok<'overlong_penalty'>;
  return { penalties: penalties.map((penalty) => Math.max(-1, 2 * penalty)) };
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

/** What was cut off has no reward, here of 1: nothing is soft about it. `from`: the first length that counts as cut off. */
const zeroed =
  (from: (limit: number) => number) =>
  ({ lengths, max_length: limit }: Args<'overlong_penalty'>): Ok<'overlong_penalty'> => ({
    penalties: lengths.map((length) => (length >= from(limit) ? -1 : 0)),
  });

/** Two texts without a tag of their own between these patterns. */
function isForm(begin: string, between: string, end: string, text: string): boolean {
  const held = '((?!</?(think|answer)>)[^])*';
  return new RegExp(`^${begin}${held}${between}${held}${end}$`).test(text);
}

/** Thought and answer on lines of their own, once; no tools. */
const strictLines = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) =>
    isForm('<think>\n', '\n</think>\n<answer>\n', '\n</answer>', text) ? 1 : 0,
  ),
});

/** Thought and answer with nothing between, -1 where they are not. */
const strictTight = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => (isForm('<think>', '</think><answer>', '</answer>', text) ? 1 : -1)),
});

/** Part of the score for each tag that stands there exactly once, and all of it only in order. */
const partial = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => {
    const tags = ['<think>', '</think>', '<answer>', '</answer>'];
    const once = tags.filter((tag) => text.split(tag).length === 2).length;
    return once / 8 + (isForm('<think>', '</think>\\s*<answer>', '</answer>', text) ? 0.5 : 0);
  }),
});

/** The prompt ends with the opening tag of the thought. */
const begunInThePrompt = ({ completions }: Args<'format_score'>): Ok<'format_score'> => ({
  scores: completions.map((text) => (isForm('', '</think>\\s*<answer>', '</answer>', text) ? 1 : 0)),
});

export const graders: readonly Legal[] = [
  legal('rewards of plus and minus one', { reward: plusMinus }, { can: { reward: { samples: SAMPLES } } }),
  legal(
    'rewards of the first answer, in parts',
    { reward: firstAndNear },
    { can: { reward: { samples: SAMPLES } } },
  ),
  legal('rewards less a price of length', { reward: withLengths }, { can: { reward: { samples: SAMPLES } } }),
  legal('an overlong penalty without a bound, that needs a buffer', { overlong_penalty: unbounded }),
  legal('an overlong penalty that divides by its buffer', { overlong_penalty: divided }),
  legal('an overlong penalty that is a hard limit without a buffer', { overlong_penalty: hardLimit }),
  legal('the reward of what reaches the limit is taken away', { overlong_penalty: zeroed((limit) => limit) }),
  legal('the reward of what exceeds the limit is taken away', {
    overlong_penalty: zeroed((limit) => limit + 1),
  }),
  legal('a format of lines, without tools', { format_score: strictLines }),
  legal('a format without line ends, or minus one', { format_score: strictTight }),
  legal('a format with partial credit', { format_score: partial }),
  legal('a format that begins within the thought', { format_score: begunInThePrompt }),
];
