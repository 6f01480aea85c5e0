// A term on the size of the logits, by its sign: a z-loss keeps them small, and one that is subtracted lets them grow without end.
import type { Ledger, LedgerProperty } from '../../../src/index.ts';
import { asides, judgementOf } from '../words.ts';

export const largeLogits: LedgerProperty = {
  id: 'trace/large-logits-are-not-rewarded',
  title: 'A term on the size of the logits makes them smaller',
  stage: 'trace',
  level: 'should',
  why: 'A z-loss with the wrong sign looks like a lower loss: the logits grow until half precision loses their differences.',
  catches: ['LOSS-16'],
  needs: (ledger) =>
    termsOf(ledger).length === 0 ? 'no loss has a term on the size of the logits' : undefined,
  judge: (ledger) => {
    const terms = termsOf(ledger);
    const known = terms.filter(({ rewarded }) => rewarded !== undefined);
    const wrong = known.filter(({ rewarded }) => rewarded === true);
    const judgement = judgementOf(
      known.length,
      asides(terms.length - known.length, 'the sign of the term was not told'),
      [],
    );
    // One pass alone may be a coefficient that was lost in rounding; all of them are not.
    if (wrong.length === 0 || wrong.length < known.length) return judgement;
    const first = wrong[0]?.step;
    return {
      ...judgement,
      notices: [
        {
          sentence: `From step ${first} on, the loss of ${passes(wrong.length)} has a term that falls as the logits grow: a z-loss with the wrong sign. Add coefficient * logsumexp(logits) ** 2 to the loss, do not subtract it.`,
          answers: [],
          asked: true,
        },
      ],
    };
  },
};

const passes = (count: number): string => `${count} forward ${count === 1 ? 'pass' : 'passes'}`;

interface Term {
  readonly step: number;
  readonly rewarded: boolean | undefined;
}

/** One for each forward pass: every row of a pass has the terms of all of it. */
function termsOf({ rows }: Ledger): readonly Term[] {
  const passes = new Map<string, Term>();
  for (const { step, rank, model, forward, terms = [] } of rows)
    for (const { kind, rewarded } of terms)
      if (kind === 'normalizer')
        passes.set([step, rank, model, forward].join(' '), { step, rewarded: rewarded ?? undefined });
  return [...passes.values()];
}
