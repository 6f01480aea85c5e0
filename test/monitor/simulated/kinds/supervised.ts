// Fine-tunes: of a few dozen points or thousands, one epoch or several, with evaluations.
import { type Dice, make } from '../../rules/logs.ts';
import { lossSpikes, norms, stepTimes, wander } from '../noise.ts';
import { type Plan, type PlanSketch, plan } from '../plan.ts';
import {
  board,
  type Column,
  type Columns,
  called,
  type Naming,
  type Simulation,
  state,
} from '../simulation.ts';

export interface Shape {
  /** Of the loss, in nats: where it begins, and where it would end. */
  readonly start: number;
  readonly floor: number;
  /** Share of the way that is gone in the first steps, while format and style are learnt; and how many rows that takes. */
  readonly quick: number;
  readonly soon: number;
  /** The way is gone within the first epoch, however many rows that has. */
  readonly inFirst?: true;
  /** Of the loss from batch to batch, as a share. */
  readonly noise: number;
  /** What each new epoch takes off the training loss, as a share: rows that were seen before. */
  readonly stair: number;
  /** Stages of the data, each harder: the loss jumps by so much, and falls again. */
  readonly stages?: number;
}

/** TRL's SFT or transformers' Trainer on a pretrained model. */
export function sft(by: Dice): Simulation {
  const start = 0.8 + 2.2 * by.uniform();
  return supervised(
    by,
    { peak: [-5.5, -3.5] },
    {
      start,
      floor: start * (0.45 + 0.5 * by.uniform()),
      quick: 0.3 + 0.6 * by.uniform(),
      soon: by.pick([1, 3, 10]),
      noise: by.pick([0.02, 0.04, 0.08, 0.15]),
      stair: by.pick([0.03, 0.1, 0.2]),
    },
  );
}

/** Several passes over few rows: a stair at each, and evaluations that rise a little towards the end. */
export function epochs(by: Dice): Simulation {
  const start = 1 + 1.5 * by.uniform();
  return supervised(
    by,
    { peak: [-5, -3.7], epochs: [3, 3, 4, 5, 10] },
    {
      start,
      floor: start * (0.5 + 0.3 * by.uniform()),
      quick: 0.5,
      soon: by.pick([1, 3]),
      noise: by.pick([0.03, 0.06, 0.1]),
      stair: by.pick([0.05, 0.15, 0.25]),
    },
  );
}

/** A task of few possible answers, or of a fixed form: its loss falls to almost nothing within the first epoch. */
export function easy(by: Dice): Simulation {
  return supervised(
    by,
    { peak: [-5, -3.5], epochs: [1, 1, 3, 10] },
    {
      start: by.pick([0.7, 2, 5]),
      floor: by.pick([0.003, 0.01, 0.06]),
      quick: 0.97,
      soon: by.pick([2, 5, 10]),
      inFirst: true,
      noise: by.pick([0.2, 0.5]),
      stair: by.pick([0.05, 0.15]),
    },
  );
}

/** A classifier: mean losses of few labels, noisy by the batch, whose evaluations go up and down by some percent. */
export function classifier(by: Dice): Simulation {
  const run = supervised(
    by,
    { peak: [-5, -4], epochs: [2, 3, 3, 5] },
    {
      start: by.pick([0.69, 1.1, 2.3]),
      floor: by.pick([0.1, 0.25, 0.4]),
      quick: 0.4,
      soon: by.pick([5, 15]),
      noise: by.pick([0.1, 0.3]),
      stair: by.pick([0.1, 0.3]),
    },
  );
  const { eval_loss: rated } = run.columns;
  if (rated === undefined) return run;
  const accuracy = rated.map((value) => (value === undefined ? undefined : Math.exp(-0.5 * value)));
  return { ...run, columns: { ...run.columns, eval_accuracy: accuracy } };
}

/** On text like that of its pretraining: a loss that hardly falls, less than batches differ. */
export function continued(by: Dice): Simulation {
  const start = 1.6 + 1.2 * by.uniform();
  return supervised(
    by,
    { peak: [-5.5, -4], epochs: [1] },
    {
      start,
      floor: start * (0.96 + 0.035 * by.uniform()),
      quick: 0.5,
      soon: by.pick([1, 10]),
      noise: by.pick([0.01, 0.03, 0.06]),
      stair: 0,
    },
  );
}

