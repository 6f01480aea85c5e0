// What is descended is what is answered: the gradient is the slope of the loss, and both know the behaviour policy. Neither
// needs a formula; where a trainer legally does otherwise, one line of its semantics says so.
import {
  type Args,
  discard,
  ESTIMATED_NOTE,
  isHalf,
  lossWeights,
  meantOr,
  notMeant,
  type Property,
  type Subject,
  show,
  slopeRanges,
  slopesAlongAgree,
  type TrackRow,
  type Tracks,
  tracks,
  type Weights,
} from '../../../src/index.ts';
import { base, coverage, firstToken, weightFinding, whole } from './loss.ts';

const slope: Property<Tracks> = {
  ...base,
  id: 'loss/weights-are-the-slope-of-the-loss',
  title: 'The gradient that is answered is the slope of the loss that is answered',
  why: 'A term that enters the gradient with another sign or weight than the logged loss trains something else, and every curve looks right.',
  catches: ['KL-04', 'KL-10', 'PPO-07', 'LOSS-12'],
  needs: [
    notMeant('loss_is_descended'),
    ({ semantics }) =>
      semantics.policy_objective === 'cispo' ? 'CISPO holds the ratio without gradient' : undefined,
    (world) =>
      isHalf(world) ? 'slopes of a loss in half precision are too coarse to compare with' : undefined,
  ],
  given: () => tracks(),
  coverage,
  async check(subject, drawn) {
    const args = whole(drawn);
    const { loss, loss_weights: weights } = await subject.ask('loss', args);
    if (weights === undefined)
      return discard('the answer has no loss_weights: the slope is all there is', 'trainer');
    if (!Number.isFinite(loss)) return discard(`the loss is ${loss}`, 'trainer');
    if (await slopesAlongAgree(subject, args, loss, weights)) return undefined;
    const ranges = await slopeRanges(subject, args, loss, weights);
    const wrong = (row: number, column: number): string | undefined => {
      const range = ranges[row]?.[column];
      if (range === undefined) return undefined;
      const { least, most, slack } = range;
      const weight = weights[row]?.[column] ?? 0;
      if (!Number.isFinite(least) || !Number.isFinite(most)) return undefined;
      if (weight >= least - slack && weight <= most + slack) return undefined;
      return `is answered as ${show(weight)}, but when its log-probability moves, the answered loss has the slope ${show((least + most) / 2)}`;
    };
    // A row without advantage shows the other terms alone.
    const still = firstToken(args.completion_mask, (row, column) =>
      args.advantages[row] === 0 ? wrong(row, column) : undefined,
    );
    const found = still ?? firstToken(args.completion_mask, wrong);
    if (found === undefined) return undefined;
    const { row, column, why } = found;
    const idle = still === undefined ? '' : ' Its row has no advantage: this is what other terms add.';
    return {
      ...weightFinding(subject, drawn, {
        kind: 'slope',
        row,
        column,
        sentence: `dL/d logprob of token ${column} of row ${row} ${why}.${idle}`,
        observed: {
          loss,
          weights,
          zero: 0,
          estimated: false,
          trainedTokens: undefined,
          metrics: undefined,
        },
        tracks: {
          'dL/d logprob': weights[row] ?? [],
          'slope of the loss': (ranges[row] ?? []).map((range) => range && (range.least + range.most) / 2),
        },
      }),
      ...meantOr(subject, 'loss_is_descended'),
      note: 'Legal where a term is estimated straight through, or where the loss only carries a gradient (logp - logp.detach()): then the logged loss is not the one descended.',
    };
  },
};

/** Of the log-ratio: small, the other way, and far. A loss with a ratio would have to be flat at all of them. */
const MOVES = [1 / 8, -1 / 8, 1] as const;

const behaviour: Property<Tracks> = {
  ...base,
  id: 'loss/old-logprobs-count',
  title: 'Log-probabilities of the behaviour policy change the loss, or its gradient',
  why: 'Recomputed, overwritten or never read, they make every ratio 1: a second step on the same rollouts is neither corrected nor clipped.',
  catches: ['PPO-03', 'PPO-04', 'LP-14'],
  needs: [
    ({ semantics }) =>
      semantics.ratio_level === 'none'
        ? 'semantics.ratio_level is "none": old_logprobs are not read'
        : undefined,
  ],
  given: () => tracks({ onPolicy: true, noEmptyRows: true, someAdvantage: true }),
  coverage,
  async check(subject, drawn) {
    const args = whole({ rows: drawn.rows.map(deeper) });
    const before = await lossWeights(subject, args);
    if (await ratioShows(subject, args, before)) return undefined;
    // A bound that always binds hides the ratio of rows of one sign, and is no reason to say that there is none.
    const turned = { ...args, advantages: args.advantages.map((advantage) => -advantage + 0) };
    if (await ratioShows(subject, turned, await lossWeights(subject, turned))) return undefined;
    const declared = subject.semantics.ratio_level;
    return {
      kind: 'no ratio',
      sentence: `old_logprobs are moved by ${MOVES.join(', ')} on every trained token, and neither the loss (${show(before.loss)}) nor its gradient changes, nor do they with advantages of the other sign: there is no ratio.`,
      ...(declared === undefined ? { answers: ['"ratio_level": "none"'] } : {}),
      note: before.estimated
        ? ESTIMATED_NOTE
        : 'Legal where every batch is used for one step only, and by the policy that sampled it.',
    };
  },
};

/** Loss or gradient change when `old_logprobs` do. NaN is another number than itself: that is another property's business. */
async function ratioShows(subject: Subject, args: Args<'loss'>, before: Weights): Promise<boolean> {
  for (const move of MOVES) {
    const after = await subject.ask('loss', moved(args, move));
    if (after.loss !== before.loss) return true;
    const isOther = (weight: number, b: number, t: number) => weight !== before.weights[b]?.[t];
    if ((after.loss_weights ?? []).some((row, b) => row.some((weight, t) => isOther(weight, b, t))))
      return true;
  }
  return false;
}

/** Room above, so that no log-probability that is moved comes to stand above 0. */
const deeper = (row: TrackRow): TrackRow => ({
  ...row,
  tokens: row.tokens.map(({ logprob, old, ref }) => ({ logprob: logprob - 1, old: old - 1, ref: ref - 1 })),
});

/** Towards the side on which no clip binds: a good answer has become less likely, a bad one likelier. */
function moved(args: Args<'loss'>, by: number): Args<'loss'> {
  const old_logprobs = args.old_logprobs.map((row, b) =>
    row.map((value, t) =>
      args.completion_mask[b]?.[t] === 1 ? value + ((args.advantages[b] ?? 0) < 0 ? -by : by) : value,
    ),
  );
  return { ...args, old_logprobs };
}

export const lossDescent: readonly Property<Tracks>[] = [slope, behaviour];
