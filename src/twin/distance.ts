// How far two runs of one script are apart, step by step. Nothing is judged here: what a distance means, the rounding of the
// same script says (verdict.ts).
import type { Print, Prints, TwinRow, TwinRun, TwinStep, TwinToken } from './run.ts';

export interface StepDistance {
  readonly step: number;
  /** Weights before the first step. */
  readonly before: TensorDistances;
  /** Rows that one of the runs trains and the other does not. */
  readonly alone: readonly [first: readonly TwinRow[], second: readonly TwinRow[]];
  readonly tokens: readonly TokenDistance[];
  /** Of the rows of both: by module, in the order in which they were done, the largest of all rows. */
  readonly outputs: ReadonlyMap<string, number>;
  /** Of the rows of both, but for a factor of each row: by place, in the order of the backward pass. */
  readonly backward: ReadonlyMap<string, number>;
  readonly gradients: TensorDistances;
  /** Of the gradients' signs; empty where none were asked for. */
  readonly signs: TensorDistances;
  /** How often each backward pass is in the gradient, where that is known of the second run. */
  readonly delivered?: readonly number[];
  readonly rates: readonly [first: readonly number[], second: readonly number[]];
  readonly after: TensorDistances;
}

export type TensorDistances = ReadonlyMap<string, TensorDistance>;

export interface TensorDistance {
  /** Norm of the difference over the larger norm, or over a share of the largest tensor where both are smaller. */
  readonly relative: number;
  /** Over the larger norm, however small it is. */
  readonly own: number;
  readonly norms: readonly [first: number, second: number];
  /** The second is about so many times the first, and apart from that, this far from it. */
  readonly factor: number;
  readonly rest: number;
}

/** A token that both train toward the same target. */
export interface TokenDistance {
  readonly rows: readonly [TwinRow, TwinRow];
  readonly tokens: readonly [TwinToken, TwinToken];
  /** Difference of the log-probabilities; undefined: one is not known. */
  readonly logprob: number | undefined;
  /** Difference of the weights over the largest weight of the step; undefined: one is not known. */
  readonly weight: number | undefined;
}

/** Of the steps that both made. */
export function distancesOf(first: TwinRun, second: TwinRun): readonly StepDistance[] {
  return first.steps.flatMap((step, at) => {
    const other = second.steps[at];
    return other === undefined || !step.made || !other.made ? [] : [distanceOf(step, other)];
  });
}

// --- helpers ---

function distanceOf(first: TwinStep, second: TwinStep): StepDistance {
  const { pairs, alone } = matched(first.rows, second.rows);
  const weights = first.rows.flatMap(({ tokens }) => tokens.flatMap(({ weight }) => weight ?? []));
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  return {
    step: first.index,
    before: tensorsApart(first.before, second.before),
    alone,
    tokens: pairs.flatMap((pair) => tokensApart(pair, largest)),
    outputs: outputsApart(pairs),
    backward: backwardApart(pairs),
    gradients: tensorsApart(first.gradients, second.gradients),
    signs: tensorsApart(first.signs ?? new Map(), second.signs ?? new Map()),
    ...(second.delivered === undefined ? {} : { delivered: second.delivered }),
    rates: [first.rates, second.rates],
    after: tensorsApart(first.after, second.after),
  };
}

type Pair = readonly [TwinRow, TwinRow];

/** A row is known by its tokens and by the targets that it is trained toward. */
function matched(
  first: readonly TwinRow[],
  second: readonly TwinRow[],
): { readonly pairs: readonly Pair[]; readonly alone: StepDistance['alone'] } {
  const waiting = new Map<string, TwinRow[]>();
  for (const row of second) {
    const key = keyOf(row);
    waiting.set(key, [...(waiting.get(key) ?? []), row]);
  }
  const pairs: Pair[] = [];
  const alone: TwinRow[] = [];
  for (const row of first) {
    const other = waiting.get(keyOf(row))?.shift();
    if (other === undefined) alone.push(row);
    else pairs.push([row, other]);
  }
  return { pairs, alone: [alone, [...waiting.values()].flat()] };
}

const keyOf = ({ ids, tokens }: TwinRow): string =>
  `${ids.join(',')}|${tokens.map(({ at, target }) => `${at}:${target ?? '?'}`).join(',')}`;

