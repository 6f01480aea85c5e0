// What the cases of a run exercised, counted over those that were judged, and whether that is certainly less than the
// property promises. A share that may as well be bad luck is never called thin.
import type { ThinLabel } from './events.ts';
import type { Coverage, Property, World } from './property.ts';
import { type CaseOutcome, unlessDiscarded } from './subject.ts';

/** Shares of a smaller run say nothing. */
const LEAST_CASES = 50;
/** Chance has to be this unlikely before it is ruled out: a catalogue of hundreds of labels runs every day. */
const CERTAIN = 1e-6;

/** What a case exercises, as its property says. */
export function labelsOf(property: Property, world: World, given: unknown): readonly string[] {
  return unlessDiscarded(() => property.labels?.(given, world) ?? [], []);
}

export interface LabelCount {
  add(given: unknown, outcome: CaseOutcome): void;
  counts(): Record<string, number>;
  thin(): readonly ThinLabel[];
}

export function countLabels(property: Property, world: World): LabelCount {
  const judged: Record<string, number> = {};
  const refused: Record<string, number> = {};
  let [cases, refusals] = [0, 0];
  return {
    add(given, outcome) {
      // What a check sets aside, it set aside by its own rule: the thresholds are about the rest.
      if (outcome.kind === 'stopped' || (outcome.kind === 'refused' && outcome.setAside)) return;
      const counts = outcome.kind === 'refused' ? refused : judged;
      if (outcome.kind === 'refused') refusals++;
      else cases++;
      for (const label of new Set(labelsOf(property, world, given))) counts[label] = (counts[label] ?? 0) + 1;
    },
    counts: () => ({ ...judged }),
    thin() {
      if (cases + refusals < LEAST_CASES || cases === 0) return [];
      return Object.entries(coverageOf(property, world)).flatMap(([label, least]) => {
        const seen = judged[label] ?? 0;
        const kept = refused[label] ?? 0;
        if (seen === 0 && kept > 0 && property.mayRefuse?.includes(label)) return [];
        const thin =
          seen / cases < least &&
          (chanceOfFewer(seen, cases, least) < CERTAIN ||
            (seen === 0 && chanceOfAllRefused(kept, refusals, cases + refusals) < CERTAIN));
        return thin ? [{ label, share: seen / cases, least, judged: cases, refused: kept }] : [];
      });
    },
  };
}

/** The thresholds of a property in one world. */
export function coverageOf(property: Property, world: World): Coverage {
  const { coverage } = property;
  return unlessDiscarded(() => (typeof coverage === 'function' ? coverage(world) : coverage) ?? {}, {});
}

/** "Only 2 % of the 100 judged cases had ...": what is missing, and whose doing it is. */
export function thinSentence({ label, share, least, judged, refused }: ThinLabel): string {
  const cases = `${judged} ${judged === 1 ? 'case that was' : 'cases that were'} judged`;
  const lack = `only ${percent(share)} of the ${cases} had "${label}", at least ${percent(least)} are needed`;
  if (refused === 0) return `${lack}: the generated cases say less than the property promises`;
  return `${lack}: the trainer refused ${refused} that had it, and what it refuses is not checked`;
}

export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

/** P(X <= seen) of a binomial of `cases` draws with chance `share`: how likely so few are, if the share were enough. */
function chanceOfFewer(seen: number, cases: number, share: number): number {
  if (share >= 1) return seen < cases ? 0 : 1;
  let logTerm = cases * Math.log1p(-share);
  let sum = Math.exp(logTerm);
  for (let count = 1; count <= seen; count++) {
    logTerm += Math.log((cases - count + 1) / count) + Math.log(share / (1 - share));
    sum += Math.exp(logTerm);
  }
  return sum;
}

/** How likely it is that all of `marked` cases are among `refused` of `all`, if it had nothing to do with the mark. */
function chanceOfAllRefused(marked: number, refused: number, all: number): number {
  let chance = 1;
  for (let at = 0; at < marked; at++) chance *= (refused - at) / (all - at);
  return chance;
}
