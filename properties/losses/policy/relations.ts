// The policy loss under changes that must not matter: padding, row order, micro-batches, ranks, masked values.
import {
  type Args,
  discard,
  ESTIMATED_NOTE,
  knobs,
  lossWeights,
  many,
  type Observed,
  type Property,
  relations,
  type Subject,
  type Tracks,
  trackLabels,
  tracks,
  type World,
} from '../../../src/index.ts';
import { argsOf, base, coverage, whole } from './loss.ts';

/** With the partition over ranks, and the entropies, where the trainer takes them. */
export function lossArgs(drawn: Tracks, world: World): Args<'loss'> {
  const args = argsOf(drawn);
  const { ranks, entropy } = world.hello.ops.loss ?? {};
  return {
    ...args,
    ...(ranks ? { ranks: args.micro_batches } : {}),
    ...(entropy ? { entropy: args.logprobs.map((row) => row.map(() => 0)) } : {}),
  };
}

/** Loss and dL/d logprob, which is estimated where it is not answered. */
async function observe(subject: Subject, args: Args<'loss'>): Promise<Observed> {
  const { loss, weights, zero, estimated, trainedTokens, metrics } = await lossWeights(subject, args);
  return {
    fields: { loss, loss_weights: weights, trained_tokens: trainedTokens, metrics },
    slack: { loss_weights: zero },
    ...(estimated ? { note: ESTIMATED_NOTE, estimated } : {}),
  };
}

const related = {
  op: 'loss',
  stage: 'loss',
  noun: 'The loss with its gradient',
  given: () => tracks(),
  args: lossArgs,
  labels: trackLabels,
} as const;

const invariants = relations<'loss', Tracks>({
  ...related,
  coverage,
  observe,
  allBut: ['micro-batches', 'many-micro-batches', 'ranks', 'counts'],
  relations: {
    finite: {
      catches: ['NUM-01', 'NUM-02'],
      why: 'A mean over an empty row is 0/0: one answer that was masked out whole turns the weights of the model to NaN.',
    },
    padding: {
      catches: ['LOSS-11', 'PPO-08', 'MSK-06', 'ADV-06'],
      why: 'A mean that counts padding makes the step size depend on the longest answer of the batch.',
    },
    'row-order': { catches: ['PAD-08', 'ADV-08', 'ADV-09'] },
    'masked-values': { catches: ['MSK-02', 'KL-08', 'PAD-09', 'ADV-06', 'LOSS-11', 'PPO-05'] },
    'nan-under-the-mask': { catches: ['NUM-02', 'NUM-06'] },
    untrained: { catches: ['NUM-01', 'ZL-04'] },
    'same-twice': { catches: ['LP-14', 'ADV-06'] },
    stacked: { catches: ['LOSS-03', 'LOSS-11'] },
    long: { catches: ['LOSS-03', 'LOSS-11'] },
    inputs: { catches: ['LP-14'] },
  },
});

const partitions = relations<'loss', Tracks>({
  ...related,
  given: () => tracks({ minRows: 2 }),
  coverage: { ...coverage, 'several micro-batches': 0.4 },
  observe,
  relations: {
    'micro-batches': { catches: ['LOSS-01', 'LOSS-03', 'LOSS-09', 'LOSS-12'] },
    'many-micro-batches': { catches: ['LOSS-03', 'LOSS-12'] },
    ranks: { catches: ['LOSS-02', 'LOSS-08', 'LOSS-09'] },
  },
});

/** On policy, where no clip and no bound of a ratio leaves a token out. */
const advantagesCount = relations<'loss', Tracks>({
  ...related,
  given: () => tracks({ onPolicy: true, noEmptyRows: true }),
  coverage,
  relations: { counts: { catches: ['ADV-09', 'ZL-02'] } },
});

const counted: Property<Tracks> = {
  ...base,
  id: 'loss/trained-tokens-are-counted',
  title: 'trained_tokens, where answered, is the number of tokens under the mask',
  why: 'A counter that is wrong hides the run in which nothing was trained.',
  catches: ['ZL-05', 'LOSS-09', 'MSK-10'],
  given: () => tracks(),
  async check(subject, drawn) {
    const args = whole(drawn);
    const { trained_tokens: observed } = await subject.ask('loss', args);
    const expected = args.completion_mask.flat().filter((value) => value === 1).length;
    if (observed === undefined) return discard('the answer has no trained_tokens', 'trainer');
    if (observed === expected) return undefined;
    return {
      kind: 'count',
      sentence: `The mask trains ${many(expected, 'token')}, but trained_tokens is ${observed}.`,
    };
  },
};

export const lossRelations: readonly Property<Tracks>[] = [
  ...invariants,
  ...partitions,
  ...advantagesCount,
  counted,
];

/** Every term has something to say: rows enough for each, and entropies where they are taken. */
export const lossKnobs = knobs<'loss', Tracks>({
  ...related,
  given: () => tracks({ minRows: 3, noEmptyRows: true }),
  args: (drawn, world) => {
    const args = whole(drawn);
    const { entropy } = world.hello.ops.loss ?? {};
    return entropy ? { ...args, entropy: args.completion_mask.map((row) => row.map((on) => on / 2)) } : args;
  },
  catches: ['KL-09', 'KL-10', 'TPL-02', 'PPO-01'],
});
