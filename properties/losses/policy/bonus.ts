// The entropy bonus beside the policy's own term: its sign, its coefficient, and the mean that it is of the entropies.
import {
  type Args,
  bandOf,
  discard,
  isHalf,
  type Matrix,
  type Need,
  type Property,
  relations,
  type Semantics,
  type Subject,
  show,
  type Tracks,
  trackLabels,
  tracks,
} from '../../../src/index.ts';
import { base, coverage, whole } from './loss.ts';
import { lossArgs } from './relations.ts';
import { meansOf } from './terms.ts';

/** The same entropy on every trained token, in nats: what it adds to the loss is then known but for the mean taken. */
const NATS = 1.5;

const needs: readonly Need[] = [
  ({ hello }) => (hello.ops.loss?.entropy ? undefined : 'op `loss` does not offer entropy'),
  ({ semantics }) => (semantics.entropy_coef === 0 ? 'semantics.entropy_coef is 0' : undefined),
];

const even = (mask: Matrix): Matrix => mask.map((row) => row.map((on) => on * NATS));
/**
 * Nats that differ from token to token and from row to row, prompts and padding too: a mean over others, or with weights, shows.
 * More of them than any vocabulary has, so that a small coefficient shows beside the loss.
 */
const uneven = (like: Matrix): Matrix =>
  like.map((row, b) => row.map((_, t) => 16 * (1 + ((3 * b + t) % 5))));

/** What these entropies add to the loss, and what its sizes let be lost of that. */
async function added(
  subject: Subject,
  args: Args<'loss'>,
  entropy: Matrix,
): Promise<{ readonly change: number; readonly slack: number; readonly reason: string }> {
  const without = await subject.ask('loss', { ...args, entropy: entropy.map((row) => row.map(() => 0)) });
  const { loss } = await subject.ask('loss', { ...args, entropy });
  const band = bandOf(subject, args.completion_mask.flat().length);
  const size = Math.max(Math.abs(loss), Math.abs(without.loss));
  return { change: loss - without.loss, slack: band.allowed(size), reason: band.reason };
}

/** Both means of a constant are the constant; a sum over tokens is not. Of a loss with a formula of its own it is not known. */
const isMean = ({ own_formulas: own, loss_aggregation: aggregation }: Semantics): boolean =>
  !own?.includes('loss') && (aggregation === 'token-mean' || aggregation === 'seq-mean-token-mean');

const ROUNDING = 'a small coefficient may be lost in the rounding of half precision';

const rewarded: Property<Tracks> = {
  ...base,
  id: 'loss/entropy-is-rewarded',
  title: 'More entropy on trained tokens lowers the loss, by the declared coefficient',
  why: 'An entropy bonus with the wrong sign collapses the policy that it was meant to keep exploring.',
  catches: ['PPO-07', 'KL-09'],
  needs,
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  async check(subject, drawn) {
    const args = whole(drawn);
    const { change, slack, reason } = await added(subject, args, even(args.completion_mask));
    const { entropy_coef: coef } = subject.semantics;
    if (change === 0 && isHalf(subject)) return discard(ROUNDING, 'trainer');
    if (!(change < 0))
      return {
        kind: 'sign',
        sentence: `With ${NATS} nats of entropy on every trained token instead of none, the loss changes by ${show(change)}; it must fall.`,
      };
    if (coef === undefined || !isMean(subject.semantics) || Math.abs(change + coef * NATS) <= slack)
      return undefined;
    return {
      kind: 'coefficient',
      sentence: `With ${NATS} nats of entropy on every trained token, the loss changes by ${show(change)}; entropy_coef ${coef} gives ${show(-coef * NATS)}.`,
      note: reason,
    };
  },
};

const oneMean: Property<Tracks> = {
  ...base,
  id: 'loss/entropy-bonus-is-a-mean-over-trained-tokens',
  title: 'Entropies that differ from token to token add their mean, over trained tokens or over rows',
  why: 'A bonus over other tokens than the trained ones, or over some of them, keeps the wrong ones exploring.',
  catches: ['PPO-08', 'KL-09'],
  needs: [
    ...needs,
    ({ semantics }) =>
      isMean(semantics)
        ? undefined
        : 'semantics.loss_aggregation is not one of the means, or the loss has a formula of its own',
  ],
  given: () => tracks({ noEmptyRows: true }),
  coverage,
  async check(subject, drawn) {
    if (isHalf(subject)) return discard(ROUNDING, 'trainer');
    const args = whole(drawn);
    const { completion_mask: mask } = args;
    const entropy = uneven(mask);
    const constant = await added(subject, args, even(mask));
    const { change, slack, reason } = await added(subject, args, entropy);
    const coef = -constant.change / NATS;
    const allowed = slack + constant.slack * (Math.max(...entropy.flat()) / NATS);
    const means = meansOf(entropy, mask);
    if (means.some((mean) => Math.abs(change + coef * mean) <= allowed)) return undefined;
    const [tokens, rows] = means;
    return {
      kind: 'mean',
      sentence: `${NATS} nats on every trained token change the loss by ${show(constant.change)}, so entropies with the mean ${show(tokens)} over tokens (${show(rows)} over the means of rows) change it by ${show(-coef * (tokens ?? 0))} (${show(-coef * (rows ?? 0))}); they change it by ${show(change)}.`,
      note: reason,
    };
  },
};

const related = relations<'loss', Tracks>({
  op: 'loss',
  stage: 'loss',
  prefix: 'loss/entropy-bonus-',
  noun: 'The part of the loss from entropies',
  needs,
  given: () => tracks({ minRows: 2, noEmptyRows: true }),
  args: (drawn, world) => {
    const args = lossArgs(drawn, world);
    return { ...args, entropy: uneven(args.logprobs) };
  },
  labels: trackLabels,
  coverage: { ...coverage, 'several micro-batches': 0.4 },
  async observe(subject, args) {
    const { change, slack } = await added(subject, args, args.entropy ?? []);
    return {
      fields: { loss: change },
      slack: { loss: slack },
      note: 'the loss here is what the entropies add to it',
    };
  },
  relations: {
    'masked-values': {
      catches: ['PPO-08'],
      why: 'A bonus that counts prompts and padding rewards a policy for what it was given.',
    },
    'micro-batches': {
      catches: ['LOSS-01'],
      why: 'The policy term was mended to divide by the tokens of the whole batch; the bonus beside it is still a mean of means.',
    },
    ranks: { catches: ['LOSS-02'] },
  },
});

export const lossBonus: readonly Property<Tracks>[] = [rewarded, oneMean, ...related];
