// Healthy runs put to all rules over series, at their defaults and fed as a reading feeds them; and how sure the rate of those
// that were blamed is.
import { seriesRules } from '../../../properties/monitor/index.ts';
import type { MonitorRule } from '../../../src/monitor/rule.ts';
import { sayingsOf } from '../rules/logs.ts';
import { healthyRun, KINDS, type Kind } from './healthy.ts';

export type Level = MonitorRule['level'];

export interface Blame {
  readonly kind: Kind;
  readonly seed: number;
  readonly modifiers: readonly string[];
  readonly rule: string;
  readonly level: Level;
  readonly sentence: string;
}

export interface Rate {
  readonly level: Level;
  /** Runs that a rule of this level blames. */
  readonly blamed: number;
  readonly rate: number;
  /** Of its interval of 95 %. */
  readonly low: number;
  readonly high: number;
  /** Infinite: advice may be given to a healthy run. */
  readonly allowed: number;
}

/** Of healthy runs that may be blamed, over all rules of a level together. */
export const ALLOWED: Readonly<Record<Level, number>> = {
  must: 1e-3,
  should: 1e-2,
  may: Number.POSITIVE_INFINITY,
};

/** All that is said of so many runs, as many of each kind; seeds are counted from `seed`. */
export function blamesOf(runs: number, seed: number, kinds: readonly Kind[] = KINDS): Blame[] {
  return Array.from({ length: runs }, (_, at) => {
    const kind = kinds[at % kinds.length] as Kind;
    return blamesOn(kind, seed + Math.floor(at / kinds.length));
  }).flat();
}

/** A rule speaks once of a run, however many series it blames. */
export function blamesOn(kind: Kind, seed: number): Blame[] {
  const { log, modifiers } = healthyRun(kind, seed);
  const { said } = sayingsOf(seriesRules, log);
  const blames = new Map<string, Blame>();
  for (const { rule, violation } of said) {
    const { level } = ruleOf(rule);
    if (!blames.has(rule))
      blames.set(rule, { kind, seed, modifiers, rule, level, sentence: violation.sentence });
  }
  return [...blames.values()];
}

export function ratesOf(blames: readonly Blame[], runs: number): Rate[] {
  return (['must', 'should', 'may'] as const).map((level) => {
    const own = blames.filter((blame) => blame.level === level);
    const blamed = new Set(own.map(({ kind, seed }) => `${kind} ${seed}`)).size;
    return { level, blamed, rate: blamed / runs, ...intervalOf(blamed, runs), allowed: ALLOWED[level] };
  });
}

/**
 * The interval of 95 % for a share of which `hits` of `draws` were seen: Clopper and Pearson 1934, which never covers less.
 * Its ends are quantiles of beta distributions, found by bisection of the binomial tail.
 */
export function intervalOf(hits: number, draws: number): { readonly low: number; readonly high: number } {
  return {
    low: hits === 0 ? 0 : bisect((share) => 1 - below(hits, draws, share) > TAIL),
    high: hits === draws ? 1 : bisect((share) => below(hits + 1, draws, share) < TAIL),
  };
}

// --- helpers ---

const TAIL = 0.025;

const rules: ReadonlyMap<string, MonitorRule> = new Map(seriesRules.map((rule) => [rule.id, rule]));

function ruleOf(id: string): MonitorRule {
  const rule = rules.get(id);
  if (rule === undefined) throw new Error(`no rule is called ${id}`);
  return rule;
}

/** The chance of fewer than `hits` of `draws`. */
function below(hits: number, draws: number, share: number): number {
  let sum = 0;
  let logChoose = 0;
  for (let each = 0; each < hits; each++) {
    sum += Math.exp(logChoose + each * Math.log(share) + (draws - each) * Math.log1p(-share));
    logChoose += Math.log((draws - each) / (each + 1));
  }
  return sum;
}

/** The smallest share of which it holds: it does so of all larger ones. */
function bisect(holds: (share: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
