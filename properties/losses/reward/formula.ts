// The loss of a reward model against its formula, with the coefficient that the trainer declares, or that was measured.
import {
  answersOf,
  type Band,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  describeRewardLoss,
  type Mistake,
  many,
  numberFinding,
  type Ok,
  type Property,
  type RewardLoss,
  type RewardLossInput,
  rewardLoss,
  richest,
  type ScoredPairs,
  type Subject,
  scoredPairLabels,
  scoredPairs,
  show,
} from '../../../src/index.ts';
import { argsOf, base, coverage, KNOWN } from './cases.ts';

/** Numbers that do not fit. */
type Wrong = readonly {
  readonly where: string;
  readonly expected: number | undefined;
  readonly observed: number | undefined;
}[];

const PER_PAIR = {
  losses: 'the loss',
  chosen_weights: 'dL/d chosen score',
  rejected_weights: 'dL/d rejected score',
} as const;
type PerPair = keyof typeof PER_PAIR;

/** What is answered of each pair is held to; a weight is a difference of numbers as large as a pair's share. */
function wrongIn(observed: Ok<'reward_loss'>, expected: RewardLoss, band: Band): Wrong {
  const share = 1 / expected.losses.length;
  const rows = (Object.keys(PER_PAIR) as PerPair[]).flatMap((name) =>
    (observed[name] ?? []).flatMap((value, row) => {
      const want = expected[name][row] ?? Number.NaN;
      const allowed = band.allowed(name === 'losses' ? want : Math.max(share, Math.abs(want)));
      return Math.abs(value - want) <= allowed
        ? []
        : [{ where: `${PER_PAIR[name]} of pair ${row}`, expected: want, observed: value }];
    }),
  );
  const loss = { where: 'the loss', expected: expected.loss, observed: observed.loss };
  return [...(band.close(observed.loss, expected.loss) ? [] : [loss]), ...rows];
}

/** What reward models were seen to be trained with instead. */
function mistakes(input: RewardLossInput, centering: number): Mistake<RewardLoss>[] {
  const { chosen_scores: chosen, rejected_scores: rejected, margins } = input;
  const of = (changed: Partial<RewardLossInput>): RewardLoss =>
    rewardLoss({ ...input, ...changed }, centering);
  const right = of({});
  const swapped = of({ chosen_scores: rejected, rejected_scores: chosen });
  const times = (by: number) => (value: number) => by * value;
  return [
    {
      words: 'chosen and rejected are swapped',
      answer: {
        ...swapped,
        chosen_weights: swapped.rejected_weights,
        rejected_weights: swapped.chosen_weights,
      },
    },
    {
      words: 'pairs are added up, not averaged',
      answer: {
        loss: right.loss * chosen.length,
        losses: right.losses,
        chosen_weights: right.chosen_weights.map(times(chosen.length)),
        rejected_weights: right.rejected_weights.map(times(chosen.length)),
      },
    },
    ...(margins === undefined
      ? []
      : [
          { words: 'margins are added, not subtracted', answer: of({ margins: margins.map(times(-1)) }) },
          { words: 'margins are not read', answer: of({ margins: undefined }) },
          {
            words: 'each pair meets the margins of all: (B, 1) less (B,) is (B, B)',
            answer: met(input, margins, centering),
          },
        ]),
    ...(centering === 0
      ? []
      : [{ words: 'scores are not kept around 0', answer: rewardLoss(input, 0), legal: true as const }]),
  ];
}

/** The mean over margins of what each of them makes of every pair. */
function met(input: RewardLossInput, margins: readonly number[], centering: number): RewardLoss {
  const all = margins.map((margin) =>
    rewardLoss({ ...input, margins: margins.map(() => margin) }, centering),
  );
  const over = (of: (each: RewardLoss) => number): number =>
    all.reduce((sum, each) => sum + of(each), 0) / all.length;
  const rows = (name: PerPair): number[] =>
    margins.map((_, row) => over((each) => each[name][row] ?? Number.NaN));
  return {
    loss: over(({ loss }) => loss),
    losses: rewardLoss(input, centering).losses, // one pair meets its own
    chosen_weights: rows('chosen_weights'),
    rejected_weights: rows('rejected_weights'),
  };
}

const equals: Property<ScoredPairs> = {
  ...base,
  id: 'reward_loss/equals-the-formula',
  title:
    'The loss of a reward model and its gradient are those of -log sigmoid(chosen - rejected - margin), the mean over pairs, and of what keeps scores around 0',
  why: 'A reward model learns an order from it, whatever the loss: with a sign, a pairing or a margin gone wrong, it falls as nicely, and the policy is trained towards the worse answers.',
  catches: ['LOSS-03', 'LOSS-08', 'PAD-08'],
  settles: ['reward_centering'],
  needs: KNOWN,
  given: () => scoredPairs(),
  coverage: { ...coverage, 'a margin': 0.3 },
  async check(subject, drawn) {
    const { reward_centering: centering = 0 } = subject.semantics;
    const args = argsOf(drawn, subject);
    const observed = await subject.ask('reward_loss', args);
    const band = bandOf(subject, drawn.rows.length);
    const wrong = wrongIn(observed, rewardLoss(args, centering), band);
    const [first] = wrong;
    if (first === undefined) return undefined;
    const cause = await explained(subject, centering);
    return numberFinding({
      kind: cause?.words ?? (first.where === 'the loss' ? 'loss' : 'pair'),
      sentence: `For ${many(drawn.rows.length, 'pair')}, ${first.where} is ${show(first.observed)}; ${describeRewardLoss(subject.semantics)} gives ${show(first.expected)}.${causeWords(cause)}`,
      band,
      pairs: wrong,
      ...(cause?.proven === true ? {} : answersOf(subject, 'reward_loss', ['reward_centering'])),
    });
  },
};

/** A known mistake that explains each number of a rich case. */
const explained = (subject: Subject, centering: number) =>
  causeIn(async () => {
    const rich = richest(
      scoredPairs({ minRows: 2 }).filter((drawn) => scoredPairLabels(drawn).includes('a margin')),
    );
    if (rich === undefined) return undefined;
    const args = argsOf(rich, subject);
    const observed = await subject.ask('reward_loss', args);
    const band = bandOf(subject, rich.rows.length);
    return causeOf(mistakes(args, centering), (answer) => wrongIn(observed, answer, band).length === 0, [
      rewardLoss(args, centering),
    ]);
  });

export const rewardLossFormula: readonly Property<ScoredPairs>[] = [equals];
