// What a gap does to training. The gradient counts each token once, and without bias it would count it w times, with
// w = p(trainer) / p(engine). Whatever the weights add up to beside that is a bias: its size, its sign, which tokens it is on,
// and what of it the usual corrections leave. It needs no advantages, so it says nothing of the reward.
import { ICEPOP, TIS_CAP, weightAt } from './compare.ts';
import type { Tokens } from './tokens.ts';

export interface Training {
  /** Without a correction, with TIS, with IcePop. */
  readonly corrections: readonly Correction[];
  /** Unlikely tokens first. */
  readonly groups: readonly Group[];
}

export interface Correction {
  readonly name: 'none' | 'TIS' | 'IcePop';
  /** Of tokens: that it cuts or masks. */
  readonly touched: number;
  /** Sum of |weight - w| over the sum of w: of the gradient's weight, what is on the wrong tokens. */
  readonly size: number;
  /** Sum of weight - w over the sum of w: above 0, the tokens count too much altogether. */
  readonly sign: number;
  /** Effective sample size of the weights that are left, as a share. */
  readonly ess: number;
}

/** Tokens that are about as likely, on both sides' geometric mean: a bound on one side would pick by its noise. */
export interface Group {
  readonly name: string;
  readonly tokens: number;
  /** By how much they count too much without a correction, relative; below 0: too little. */
  readonly excess: number;
  /** Standard error of it, with rows as the independent draws. */
  readonly error: number;
}

export function trainingOf(tokens: Tokens): Training {
  return { corrections: CORRECTIONS.map((each) => correct(tokens, each)), groups: groupsOf(tokens) };
}

/** It is on one side beyond chance, and is no rounding. */
export function isTilted({ excess, error }: Group): boolean {
  return Math.abs(excess) > Math.max(LEAST_EXCESS, CLEAR * error);
}

// --- helpers ---

/** Less is of no account: bf16 rounding reaches it. */
const LEAST_EXCESS = 0.02;
/** Standard errors: three groups of a file of noise reach it once in a hundred files. */
const CLEAR = 3.5;

interface Rule {
  readonly name: Correction['name'];
  readonly weightOf: (w: number) => number;
}
const CORRECTIONS: readonly Rule[] = [
  { name: 'none', weightOf: () => 1 },
  { name: 'TIS', weightOf: (w) => Math.min(w, TIS_CAP) },
  { name: 'IcePop', weightOf: (w) => (w < ICEPOP[0] || w > ICEPOP[1] ? 0 : w) },
];

function correct(tokens: Tokens, { name, weightOf }: Rule): Correction {
  let [wanted, apart, given, squares, touched] = [0, 0, 0, 0, 0];
  for (let at = 0; at < tokens.count; at++) {
    const w = weightAt(tokens, at);
    const weight = weightOf(w);
    wanted += w;
    apart += Math.abs(weight - w);
    given += weight;
    squares += weight * weight;
    if (weight !== w) touched++;
  }
  return {
    name,
    touched: name === 'none' ? 0 : touched / tokens.count,
    size: apart / wanted,
    sign: (given - wanted) / wanted,
    // Where all are masked, nothing is left.
    ess: squares === 0 ? 0 : (given * given) / squares / tokens.count,
  };
}

const GROUPS = [
  { name: 'p below 0.1', below: Math.log(0.1) },
  { name: 'p from 0.1 to 0.9', below: Math.log(0.9) },
  { name: 'p above 0.9', below: Number.POSITIVE_INFINITY },
];
/** Fewer rows give no standard error. */
const LEAST_ROWS = 10;

function groupsOf(tokens: Tokens): readonly Group[] {
  const { count, rows, row, sampling, trainer } = tokens;
  const counts = GROUPS.map(() => new Float64Array(rows));
  const weights = GROUPS.map(() => new Float64Array(rows));
  for (let at = 0; at < count; at++) {
    const likely = ((sampling[at] ?? 0) + (trainer[at] ?? 0)) / 2;
    const group = GROUPS.findIndex(({ below }) => likely < below);
    const of = row[at] ?? 0;
    add(counts[group], of, 1);
    add(weights[group], of, weightAt(tokens, at));
  }
  return GROUPS.flatMap(({ name }, group) => {
    const [own, weight] = [counts[group] ?? NONE, weights[group] ?? NONE];
    if (own.filter((each) => each > 0).length < LEAST_ROWS) return [];
    const [tokensOf, sum] = [total(own), total(weight)];
    const mean = sum / tokensOf;
    let squares = 0;
    for (let of = 0; of < rows; of++) squares += ((weight[of] ?? 0) - mean * (own[of] ?? 0)) ** 2;
    // Of 1 / mean, to first order.
    const error = Math.sqrt(squares) / tokensOf / (mean * mean);
    return [{ name, tokens: tokensOf, excess: 1 / mean - 1, error }];
  });
}

const NONE = new Float64Array();

function add(sums: Float64Array | undefined, at: number, value: number): void {
  if (sums !== undefined) sums[at] = (sums[at] ?? 0) + value;
}

const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