/** Data that gets harder: the loss jumps to a new level at each stage and falls again. */
export function curriculum(by: Dice): Simulation {
  const start = 1 + 2 * by.uniform();
  return supervised(
    by,
    { peak: [-5, -3.7], epochs: [1], rows: [40, 400] },
    {
      start,
      floor: start * (0.4 + 0.3 * by.uniform()),
      quick: 0.7,
      soon: by.pick([3, 10]),
      noise: by.pick([0.03, 0.08]),
      stair: 0,
      stages: by.whole(2, 4),
    },
  );
}

export function supervised(by: Dice, sketch: PlanSketch, shape: Shape): Simulation {
  const of = plan(by, sketch);
  const wide = shape.noise / Math.sqrt(by.pick([1, of.every]));
  const levels = lossLevels(by, of, shape);
  const factors = lossSpikes(by, of.rows);
  const order = wander(by, of.rows, by.pick([0, 0, 0.02]), by.pick([3, 20]));
  const loss = make(of.rows, (row) =>
    Math.max(1e-5, (levels.train[row] ?? 1) * (order[row] ?? 1) * (factors[row] ?? 1) * by.heavy(1, wide)),
  );
  // Some versions of transformers log the sum over accumulated batches, and the mean of evaluations.
  const summed = by.uniform() < 0.08 ? by.pick([4, 16, 32]) : 1;
  const columns: Columns = {
    loss: loss.map((value) => value * summed),
    grad_norm: gradients(by, of, factors, levels.train),
    learning_rate: [...of.rates],
    ...accuracies(by, loss),
    epoch: [...of.epochs],
    ...evaluations(by, of, levels.held),
    ...speeds(by, of),
  };
  return { plan: of, columns, naming: by.pick(NAMINGS), ...declaredOf(of) };
}

/** The loss without its noise, on rows that were trained and on rows that were held out. */
export function lossLevels(
  by: Dice,
  { rows, every, epochs: passes, perEpoch, progress, rates, peak }: Plan,
  { start, floor, quick, soon: usual, inFirst, stair, stages = 1 }: Shape,
): { readonly train: number[]; readonly held: number[] } {
  const gap = by.pick([0.95, 1, 1, 1.05, 1.15]);
  const rise = by.pick([0, 0, 0.01, 0.03, 0.05]);
  const slow = by.pick([0.1, 0.3, 1]);
  const soon = inFirst === true ? Math.min(usual, perEpoch / every / 8) : usual;
  // A large rate keeps the loss up: it falls once more when the rate does, and rises where it is restarted.
  const heat = by.pick([0, 0.05, 0.15]) * (start - floor);
  // Nothing moves while the rate is still small; some tasks are found out all at once, somewhat later.
  const warm = (row: number): number => (progress[row] ?? 1) * rows;
  const delay = inFirst !== true && by.uniform() < 0.15 ? by.uniform() * Math.min(15, 0.15 * rows) : 0;
  const gone = (row: number): number =>
    delay === 0 ? Math.exp(-warm(row) / soon) : 1 / (1 + Math.exp((2 * (warm(row) - delay)) / soon));
  const harder = make(stages, (stage) => (stage === 0 ? 1 : 1 + 0.25 * by.uniform()));
  const held = make(rows, (row) => {
    const at = progress[row] ?? 1;
    const stage = Math.min(stages - 1, Math.floor((row * stages) / rows));
    const since = row - Math.ceil((stage * rows) / stages);
    const fast = stage === 0 ? gone(row) : 0.4 * Math.exp(-since / soon);
    const late = (1 + at / slow) ** -1.5;
    const warmth = (heat * (rates[row] ?? 0)) / peak;
    const level = floor + (start - floor) * (quick * fast + (1 - quick) * late) + warmth;
    return level * (harder[stage] ?? 1);
  });
  const train = held.map((level, row) => {
    const seen = Math.max(0, Math.ceil(passes[row] ?? 0) - 1);
    return level * (1 - stair) ** Math.min(seen, 8);
  });
  const last = Math.max(...passes);
  return {
    train,
    held: held.map((level, row) => {
      const over = last > 1 ? Math.max(0, (passes[row] ?? 0) / last - 0.5) * 2 : 0;
      return gap * level * (1 + rise * over);
    }),
  };
}

