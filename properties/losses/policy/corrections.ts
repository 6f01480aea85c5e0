// Off-policy corrections of the policy loss: the weight of a token that the inference engine sampled with another probability.
// No formula is assumed: truncated, masked, per token, per sequence, or no correction at all. All of them have a direction
// and a bound (Ionides 2008, "Truncated importance sampling").
import {
  type Args,
  bandOf,
  discard,
  ESTIMATED_NOTE,
  type Finding,
  lossWeights,
  type Matrix,
  type Property,
  type Subject,
  show,
  type Tracks,
  tracks,
} from '../../../src/index.ts';
import { base, coverage, whole } from './loss.ts';
import { engineOffered } from './sampling-gap.ts';

/** Nats per token: most masks in use keep such a token, and no cap reaches it; far above what rounding moves. */
export const SMALL = 1 / 32;
/** exp(12) is 160,000. */
const LARGE = 12;
/** Caps in use are 2 to 10. */
const MOST = 1_000;
/** Of the weight without a gap: a term of its own, as of a KL with the coefficient 0.1, may be left where a token is masked out. */
export const LEFT = 0.3;

/** On policy, under a reference that is the policy, with one advantage for all rows: nothing but the gap moves a weight. */
export const onPolicy = (drawn: Tracks): Args<'loss'> => {
  const args = whole(drawn);
  // The engine's log-probability of a token stays below 0 when it is SMALL above.
  const logprobs = args.logprobs.map((row) => row.map((value) => value - SMALL));
  return {
    ...args,
    logprobs,
    old_logprobs: logprobs,
    ref_logprobs: logprobs,
    advantages: args.advantages.map(() => 1),
  };
};

interface Moved {
  readonly row: number;
  readonly column: number;
  readonly was: number;
  readonly is: number;
}

/** For each row in turn, puts the engine `by` nats above the trainer on its tokens; returns the first weight that is `wrong`. */
async function firstMoved(
  subject: Subject,
  drawn: Tracks,
  by: number,
  wrong: (was: number, is: number, allowed: number) => boolean,
): Promise<(Moved & { readonly note: string }) | undefined> {
  const args = onPolicy(drawn);
  const without = await lossWeights(subject, { ...args, sampling_logprobs: args.old_logprobs });
  if (without.weights.flat().every((weight) => Math.abs(weight) <= without.zero))
    return discard('no token has a gradient where engine and trainer agree');
  const band = bandOf(subject, args.completion_mask.flat().length);
  for (const [row, mask] of args.completion_mask.entries()) {
    if (!mask.includes(1)) continue;
    const sampling_logprobs: Matrix = args.old_logprobs.map((values, b) =>
      b === row ? values.map((value, t) => (mask[t] === 1 ? value + by : value)) : values,
    );
    const beside = await lossWeights(subject, { ...args, sampling_logprobs });
    const zero = Math.max(without.zero, beside.zero);
    for (const [column, on] of mask.entries()) {
      const [was = 0, is = 0] = [without.weights[row]?.[column], beside.weights[row]?.[column]];
      if (on !== 1 || Math.abs(was) <= zero) continue;
      if (wrong(Math.abs(was), Math.abs(is), Math.max(zero, band.allowed(was))))
        return { row, column, was, is, note: beside.estimated ? ESTIMATED_NOTE : band.reason };
    }
  }
  return undefined;
}

const finding = (
  moved: Moved & { readonly note: string },
  kind: string,
  when: string,
  but: string,
): Finding => ({
  kind,
  sentence: `When the engine gives every token of row ${moved.row} a log-probability ${when} the trainer's, the gradient of token ${moved.column} changes from ${show(moved.was)} to ${show(moved.is)}, but ${but}.`,
  note: moved.note,
});

/** Each asks about every row; a direction or a bound is wrong in all of them. */
const CASES = 25;

const shared = {
  ...base,
  catches: ['LP-20'],
  needs: engineOffered,
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  mostCases: CASES,
} as const;

export const corrections: readonly Property<Tracks>[] = [
  {
    ...shared,
    id: 'loss/a-correction-weighs-by-trainer-over-engine',
    title:
      'A token that the engine made likelier than the trainer weighs no more than without a gap, and the other way round',
    why: 'exp(sampling - old) in place of exp(old - sampling) doubles the mismatch that it should take away; a bound on the wrong side does nothing.',
    async check(subject, drawn) {
      const above = await firstMoved(subject, drawn, SMALL, (was, is, allowed) => is > was + allowed);
      if (above !== undefined)
        return finding(
          above,
          'upside down',
          `${SMALL} above`,
          'it must not grow: the weight is exp(trainer - engine), which is below 1',
        );
      const below = await firstMoved(
        subject,
        drawn,
        -SMALL,
        (was, is, allowed) => is < was - allowed && is > LEFT * was,
      );
      return below === undefined
        ? undefined
        : finding(
            below,
            'upside down',
            `${SMALL} below`,
            'it must not fall, unless the token is left out: the weight is exp(trainer - engine), which is above 1',
          );
    },
  },
  {
    ...shared,
    id: 'loss/a-correction-is-bounded',
    title: 'A token that the engine made unlikely has a bounded weight, or none',
    why: 'One token with an importance weight of a thousand is the whole gradient of its step; a mask without an upper bound, or a clamp from below, lets it through.',
    async check(subject, drawn) {
      const moved = await firstMoved(subject, drawn, -LARGE, (was, is) => !(is <= MOST * was));
      return moved === undefined
        ? undefined
        : finding(
            moved,
            'unbounded',
            `${LARGE} below`,
            `a weight is bounded: by ${MOST} times the one without a gap at the very most`,
          );
    },
  },
];
