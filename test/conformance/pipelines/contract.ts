// A legal hand-over, and what is trained on it.
import type { Args, Ids, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, sum } from '../legal.ts';

/** A policy that has not learned anything: every id has the same probability. */
const VOCABULARY = 32;
const logprob = (ids: Ids): number => -ids.length * Math.log(VOCABULARY);

/** REINFORCE against the mean reward of the batch: a batch of one, or of equal rewards, has a loss of 0. */
const againstTheMean = ({ segments, enabled }: Args<'contract'>): Ok<'contract'> => {
  const tokens = sum(segments.map(({ completion_ids: ids }) => ids.length));
  const baseline = mean(segments.map(({ reward }) => reward));
  const loss =
    -sum(segments.map(({ completion_ids: ids, reward }) => (reward - baseline) * logprob(ids))) / tokens;
  const each = <T>(value: T): Record<string, T> => Object.fromEntries(enabled.map((name) => [name, value]));
  return { executed: each(1), trained_tokens: each(tokens), losses: each(loss) };
};

/** Losses one after the other, each on the model that the step of the one before left; the model is made anew for each request. */
const inTurn = ({ segments, enabled }: Args<'contract'>): Ok<'contract'> => {
  const tokens = sum(segments.map(({ completion_ids: ids }) => ids.length));
  const loss = -sum(segments.map(({ completion_ids: ids }) => logprob(ids))) / tokens;
  const each = (of: (at: number) => number): Record<string, number> =>
    Object.fromEntries(enabled.map((name, at) => [name, of(at)]));
  return {
    executed: each(() => 1),
    trained_tokens: each(() => tokens),
    losses: each((at) => loss * 0.9 ** at),
  };
};

export const contracts: readonly Legal[] = [
  legal(
    'two losses in turn, the second on what the first has trained',
    { contract: inTurn },
    { can: { contract: { orders: [['segments'], ['iteration', 'segments']], losses: ['sft', 'policy'] } } },
  ),
  legal(
    'a policy loss against the mean of the batch, of a uniform policy',
    { contract: againstTheMean },
    { can: { contract: { orders: [['segments'], ['iteration', 'segments']], losses: ['policy'] } } },
  ),
];
