// Steps of correct trainers of every convention, as sketches of ledgers: which weight each token has follows from rewards,
// lengths and the aggregation, by the formulas of the trainers' papers.
import type { LossAggregation } from '../../src/vocabulary.ts';
import type { LedgerSketch, TrainedRowSketch } from './traced.ts';

export interface Shape {
  /** Trained tokens of each row, by rank and micro-batch. */
  readonly lengths: readonly (readonly (readonly number[])[])[];
  readonly aggregation?: LossAggregation;
  readonly local?: boolean;
  readonly side?: 'left' | 'right';
  readonly step?: number;
  readonly norm?: number;
}

/** Ids of row `at` with so many answer tokens, the last of them a stop. */
export const idsOf = (at: number, length: number, prompt: readonly number[] = [1, 10]): number[] => [
  ...prompt,
  ...Array.from({ length: length - 1 }, (_, t) => 20 + ((at * 7 + t) % 60)),
  2,
];

interface Cell {
  readonly rank: number;
  readonly forward: number;
  readonly row: number;
  readonly at: number;
  readonly length: number;
  /** What its loss is multiplied by, each token's. */
  readonly factor: number;
  readonly width: number;
}

/** Every row with its factor. */
export function cellsOf({
  lengths,
  aggregation = 'token-mean',
  local = false,
  norm = 8,
  step = 0,
}: Shape): Cell[] {
  const all = lengths.flat(2);
  const tokens = all.reduce((sum, each) => sum + each, 0);
  const parts = lengths.flat().length;
  let at = 0;
  return lengths.flatMap((batches, rank) =>
    batches.flatMap((batch, micro) => {
      const own = batch.reduce((sum, each) => sum + each, 0);
      const factorOf = (length: number): number => {
        switch (aggregation) {
          case 'token-mean':
            return local ? 1 / (own * parts) : 1 / tokens;
          case 'seq-mean-token-mean':
            return 1 / (length * batch.length * parts);
          case 'seq-mean-token-sum':
            return 1 / (batch.length * parts);
          case 'token-sum-norm':
            return 1 / (norm * batch.length * parts);
        }
      };
      return batch.map((length, row) => ({
        rank,
        forward: step * batches.length + micro,
        row,
        at: at++,
        length,
        factor: factorOf(length),
        width: Math.max(...batch),
      }));
    }),
  );
}

const padded = ({ width, length }: Cell, side: 'left' | 'right'): Pick<TrainedRowSketch, 'left' | 'right'> =>
  side === 'left' ? { left: width - length } : { right: width - length };

/** Supervised rows: every token weighs its factor. */
export function supervised(shape: Shape): LedgerSketch {
  const rows = cellsOf(shape).map(
    (cell): TrainedRowSketch => ({
      ids: idsOf(cell.at, cell.length),
      prompt: 2,
      rank: cell.rank,
      forward: cell.forward,
      row: cell.row,
      step: shape.step ?? 0,
      weight: cell.factor,
      ...padded(cell, shape.side ?? 'right'),
    }),
  );
  return {
    rows,
    processes: shape.lengths.map((_, rank) => ({ rank, world: shape.lengths.length })),
  };
}

export interface Policy extends Shape {
  /** Of each row in order; groups of `size` follow one another. */
  readonly rewards: readonly number[];
  readonly size: number;
  readonly temperature?: number;
  readonly scoredAt?: number;
  /** d = ref - logprob at column t of row `at`; given, a k3 term of `beta` is in the weights and the reference is scored. */
  readonly gap?: (at: number, t: number) => number;
  readonly beta?: number;
}

/** Rows that were sampled and are trained with advantages less the group's mean. */
export function policy(shape: Policy): LedgerSketch {
  const {
    rewards,
    size,
    temperature = 1,
    scoredAt = temperature,
    gap,
    beta = 0,
    side = 'left',
    step = 0,
  } = shape;
  const cells = cellsOf(shape);
  const promptOf = (at: number): number[] => [1, 10 + Math.floor(at / size)];
  const advantages = cells.map(({ at }) => {
    const from = Math.floor(at / size) * size;
    const own = rewards.slice(from, from + size);
    return (rewards[at] ?? 0) - own.reduce((sum, each) => sum + each, 0) / own.length;
  });
  const scoredRows = cells.map((cell) => {
    const ids = idsOf(cell.at, cell.length, promptOf(cell.at));
    const place = {
      rank: cell.rank,
      forward: cell.forward,
      row: cell.row,
      step,
      prompt: 2,
      ...padded(cell, side),
    };
    const before = side === 'left' ? cell.width - cell.length : 0;
    const total = cell.width + 2;
    const logprobs = Array.from({ length: total }, (_, t) =>
      t === 0 ? Number.NaN : -1 - ((t * 5 + cell.at) % 4) / 3,
    );
    return { cell, ids, place, before, logprobs };
  });
  return {
    rows: scoredRows.map(({ cell, ids, place, before, logprobs }): TrainedRowSketch => {
      const advantage = advantages[cell.at] ?? 0;
      const tokens = Array.from({ length: cell.length }, (_, t) => before + 2 + t);
      const weights = tokens.map(
        (t) => cell.factor * (advantage + (gap === undefined ? 0 : beta * Math.expm1(gap(cell.at, t)))),
      );
      return {
        ...place,
        ids,
        logprobs,
        at: Object.fromEntries(
          tokens.map((t, each) => [
            t,
            weights[each] === 0
              ? null
              : { weight: weights[each], temperature: scoredAt, logprob: logprobs[t] },
          ]),
        ),
        spans: { origin: { kind: 'generation', generations: [cell.at] } },
      };
    }),
    scored:
      gap === undefined
        ? []
        : scoredRows.map(({ cell, ids, place, logprobs }) => ({
            ...place,
            ids,
            model: 1,
            by: 'reference' as const,
            logprobs: logprobs.map((each, t) => each + gap(cell.at, t)),
          })),
    generations: cells.map(({ at, length, rank }) => ({
      promptIds: promptOf(at),
      completionIds: idsOf(at, length, promptOf(at)).slice(2),
      temperature,
      rank,
      step,
    })),
    processes: shape.lengths.map((_, rank) => ({ rank, world: shape.lengths.length })),
  };
}

/** Rows of a step and of the next one. */
export function after(first: LedgerSketch, second: LedgerSketch): LedgerSketch {
  const { generations = [], scored = [], rows = [] } = first;
  const moved = (second.rows ?? []).map((row): TrainedRowSketch => {
    const origin = row.spans?.origin;
    if (origin?.kind !== 'generation') return row;
    const shifted = {
      kind: 'generation' as const,
      generations: origin.generations.map((at) => at + generations.length),
    };
    return { ...row, spans: { ...row.spans, origin: shifted } };
  });
  return {
    ...first,
    rows: [...rows, ...moved],
    scored: [...scored, ...(second.scored ?? [])],
    generations: [...generations, ...(second.generations ?? [])],
  };
}