/** Of transformers, whose trainer names its columns so. */
export const NAMINGS: readonly Naming[] = [state, state, board];

/** A plain loop's names. */
export const PLAIN: readonly Naming[] = [
  called({ learning_rate: 'lr', grad_norm: 'gnorm', eval_loss: 'val_loss', throughput: 'tokens_per_sec' }),
  called({ loss: 'train_loss', learning_rate: 'lr-AdamW', eval_loss: 'val_loss' }),
  called({
    loss: 'loss/mean',
    learning_rate: 'optim/lr',
    grad_norm: 'optim/grad_norm',
    eval_loss: 'eval/loss',
  }),
];

export function gradients(
  by: Dice,
  { rows, progress }: Plan,
  factors: readonly number[],
  levels: readonly number[],
): number[] {
  const size = by.pick([0.1, 0.3, 1, 3, 20]);
  // Adapters begin at 0 and get a larger gradient with their first steps; whole models begin with the largest.
  const [first, long] = by.pick([
    [1, 1],
    [3, 2],
    [8, 3],
    [20, 2],
    [0.2, 3],
    [0.3, 8],
  ] as const);
  const drift = by.pick([0.1, 0.5, 1, 1, 2, 4]);
  const follows = by.pick([0, 0.5, 1]);
  const top = Math.max(...levels);
  return norms(by, rows, (row) => {
    const begin = 1 + (first - 1) * Math.exp(-row / long);
    const share = ((levels[row] ?? top) / top) ** follows;
    return size * begin * drift ** (progress[row] ?? 1) * share * (factors[row] ?? 1) ** 2;
  });
}

export function evaluations(by: Dice, { rows }: Plan, held: readonly number[]): Columns {
  if (by.uniform() < 0.4) return {};
  const every = by.pick([
    Math.ceil(rows / 3),
    Math.ceil(rows / 5),
    Math.ceil(rows / 10),
    Math.ceil(rows / 20),
  ]);
  const noise = by.pick([0.001, 0.005, 0.01]);
  const at = (row: number): boolean => row % every === every - 1 || row === rows - 1;
  const runtime = 10 ** (1 + 2 * by.uniform());
  const rated = (value: (row: number) => number): Column =>
    Array.from({ length: rows }, (_, row) => (at(row) ? value(row) : undefined));
  return {
    eval_loss: rated((row) => (held[row] ?? 1) * by.heavy(1, noise)),
    ...(by.uniform() < 0.6
      ? {
          eval_runtime: rated(() => by.heavy(runtime, 0.05)),
          eval_samples_per_second: rated(() => by.heavy(1000 / runtime, 0.05)),
        }
      : {}),
  };
}

function accuracies(by: Dice, loss: readonly number[]): Columns {
  if (by.uniform() < 0.5) return {};
  const vocabulary = Math.log(32_000);
  return {
    mean_token_accuracy: loss.map(
      (value) => Math.exp(-0.7 * value) * Math.min(1 / Math.exp(-0.7 * value), by.heavy(1, 0.01)),
    ),
    entropy: loss.map((value) => Math.min(vocabulary, value * by.heavy(1, 0.05))),
    num_tokens: loss.map((_, row) => 65_536 * (row + 1)),
  };
}

export function speeds(by: Dice, { rows }: Plan): Columns {
  if (by.uniform() < 0.7) return {};
  const times = stepTimes(by, rows);
  return {
    step_time: times,
    throughput: times.map((time) => 8192 / time),
    ...(by.uniform() < 0.5 ? { data_time: times.map((time) => time * by.heavy(0.01, 0.5)) } : {}),
  };
}

export const declaredOf = ({ declared }: Plan): Pick<Simulation, 'declared'> => ({ declared });
