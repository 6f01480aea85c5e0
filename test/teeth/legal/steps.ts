// Legal penalties and training steps.
import type { Args, Ids, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, sum } from './trainer.ts';

/** Presence and frequency first, repetition behind them. */
const repetitionLast = (args: Args<'penalties'>): Ok<'penalties'> => ({
  logits: args.logits.map((row, b) => {
    const prompt = args.prompt_ids[b] ?? [];
    const generated = args.completion_ids[b] ?? [];
    return row.map((logit, id) => {
      const count = generated.filter((other) => other === id).length;
      const lowered = logit - args.frequency_penalty * count - (count > 0 ? args.presence_penalty : 0);
      if (count === 0 && !prompt.includes(id)) return lowered;
      return lowered > 0 ? lowered / args.repetition_penalty : lowered * args.repetition_penalty;
    });
  }),
});

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

export const steps: readonly Legal[] = [
  legal(
    'repetition behind presence and frequency',
    { penalties: repetitionLast },
    { can: { penalties: { kinds: ['presence', 'frequency', 'repetition'] } } },
  ),
  legal(
    'a policy loss against the mean of the batch, of a uniform policy',
    { contract: againstTheMean },
    { can: { contract: { orders: [['segments'], ['iteration', 'segments']], losses: ['policy'] } } },
  ),
];
