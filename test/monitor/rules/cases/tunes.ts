// Fine-tunes as transformers logs them, healthy and with something planted: 60 points of loss, gradient norm, learning rate
// and epoch, some with evaluations.
import { type Dice, dice, type Log, make } from '../logs.ts';

export interface Tune {
  readonly rows?: number;
  readonly start?: number;
  readonly floor?: number;
  readonly noise?: number;
  readonly passes?: number;
  readonly seed?: number;
  /** Share that each new pass takes off the loss. */
  readonly stair?: number;
  /** Rows from one evaluation to the next; 0: none. */
  readonly evaluate?: number;
  /** What becomes of the loss, of its gradient norm and of the held-out loss. */
  readonly loss?: (value: number, row: number, by: Dice) => number;
  readonly norm?: (value: number, row: number, by: Dice) => number;
  readonly held?: (value: number, row: number, by: Dice) => number;
  /** Share of its peak. */
  readonly rate?: (row: number) => number;
}

/** The series of a `trainer_state.json`. */
export function tune(options: Tune = {}): Log['series'] {
  const {
    rows = 60,
    start = 1.52,
    floor = 0.94,
    noise = 0.05,
    passes = 1,
    stair = 0.1,
    evaluate = 0,
  } = options;
  const by = dice(options.seed ?? 11);
  const level = make(rows, (row) => {
    const pass = Math.max(0, Math.ceil((passes * (row + 1)) / rows) - 1);
    return (floor + (start - floor) * Math.exp((-4 * row) / rows)) * (1 - stair) ** pass;
  });
  const loss = level.map((value, row) => (options.loss?.(value, row, by) ?? value) * by.heavy(1, noise));
  const rate = options.rate ?? ((row) => Math.min(1, (row + 1) / 4) * (1 - row / rows));
  return {
    epoch: make(rows, (row) => Math.round((1e4 * passes * (row + 1)) / rows) / 1e4),
    grad_norm: make(rows, (row) => {
      const norm = by.heavy(0.55, 0.25);
      return options.norm?.(norm, row, by) ?? norm;
    }),
    learning_rate: make(rows, (row) => 2e-4 * rate(row)),
    loss,
    ...(evaluate === 0
      ? {}
      : {
          eval_loss: make(rows, (row) => {
            const held = (level[row] as number) * 1.03;
            if (row % evaluate !== evaluate - 1) return undefined as never;
            return (options.held?.(held, row, by) ?? held) * by.heavy(1, 0.01);
          }),
          eval_runtime: make(rows, (row) => (row % evaluate !== evaluate - 1 ? (undefined as never) : 12.3)),
        }),
    // What transformers logs once, at the end.
    train_loss: make(rows, (row) => (row === rows - 1 ? 1.13 : (undefined as never))),
    train_runtime: make(rows, (row) => (row === rows - 1 ? 512 : (undefined as never))),
  };
}

/** To a new level within so many rows from `at` on, and to stay there. */
export const towards =
  (at: number, level: number, within = 4) =>
  (value: number, row: number): number =>
    row < at ? value : value + (level - value) * (1 - Math.exp((-3 * (row - at + 1)) / within));
