// What the KL to the reference policy must do whatever its estimator: be 0 at the reference, and leave all but completion
// tokens alone.
import {
  bandOf,
  type Finding,
  type Property,
  type Subject,
  show,
  type Tracks,
  tracks,
} from '../src/index.ts';
import { type Asked, ask, base, estimators, isCompletion } from './kl.ts';

const zeroAtReference: Property<Tracks> = {
  ...base,
  id: 'kl/zero-when-the-policy-is-the-reference',
  title: 'KL is 0 where policy and reference agree',
  why: 'A KL that is not 0 before the first step compares other tokens, another prompt or another model.',
  catches: ['LP-15', 'KL-03', 'LP-12'],
  given: () => tracks({ onPolicy: true }),
  async check(subject, drawn) {
    for (const estimator of estimators(subject)) {
      const { laid, answer } = await ask(subject, drawn, estimator);
      const band = bandOf(subject);
      if (answer.mean_kl !== undefined && !band.close(answer.mean_kl, 0))
        return {
          kind: 'nonzero',
          sentence: `Policy and reference agree on every token, but the mean KL is ${show(answer.mean_kl)}.`,
        };
      for (const [row, values] of (answer.kl ?? []).entries()) {
        const column = values.findIndex((value, at) => isCompletion(laid, row, at) && !band.close(value, 0));
        if (column >= 0)
          return {
            kind: 'nonzero',
            sentence: `Policy and reference agree on token ${column} of row ${row}, but its KL is ${show(values[column])}.`,
          };
      }
    }
    return undefined;
  },
};

/** Far from any log-probability, and finite: what NaN does under a mask is another property. */
const JUNK = -17;

/** The first KL on completion tokens, or the mean, that changed; `when` ends the sentence. */
function changed(
  subject: Subject,
  before: Asked,
  after: Asked,
  kind: string,
  when: string,
): Finding | undefined {
  const band = bandOf(subject, before.laid.tokens);
  const [mean, now] = [before.answer.mean_kl, after.answer.mean_kl];
  if (mean !== undefined && !band.close(now, mean))
    return { kind, sentence: `The mean KL changes from ${show(mean)} to ${show(now)} when ${when}.` };
  for (const [row, values] of (after.answer.kl ?? []).entries()) {
    const column = values.findIndex((value, at) =>
      isCompletion(before.laid, row, at) ? !band.close(value, before.answer.kl?.[row]?.[at]) : false,
    );
    if (column >= 0)
      return {
        kind,
        sentence: `KL of token ${column} of row ${row} changes to ${show(values[column])} when ${when}.`,
      };
  }
  return undefined;
}

const elsewhere: Property<Tracks> = {
  ...base,
  id: 'kl/depends-on-completion-tokens-only',
  title: 'Log-probabilities at prompt, padding and masked positions change no KL',
  why: 'KL summed over prompt or padding punishes the policy for text that it did not write.',
  catches: ['KL-08', 'KL-13', 'PAD-09', 'NUM-02', 'MSK-02'],
  given: () => tracks(),
  coverage: { 'unequal completions': 0.3 },
  async check(subject, drawn) {
    for (const estimator of estimators(subject)) {
      const clean = await ask(subject, drawn, estimator);
      const junk = await ask(subject, drawn, estimator, { junk: JUNK });
      const when = 'only log-probabilities outside the completions change';
      const finding = changed(subject, clean, junk, 'elsewhere', when);
      if (finding !== undefined) return finding;
    }
    return undefined;
  },
};

/** Padding that was never computed, and logits that were masked out. */
const POISONS: readonly number[] = [Number.NaN, Number.NEGATIVE_INFINITY];

const poison: Property<Tracks> = {
  ...base,
  id: 'kl/nan-under-the-mask-stays-there',
  title: 'NaN and infinity at masked positions reach neither the KL of a completion token nor the mean',
  why: 'Multiplying by a mask keeps NaN (0 * NaN is NaN): one bad padding value ends the run.',
  level: 'should',
  catches: ['NUM-02', 'NUM-06'],
  given: () => tracks(),
  coverage: { 'unequal completions': 0.3 },
  async check(subject, drawn) {
    for (const estimator of estimators(subject)) {
      const clean = await ask(subject, drawn, estimator);
      for (const value of POISONS) {
        const poisoned = await ask(subject, drawn, estimator, { junk: value });
        const when = `masked log-probabilities are ${Number.isNaN(value) ? 'NaN' : 'infinite'}`;
        const finding = changed(subject, clean, poisoned, 'poison', when);
        if (finding !== undefined) return finding;
      }
    }
    return undefined;
  },
};

export const klRelations: readonly Property<Tracks>[] = [zeroAtReference, elsewhere, poison];
