// The way from the first failing case to the smallest, thin enough to be kept in a report.

import type { ShrinkStep } from '../events.ts';
import type { Strip } from '../property.ts';
import type { CaseOutcome } from '../subject.ts';

/** Enough to see what became smaller; each carries its strip. */
const MOST_STEPS = 10;
/** A wider strip is not looked at twice. */
const MOST_TOKENS = 48;
/** A case of more characters is told by its size. */
const MOST_CHARACTERS = 2_000;

export interface Accepted {
  readonly given: unknown;
  readonly outcome: CaseOutcome;
}

/** Evenly chosen, the first and the last included; nothing where there was no way to go. */
export function stepsOf(accepted: readonly Accepted[]): readonly ShrinkStep[] {
  if (accepted.length < 2) return [];
  const count = Math.min(MOST_STEPS, accepted.length);
  const chosen = Array.from({ length: count }, (_, at) =>
    Math.round((at * (accepted.length - 1)) / (count - 1)),
  );
  return chosen.flatMap((at) => {
    const step = accepted[at];
    return step === undefined ? [] : [stepOf(step)];
  });
}

function stepOf({ given, outcome }: Accepted): ShrinkStep {
  const characters = JSON.stringify(given)?.length ?? 0;
  const strip = outcome.kind === 'fails' ? outcome.finding.strips?.find(isNarrow) : undefined;
  return {
    characters,
    sentence: sentenceOf(outcome),
    ...(characters <= MOST_CHARACTERS ? { given } : {}),
    ...(strip === undefined ? {} : { strip }),
  };
}

const isNarrow = ({ tokens }: Strip): boolean => tokens.length <= MOST_TOKENS;

function sentenceOf(outcome: CaseOutcome): string {
  if (outcome.kind === 'fails') return outcome.finding.sentence;
  return outcome.kind === 'error' ? outcome.failure.message : '';
}
