// Legal estimates of the KL that no list has: each is asked which formula it is, and answers that it is its own.
import type { Args, Ok } from '../../../src/index.ts';
import { cell, type Legal, legal } from '../legal.ts';

const OWN = { is: { own_formulas: ['kl'] } } as const;

const kl =
  (of: (logRatio: number) => number) =>
  (args: Args<'kl'>): Ok<'kl'> => ({
    kl: args.completion_mask.map((row, b) =>
      row.map((on, t) => (on === 1 ? of(cell(args.ref_logprobs, b, t) - cell(args.logprobs, b, t)) : 0)),
    ),
  });

export const ownEstimates: readonly Legal[] = [
  legal('a KL of fourth powers', { kl: kl((d) => d ** 4) }, OWN),
  legal('a KL of hyperbolic cosines', { kl: kl((d) => Math.cosh(d) - 1) }, OWN),
];
