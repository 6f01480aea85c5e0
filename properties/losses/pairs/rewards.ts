// The implicit rewards beside the loss on pairs: log-ratios of the completions, alike for both halves.
import {
  bandOf,
  discard,
  type Finding,
  numberFinding,
  type Ok,
  type PairNumbers,
  type Pairs,
  type Property,
  pairNumbers,
  type Subject,
  scoreOf,
  show,
} from '../../../src/index.ts';
import { argsOf, base, blur, coverage, numbersOf, type Wrong } from './preference-loss.ts';

/** Rewards are log-ratios times beta, or as they are; or log-probabilities, where there is no reference. */
interface RewardReading {
  readonly name: string;
  readonly scores: readonly { readonly chosen: number; readonly rejected: number }[];
}

function readings(subject: Subject, pairs: readonly PairNumbers[]): RewardReading[] {
  const objective = subject.semantics.preference_objective;
  const references = objective === undefined ? [true, false] : [objective !== 'simpo'];
  return references.flatMap((referenced) =>
    (['sum', 'mean'] as const).map((length) => ({
      name: `${length}s over tokens of ${referenced ? 'log policy - log reference' : 'log policy'}`,
      scores: pairs.map((pair) => ({
        chosen: scoreOf(pair.chosen, referenced ? pair.refChosen : undefined, length),
        rejected: scoreOf(pair.rejected, referenced ? pair.refRejected : undefined, length),
      })),
    })),
  );
}

/** The factor by which rewards are these scores: one of `declared`, or what the largest score says. */
function misfitRewards(
  subject: Subject,
  answer: Ok<'preference_loss'>,
  { scores }: RewardReading,
  off: number,
): Wrong {
  const cells = scores
    .flatMap(({ chosen, rejected }, row) => [
      { where: `chosen reward of pair ${row}`, row, score: chosen, observed: answer.chosen_rewards?.[row] },
      {
        where: `rejected reward of pair ${row}`,
        row,
        score: rejected,
        observed: answer.rejected_rewards?.[row],
      },
    ])
    .filter(({ observed }) => observed !== undefined);
  const [largest] = cells.toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score));
  if (largest === undefined || largest.score === 0) return [];
  const beta = subject.semantics.preference_beta;
  const factors = beta === undefined ? [Math.max(0, (largest.observed ?? 0) / largest.score)] : [beta, 1];
  const band = bandOf(subject, cells.length);
  const tries = factors.map((factor) =>
    cells.flatMap(({ where, row, score, observed = Number.NaN }) =>
      // The factor itself is as exact as the number that it was taken from.
      band.close(observed, factor * score) ||
      Math.abs(observed - factor * score) <= band.allowed(factor * largest.score) + 2 * factor * off
        ? []
        : [{ where, row, expected: factor * score, observed }],
    ),
  );
  return tries.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

const rewards: Property<Pairs> = {
  ...base,
  id: 'preference_loss/rewards-are-the-log-ratios',
  title:
    'The implicit rewards are the log-ratios of their completions to the reference, all times one positive number',
  why: 'Reward margins and accuracies are what a preference run is steered by: of swapped or mismatched rows they say nothing.',
  catches: ['LOSS-13', 'PAD-08'],
  given: () => pairNumbers(),
  coverage,
  async check(subject, drawn) {
    const answer = await subject.ask('preference_loss', argsOf(drawn));
    if (answer.chosen_rewards === undefined && answer.rejected_rewards === undefined)
      return discard('the answer has no rewards', 'trainer');
    const pairs = numbersOf(drawn);
    const off = Math.max(...pairs.map((pair) => blur(subject, pair)));
    const tries = readings(subject, pairs).map((reading) => ({
      reading,
      wrong: misfitRewards(subject, answer, reading, off),
    }));
    const closest = tries.toSorted((a, b) => a.wrong.length - b.wrong.length)[0];
    const [first] = closest?.wrong ?? [];
    if (closest === undefined || first === undefined) return undefined;
    return numberFinding({
      kind: 'reward',
      sentence: `The ${first.where} is ${show(first.observed)}; ${closest.reading.name}, by far the closest reading, give ${show(first.expected)}.`,
      band: bandOf(subject),
      pairs: closest.wrong,
    });
  },
};

const swapped = (drawn: Pairs): Pairs => ({
  rows: drawn.rows.map(({ chosen, rejected }) => ({ chosen: rejected, rejected: chosen })),
});

const antisymmetry: Property<Pairs> = {
  ...base,
  id: 'preference_loss/swapping-the-halves-negates-the-margin',
  title: 'With chosen and rejected swapped, the difference of the implicit rewards changes its sign',
  why: 'Halves that are not treated alike, one against the wrong reference or over another length, prefer a side whatever it says.',
  catches: ['LOSS-13', 'PAD-08'],
  given: () => pairNumbers(),
  coverage,
  async check(subject, drawn): Promise<Finding | undefined> {
    const before = await subject.ask('preference_loss', argsOf(drawn));
    const after = await subject.ask('preference_loss', argsOf(swapped(drawn)));
    const margins = (answer: Ok<'preference_loss'>): number[] | undefined =>
      answer.chosen_rewards?.map((reward, row) => reward - (answer.rejected_rewards?.[row] ?? Number.NaN));
    const [ahead, behind] = [margins(before), margins(after)];
    if (ahead === undefined || behind === undefined || before.rejected_rewards === undefined)
      return discard('the answer has no rewards', 'trainer');
    const band = bandOf(subject, 2);
    // A difference of two rewards is as exact as they are.
    const slack = Math.max(
      ...[...(before.chosen_rewards ?? []), ...before.rejected_rewards].map(band.allowed),
    );
    const row = ahead.findIndex(
      (margin, at) => !(Math.abs(margin + (behind[at] ?? Number.NaN)) <= 2 * slack + band.absolute),
    );
    return row < 0
      ? undefined
      : {
          kind: 'margin',
          sentence: `The reward margin of pair ${row} is ${show(ahead[row])}, and ${show(behind[row])} when chosen and rejected are swapped; it should be ${show(-(ahead[row] ?? 0))}.`,
        };
  },
};

export const preferenceRewards: readonly Property<Pairs>[] = [rewards, antisymmetry];
