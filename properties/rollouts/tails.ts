// Where completions end: the sampler's log-probabilities end with the ids, and only what ran into the limit says so.
import {
  type Batch,
  bandOf,
  batchLabels,
  blockArgs,
  discard,
  type Property,
  type Role,
  show,
  stripOf,
  tokenAt,
} from '../../src/index.ts';
import { extractArgs } from './extract.ts';
import { coverage, given, maskRule } from './mask/batches.ts';

/** Log-probabilities are told apart by their place; most multiples of this are nothing that half precision holds. */
const GRAIN = 0.1;
/** Between rows, so that no two tokens of a batch share a number. */
const ROW = 16;

const logprobs: Property<Batch> = {
  id: 'extract/logprobs-belong-to-the-completion',
  title: "With the completion come its tokens' log-probabilities from the sampler, one a token",
  stage: 'extract',
  level: 'must',
  why: 'If a stop token is trimmed from the ids and not from the numbers, or the reverse, every ratio of the following rows moves.',
  catches: ['EOS-11', 'PAD-08', 'ADV-09'],
  ops: ['extract'],
  given: (world) => given(world),
  labels: batchLabels,
  coverage: { 'unequal completions': 0.3, stopped: 0.3 },
  async check(subject, drawn) {
    const side = subject.hello.ops.extract?.padding_side?.[0] ?? 'left';
    const args = extractArgs(drawn, side);
    const sampling = args.sampled_ids.map((row, b) =>
      row.map((_, at) => (at < (drawn.completions[b]?.length ?? 0) ? -GRAIN * (1 + at + ROW * b) : 0)),
    );
    const answer = await subject.ask('extract', { ...args, sampling_logprobs: sampling });
    if (answer.logprobs === undefined) return discard('the answer has no logprobs', 'trainer');
    const band = bandOf(subject);
    for (const [row, ids] of answer.completion_ids.entries()) {
      const sampled = args.sampled_ids[row] ?? [];
      if (ids.some((id, at) => sampled[at] !== id))
        return discard('the completions are not what was sampled', 'trainer');
      const observed = answer.logprobs[row] ?? [];
      // Padding that is kept has a number, and nobody reads it.
      const length = Math.min(ids.length, drawn.completions[row]?.length ?? 0);
      const expected = ids.map((_, at) => (at < length ? sampling[row]?.[at] : undefined));
      const wrong = expected.findIndex((want, at) => want !== undefined && !band.close(observed[at], want));
      if (wrong < 0 && observed.length === ids.length) continue;
      const at = wrong < 0 ? ids.length : wrong;
      return {
        kind: observed.length === ids.length ? 'moved' : 'length',
        sentence:
          observed.length === ids.length
            ? `${tokenAt(subject, ids, at)} of completion ${row} was sampled with log-probability ${show(expected[at])}, but comes back with ${show(observed[at])}.`
            : `Completion ${row} comes back with ${ids.length} ${ids.length === 1 ? 'id' : 'ids'} and ${observed.length} log-probabilities.`,
        strips: [
          stripOf(subject, {
            row,
            ids,
            roles: ids.map((id): Role => (drawn.stops.includes(id) ? 'stop' : 'completion')),
            tracks: { sampled: expected, observed: ids.map((_, each) => observed[each]) },
            marks: wrong < 0 ? [] : [wrong],
          }),
        ],
      };
    }
    return undefined;
  },
};

const truncated: Property<Batch> = {
  ...maskRule,
  id: 'mask/truncated-is-where-no-stop-was-sampled',
  title: 'truncated is 1 exactly on the completions that ran into the length limit without a stop token',
  why: 'An answer that ends with the very last token it may is no cut answer, and a shorter one can be cut: lengths do not tell.',
  catches: ['EOS-12', 'EOS-05'],
  coverage,
  async check(subject, drawn) {
    const args = blockArgs(drawn);
    const { truncated: flags } = await subject.ask('mask', args);
    if (flags === undefined) return discard('the answer has no truncated', 'trainer');
    const width = (args.sequences[0]?.length ?? 0) - args.prompt_width;
    for (const [row, ids] of drawn.completions.entries()) {
      const stopped = ids.some((id) => drawn.stops.includes(id));
      // One that was aborted early ran into no limit and has no stop either: both are accepted.
      if (!stopped && ids.length < width) continue;
      if (flags[row] === Number(!stopped)) continue;
      return {
        kind: stopped ? 'invented' : 'missed',
        sentence: stopped
          ? `Completion ${row} ended with its stop token after ${ids.length} of at most ${width} tokens, but truncated is ${flags[row]}.`
          : `Completion ${row} has no stop token among its ${ids.length} tokens and ran into the limit, but truncated is ${flags[row]}.`,
      };
    }
    return undefined;
  },
};

export const extractLogprobs: readonly Property<Batch>[] = [logprobs];
export const maskTruncated: readonly Property<Batch>[] = [truncated];
