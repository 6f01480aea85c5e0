// Off-policy corrections of a row that several policies sampled: after an update in the middle of a rollout one part of the row has
// another gap to the trainer than the rest. No formula is assumed: a ratio per token, of a prefix or of the row, as a product or as
// a mean, depends on the gap of each of its tokens.
import {
  bandOf,
  discard,
  ESTIMATED_NOTE,
  lossWeights,
  many,
  type Property,
  type Subject,
  show,
  type Tracks,
  tracks,
  type Weights,
} from '../../../src/index.ts';
import { LEFT, onPolicy, SMALL } from './corrections.ts';
import { base, coverage } from './loss.ts';
import { engineOffered } from './sampling-gap.ts';

/** Nats per token: a ratio of 1.13, which few caps reach; a fifth of it is still far above what rounding moves. */
const PART = 1 / 8;
/** A correction of the whole row is judged if it moves a weight by this share of it. */
const MOVED = 1 / 256;
/** Each asks about every row; a mistake is in all of them. */
const CASES = 25;

/** The gap of a trained token: which row, and its place among the trained tokens of the row. */
type Gap = (row: number, place: number) => number;

/** Weights without a gap, and with any: nothing else moves them. */
async function besideGaps(subject: Subject, drawn: Tracks) {
  const args = onPolicy(drawn);
  const columns = args.completion_mask.map((mask) => mask.flatMap((on, t) => (on === 1 ? [t] : [])));
  const asked = (gap: Gap): Promise<Weights> =>
    lossWeights(subject, {
      ...args,
      sampling_logprobs: args.old_logprobs.map((values, b) => {
        const of = columns[b] ?? [];
        return values.map((value, t) => (of.includes(t) ? value + gap(b, of.indexOf(t)) : value));
      }),
    });
  const without = await asked(() => 0);
  if (without.weights.flat().every((weight) => Math.abs(weight) <= without.zero))
    return discard('no token has a gradient where engine and trainer agree');
  const band = bandOf(subject, args.completion_mask.flat().length);
  const weight = ({ weights }: Weights, b: number, t: number): number => Math.abs(weights[b]?.[t] ?? 0);
  const noise = (was: number, ...of: readonly Weights[]): number =>
    Math.max(band.allowed(was), without.zero, ...of.map(({ zero }) => zero));
  return { columns, asked, without, weight, noise, note: without.estimated ? ESTIMATED_NOTE : band.reason };
}

const shared = {
  ...base,
  catches: ['LP-24'],
  needs: engineOffered,
  coverage,
  mostCases: CASES,
} as const;

/** Where the second policy goes on: in each row at another token. */
const seamOf = (tokens: number, row: number): number => 1 + (row % Math.max(1, tokens - 1));

const parts: Property<Tracks> = {
  ...shared,
  id: 'loss/a-correction-depends-on-each-part-of-a-row',
  title: 'Where only a part of a row has a gap to the engine, its tokens are corrected, too',
  why: 'A rollout that was continued after an update has one gap before the seam and another one after it. The ratio of the first token, or of a neighbour, corrects what one policy sampled for the gap of another.',
  given: () => tracks({ noEmptyRows: true, twoTokens: true }),
  async check(subject, drawn) {
    const { columns, asked, without, weight, noise, note } = await besideGaps(subject, drawn);
    const tokensOf = (row: number): number => columns[row]?.length ?? 0;
    let judged = false;
    for (const by of [PART, -PART]) {
      const whole = await asked(() => by);
      for (const later of [true, false]) {
        const inPart: Gap = (b, place) => (place >= seamOf(tokensOf(b), b) === later ? by : 0);
        const share = (b: number): number =>
          (columns[b] ?? []).reduce((sum, _, place) => sum + inPart(b, place), 0) / tokensOf(b);
        // For a product or a mean over the row this is the same gap as that of the part.
        const even = await asked((b) => share(b));
        const partly = await asked(inPart);
        for (const [b, of] of columns.entries()) {
          const within = of.filter((_, place) => inPart(b, place) !== 0);
          for (const t of of.length > 1 ? within : []) {
            const was = weight(without, b, t);
            const allowed = noise(was, whole, even, partly);
            const moves = (weights: Weights): boolean => {
              const is = weight(weights, b, t);
              return is > LEFT * was && Math.abs(is - was) > Math.max(2 * allowed, MOVED * was);
            };
            if (was <= allowed || !moves(whole) || !moves(even)) continue;
            judged = true;
            if (Math.abs(weight(partly, b, t) - was) > allowed) continue;
            return {
              kind: 'gap of another token',
              sentence: `Only ${many(within.length, 'token')} of row ${b} (${within.join(', ')}) ${within.length === 1 ? 'has a log-probability that' : 'have log-probabilities that'} the engine puts ${PART} ${by > 0 ? 'above' : 'below'} the trainer's, and the gradient of token ${t} stays ${show(partly.weights[b]?.[t])}. With that gap at all ${many(of.length, 'token')} of the row it is ${show(whole.weights[b]?.[t])}: the token is corrected for the gap of another one.`,
              note,
            };
          }
        }
      }
    }
    return judged ? undefined : discard('no row of several tokens is corrected', 'trainer');
  },
};

const ownRow: Property<Tracks> = {
  ...shared,
  id: 'loss/a-correction-is-of-its-own-row',
  title: 'A token weighs no less because of a gap to the engine in another row',
  why: 'One ratio for the whole batch corrects each row for what another policy sampled in another row.',
  given: () => tracks({ noEmptyRows: true, minRows: 2 }),
  async check(subject, drawn) {
    const { columns, asked, without, weight, noise, note } = await besideGaps(subject, drawn);
    for (const row of columns.keys()) {
      const beside = await asked((b) => (b === row ? SMALL : 0));
      for (const [b, of] of columns.entries()) {
        const t =
          b === row
            ? undefined
            : of.find((column) => {
                const was = weight(without, b, column);
                // More is legal: weights that are divided by their mean, or by the tokens that are left.
                return weight(beside, b, column) < was - noise(was, beside);
              });
        if (t === undefined) continue;
        return {
          kind: 'gap of another row',
          sentence: `The engine puts the log-probabilities of row ${row} ${SMALL} above the trainer's and those of row ${b} nowhere, but the gradient of token ${t} of row ${b} falls from ${show(without.weights[b]?.[t])} to ${show(beside.weights[b]?.[t])}.`,
          note,
        };
      }
    }
    return undefined;
  },
};

export const correctionsOfParts: readonly Property<Tracks>[] = [parts, ownRow];