function tokensApart(rows: Pair, largest: number): readonly TokenDistance[] {
  return rows[0].tokens.flatMap((token, at) => {
    const other = rows[1].tokens[at];
    if (other === undefined) return [];
    const weight = apart(token.weight, other.weight);
    return [
      {
        rows,
        tokens: [token, other] as const,
        logprob: apart(token.logprob, other.logprob),
        weight: weight === undefined || largest === 0 ? weight : weight / largest,
      },
    ];
  });
}

function apart(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined || !Number.isFinite(a) || !Number.isFinite(b)) return undefined;
  return Math.abs(a - b);
}

function outputsApart(pairs: readonly Pair[]): ReadonlyMap<string, number> {
  const worst = new Map<string, number>();
  for (const [first, second] of pairs) {
    // Without a mask nobody knows which of the outputs are those of padding.
    if (first.unmasked?.join() !== second.unmasked?.join()) continue;
    for (const [name, print] of first.outputs) {
      const other = second.outputs.get(name);
      if (other === undefined) continue;
      const size = Math.max(sizeOf(print), sizeOf(other));
      const relative = size === 0 ? 0 : sizeOf(minus(print, other)) / size;
      worst.set(name, Math.max(worst.get(name) ?? 0, relative));
    }
  }
  return worst;
}

/** The largest difference of any row over the largest gradient of any row: those of a row that hardly counts are mostly rounding. */
function backwardApart(pairs: readonly Pair[]): ReadonlyMap<string, number> {
  const worst = new Map<string, { difference: number; size: number }>();
  for (const [{ backward: first, unmasked }, { backward: second, unmasked: other }] of pairs) {
    if (first === undefined || second === undefined || unmasked?.join() !== other?.join()) continue;
    // Micro-batches and processes have their own share of the loss; that the shares are right is judged by the weights of tokens.
    let factor: number | undefined;
    for (const [place, print] of first) {
      const own = second.get(place);
      if (own === undefined) continue;
      factor ??= factorBetween(print, own);
      const known = worst.get(place) ?? { difference: 0, size: 0 };
      const by = factor ?? 1;
      const scaled = print.map((each) => by * each);
      worst.set(place, {
        difference: Math.max(known.difference, sizeOf(minus(scaled, own))),
        size: Math.max(known.size, sizeOf(scaled), sizeOf(own)),
      });
    }
  }
  return new Map(
    [...worst].map(([place, { difference, size }]) => [place, size === 0 ? 0 : difference / size]),
  );
}

function factorBetween(first: Print, second: Print): number | undefined {
  const factor = dot(first, second) / dot(first, first);
  return Number.isFinite(factor) && factor > 0 ? factor : undefined;
}

/**
 * Next to the largest tensor, one of less than this share is measured against the share: a gradient that is 0 but for its
 * rounding (the bias of a key, say) is never the same twice.
 */
const LEAST_SHARE = 1e-4;

function tensorsApart(first: Prints, second: Prints): TensorDistances {
  const norms = [...first.values(), ...second.values()].map(([norm = 0]) => norm).filter(Number.isFinite);
  const least = LEAST_SHARE * norms.reduce((most, norm) => Math.max(most, norm), 0);
  const out = new Map<string, TensorDistance>();
  for (const name of new Set([...first.keys(), ...second.keys()])) {
    const a = first.get(name);
    const b = second.get(name);
    const width = Math.max(a?.length ?? 0, b?.length ?? 0);
    const none: Print = Array<number>(width).fill(0);
    out.set(name, tensorApart(a ?? none, b ?? none, least));
  }
  return out;
}

function tensorApart(a: Print, b: Print, least: number): TensorDistance {
  const [normA = 0, ...sumsA] = a;
  const [normB = 0, ...sumsB] = b;
  const size = Math.max(normA, normB, least);
  const square = dot(sumsA, sumsA);
  const factor = square === 0 ? Number.NaN : dot(sumsA, sumsB) / square;
  const scaled = sumsA.map((each) => factor * each);
  const over = (rest: Print, by = size): number => (by === 0 ? 0 : sizeOf(rest) / by);
  const difference = minus(sumsA, sumsB);
  return {
    relative: over(difference),
    own: over(difference, Math.max(normA, normB)),
    norms: [normA, normB],
    factor,
    rest: Number.isFinite(factor) ? over(minus(scaled, sumsB)) : Number.POSITIVE_INFINITY,
  };
}

const minus = (a: Print, b: Print): Print => a.map((each, at) => each - (b[at] ?? 0));
const dot = (a: Print, b: Print): number => a.reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
/** The norm of a tensor with these sums, as far as they tell. */
const sizeOf = (sums: Print): number => Math.sqrt(dot(sums, sums) / Math.max(1, sums.length));
