// Models that begin with nothing: a loss from ln V down by a power law, gradients that begin large, a long warm-up.
import { type Dice, make } from '../../rules/logs.ts';
import { lossSpikes, norms, stepTimes } from '../noise.ts';
import { plan } from '../plan.ts';
import { type Column, type Columns, called, type Naming, type Simulation } from '../simulation.ts';
import { declaredOf, NAMINGS, PLAIN } from './supervised.ts';

const MEGATRON: Naming = called({
  loss: 'lm loss',
  grad_norm: 'grad-norm',
  learning_rate: 'learning-rate',
  step_time: 'iteration-time',
  eval_loss: 'lm loss validation',
});

export function pretraining(by: Dice): Simulation {
  const of = plan(by, { peak: [-4, -2], epochs: [0.1, 1, 1], every: [1, 10, 10, 50, 100] });
  const vocabulary = by.pick([256, 32_000, 50_257, 151_936]);
  const start = Math.log(vocabulary) * (1 + 0.05 * by.uniform());
  const floor = vocabulary === 256 ? 0.7 : by.pick([1.8, 2.5, 3.2]);
  const steep = by.pick([0.2, 0.35, 0.6]);
  const first = by.pick([0.5, 2, 5]);
  const noise = by.pick([0.005, 0.01, 0.03]);
  const factors = lossSpikes(by, of.rows);
  const warm = (row: number): number => (of.progress[row] ?? 1) * of.rows;
  const levels = make(of.rows, (row) => floor + (start - floor) * (1 + warm(row) / first) ** -steep);
  const loss = levels.map((level, row) => level * (factors[row] ?? 1) * by.heavy(1, noise));
  const high = by.pick([2, 10, 30]);
  const low = by.pick([0.1, 0.3, 1]);
  const times = stepTimes(by, of.rows);
  const every = Math.ceil(of.rows / by.pick([4, 10, 20]));
  const validated: Column = levels.map((level, row) =>
    row % every === every - 1 ? level * by.heavy(1.01, 0.003) : undefined,
  );
  const columns: Columns = {
    loss,
    grad_norm: norms(
      by,
      of.rows,
      (row) => (low + high * Math.exp(-row / (2 * first))) * (factors[row] ?? 1) ** 2,
    ),
    learning_rate: [...of.rates],
    ...(by.uniform() < 0.5 ? { eval_loss: validated } : {}),
    ...(by.uniform() < 0.5 ? { step_time: times, throughput: times.map((time) => 5e5 / time) } : {}),
    ...experts(by, of.rows),
  };
  return { plan: of, columns, naming: by.pick([MEGATRON, ...NAMINGS, ...PLAIN]), ...declaredOf(of) };
}

/** A loss that balances experts stays near what it is from the beginning; a second head predicts the token after the next. */
function experts(by: Dice, rows: number): Columns {
  if (by.uniform() < 0.75) return {};
  const scale = by.pick([1, 0.01]);
  return {
    load_balancing_loss: make(rows, (row) => scale * (1 + 0.15 * Math.exp(-row / 10)) * by.heavy(1, 0.01)),
    ...(by.uniform() < 0.5
      ? { z_loss: make(rows, (row) => 1e-3 * (1 + 9 * Math.exp(-row / 5)) * by.heavy(1, 0.1)) }
      : {}),
  };
}
