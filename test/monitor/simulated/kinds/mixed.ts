// Several losses at once: a policy with a supervised loss beside it, a world model with a language model whose buffer fills first.
import { type Dice, make } from '../../rules/logs.ts';
import { norms } from '../noise.ts';
import { plan } from '../plan.ts';
import { type Columns, called, type Simulation, state } from '../simulation.ts';
import { grpo } from './groups.ts';
import { lossLevels } from './supervised.ts';

/** The supervised loss falls while the reward rises, or hardly moves. */
export function withSupervised(by: Dice): Simulation {
  const run = grpo(by);
  const start = 0.8 + by.uniform();
  const levels = lossLevels(by, run.plan, {
    start,
    floor: start * by.pick([0.5, 0.8, 0.98]),
    quick: 0.5,
    soon: 5,
    noise: 0,
    stair: 0,
  });
  return {
    ...run,
    columns: { ...run.columns, sft_loss: levels.train.map((level) => level * by.heavy(1, 0.1)) },
    naming: (column) => (column === 'sft_loss' ? 'sft_loss' : run.naming(column)),
  };
}

export function worldModel(by: Dice): Simulation {
  const of = plan(by, { peak: [-4.5, -3.5], epochs: [1], every: [1, 10], rows: [30, 400] });
  const filled = by.whole(0, Math.min(20, of.rows >> 1));
  const every = by.pick([1, 1, 4]);
  const on = (row: number): boolean => row >= filled && row % every === 0;
  const columns: Columns = {
    world: make(of.rows, (row) => by.heavy(1 + 3 * Math.exp(-row / 20), 0.2)),
    samples: make(of.rows, (row) => (on(row) ? by.whole(1, 32) : 0)),
    sft_loss: make(of.rows, (row) => (on(row) ? by.heavy(1.5 + 0.5 * Math.exp(-row / 30), 0.15) : 0)),
    perceptual: make(of.rows, () => 0),
    grad_norm: norms(by, of.rows, () => 2),
    learning_rate: make(of.rows, () => of.peak),
  };
  const naming = called(
    {
      world: 'learner_step/wm_loss_avg',
      samples: 'learner_step/num_sft_samples',
      sft_loss: 'learner_step/llm_sft_loss_avg',
      perceptual: 'learner_step/perceptual_loss_avg',
      grad_norm: 'learner_step/total_grad_norm_before_clip_wm_avg',
      learning_rate: 'learner_step/cur_lr_world_model_avg',
    },
    state,
  );
  return { plan: of, columns, naming };
}
