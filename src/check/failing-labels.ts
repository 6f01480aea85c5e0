// What failing cases share and those that hold lack, by label: where to look, beside what is wrong. A hint, and only where
// chance is ruled out.
import type { ComparedLabels, FailingLabel } from './events.ts';
import type { Property, World } from './property.ts';
import { type CaseOutcome, troubleOf } from './subject.ts';

export interface LabelComparison {
  /** `index` among the cases that are drawn. */
  add(given: unknown, outcome: CaseOutcome, index: number): void;
  /** Labels of all cases in the same trouble as `outcome`, and of few that hold; `drawn`: how many were to be tried. */
  shared(outcome: CaseOutcome, drawn: number): readonly FailingLabel[];
  /** Of all labels, how many of both have them; nothing where there are too few of either to compare. */
  compared(outcome: CaseOutcome, drawn: number): ComparedLabels | undefined;
}

/** Labels are counted only where something fails: a run in which all holds pays nothing. */
export function compareLabels(property: Property, world: World): LabelComparison {
  const seen: { readonly given: unknown; readonly outcome: CaseOutcome }[] = [];
  const talliesOf = (outcome: CaseOutcome, drawn: number): readonly [Tally, Tally] | undefined => {
    if (property.labels === undefined || seen.length < Math.min(drawn, MOST_COMPARED)) return undefined;
    const trouble = troubleOf(outcome);
    const tally = (chosen: typeof seen): Tally => {
      const labels = new Map<string, number>();
      for (const { given } of chosen)
        for (const label of new Set(property.labels?.(given, world)))
          labels.set(label, (labels.get(label) ?? 0) + 1);
      return { cases: chosen.length, labels };
    };
    return [
      tally(seen.filter((each) => troubleOf(each.outcome) === trouble)),
      tally(seen.filter((each) => each.outcome.kind === 'holds')),
    ];
  };
  return {
    add(given, outcome, index) {
      if (index < MOST_COMPARED) seen.push({ given, outcome });
    },
    shared(outcome, drawn) {
      const tallies = talliesOf(outcome, drawn);
      return tallies === undefined ? [] : sharedLabels(...tallies);
    },
    compared(outcome, drawn) {
      const [failing, holding] = talliesOf(outcome, drawn) ?? [];
      if (failing === undefined || holding === undefined || !areEnough(failing, holding)) return undefined;
      const labels = [...new Set([...failing.labels.keys(), ...holding.labels.keys()])];
      const countOf = (label: string) => ({
        failing: failing.labels.get(label) ?? 0,
        holding: holding.labels.get(label) ?? 0,
      });
      if (labels.length === 0) return undefined;
      return {
        failing: failing.cases,
        holding: holding.cases,
        labels: Object.fromEntries(labels.map((label) => [label, countOf(label)])),
      };
    },
  };
}

export interface Tally {
  readonly cases: number;
  readonly labels: ReadonlyMap<string, number>;
}

/**
 * Failing and holding cases are compared over the first so many, and only where all of them ran: how many more do behind
 * the first failure is a matter of time, and the same seed must say the same twice.
 */
const MOST_COMPARED = 500;
/** One or two failing cases share whatever they happen to have. */
const LEAST_FAILING = 3;
/** And against a handful that hold, nothing is rare. */
const LEAST_HOLDING = 10;
/** A label that more of the holding cases have as well tells nobody where to look. */
const MOST_HOLDING_SHARE = 1 / 3;
/** A hint beside a failure, not a verdict: one in a thousand failures may carry a wrong one, over all its labels. */
const CHANCE = 1e-3;
/** The sharpest say it; more are read by nobody. */
const MOST_SHARED = 2;

/**
 * Labels that all failing cases have and few that hold: Fisher's exact test, one-sided, at its extreme. If the label had
 * nothing to do with failing, the F failing cases would be any F of all N, and the chance that all of them are among the
 * L with the label is C(L, F) / C(N, F); it is multiplied by the number of labels that were looked at.
 */
export function sharedLabels(failing: Tally, holding: Tally): readonly FailingLabel[] {
  if (!areEnough(failing, holding)) return [];
  const all = failing.cases + holding.cases;
  const looked = new Set([...failing.labels.keys(), ...holding.labels.keys()]).size;
  return [...failing.labels]
    .filter(([, count]) => count === failing.cases)
    .map(([label]) => ({
      label,
      failing: failing.cases,
      holding: holding.cases,
      holdingWith: holding.labels.get(label) ?? 0,
    }))
    .filter(
      ({ holdingWith }) =>
        holdingWith <= MOST_HOLDING_SHARE * holding.cases &&
        chanceOfAllAmong(failing.cases, failing.cases + holdingWith, all) * looked < CHANCE,
    )
    .sort((a, b) => a.holdingWith - b.holdingWith)
    .slice(0, MOST_SHARED);
}

const areEnough = (failing: Tally, holding: Tally): boolean =>
  failing.cases >= LEAST_FAILING && holding.cases >= LEAST_HOLDING;

/** "All 7 failing cases have: never stopped (0 of 61 passing cases)". Empty where there is none. */
export function failingLabelsSentence(labels: readonly FailingLabel[] = []): string {
  const said = labels.map(
    ({ label, holding, holdingWith }) => `${label} (${holdingWith} of ${holding} passing cases)`,
  );
  return said.length === 0 ? '' : `All ${labels[0]?.failing} failing cases have: ${said.join(', ')}`;
}

/** How likely it is that all of `few` cases are among `some` of `all`, if they had nothing to do with each other. */
function chanceOfAllAmong(few: number, some: number, all: number): number {
  let chance = 1;
  for (let at = 0; at < few; at++) chance *= (some - at) / (all - at);
  return chance;
}
