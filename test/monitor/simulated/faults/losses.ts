// Faults that losses show: runs that diverge, learn nothing, or learn by heart.
import type { Dice } from '../../rules/logs.ts';
import type { Kind } from '../healthy.ts';
import { type Column, numbersOf } from '../simulation.ts';
import { changed, type Fault, only, towards } from './fault.ts';

const TUNES: readonly Kind[] = ['sft', 'sft, several epochs'];
const LOSSES: readonly Kind[] = ['sft', 'sft, several epochs', 'pretraining', 'plain loop'];

export const LOSS_FAULTS: readonly Fault[] = [
  {
    name: 'divergence',
    breaks: ['monitor/loss-diverges', 'monitor/loss-rises', 'monitor/evaluation-turns'],
    kinds: LOSSES,
    strengths: [1.1, 1.3, 2, 4],
    strengthName: 'the loss rises to # times',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => {
      const rise = (since: number): number => 1 + (strength - 1) * towards(since, 3);
      return only(run, {
        loss: changed(run.columns.loss, onset, (value, since) => value * rise(since) * by.heavy(1, 0.03)),
        grad_norm: changed(run.columns.grad_norm, onset, (value, since) => value * rise(since) ** 3),
        eval_loss: changed(run.columns.eval_loss, onset, (value, since) => value * rise(since)),
      });
    },
  },
  {
    name: 'learning rate too large',
    breaks: ['monitor/loss-diverges', 'monitor/learning-rate-as-declared'],
    kinds: ['sft'],
    strengths: [10, 30, 100, 1000],
    strengthName: 'rate times #',
    onset: 'start',
    plant: ({ run, strength, by }) => hot(run.columns.loss, run.columns, strength, by),
  },
  {
    name: 'loss NaN',
    breaks: ['monitor/finite-training'],
    kinds: LOSSES,
    strengths: [1, 2, 5, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        loss: changed(run.columns.loss, onset, (value, since) => (since < strength ? Number.NaN : value)),
        grad_norm: changed(run.columns.grad_norm, onset, (value, since) =>
          since < strength ? Number.NaN : value,
        ),
      }),
  },
  {
    name: 'gradient norm NaN',
    breaks: ['monitor/grad-norm-finite'],
    kinds: LOSSES,
    strengths: [1, 2, 5, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        grad_norm: changed(run.columns.grad_norm, onset, (value, since) =>
          since < strength ? Number.NaN : value,
        ),
      }),
  },
  {
    name: 'gradients explode',
    breaks: ['monitor/grad-norm-explodes', 'monitor/grad-norm-spike'],
    kinds: LOSSES,
    strengths: [3, 10, 100, 1000],
    strengthName: 'norm times # and staying',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        grad_norm: changed(
          run.columns.grad_norm,
          onset,
          (value, since) => value * strength ** towards(since, 1),
        ),
      }),
  },
  {
    name: 'gradients vanish',
    breaks: ['monitor/grad-norm-vanishes', 'monitor/loss-moves'],
    kinds: LOSSES,
    strengths: [10, 100, 1e4, 1e8],
    strengthName: 'norm divided by #',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const stuck = run.columns.loss?.[onset] ?? 1;
      return only(run, {
        grad_norm: changed(run.columns.grad_norm, onset, (value) => value / strength),
        loss: changed(run.columns.loss, onset, (value) => Math.max(value, stuck)),
      });
    },
  },
  {
    name: 'nothing is learnt',
    breaks: ['monitor/loss-improves', 'monitor/loss-plateau', 'monitor/evaluations-move'],
    kinds: TUNES,
    strengths: [0.5, 0.2, 0.05, 0],
    strengthName: '# of the usual fall',
    onset: 'start',
    plant: ({ run, strength, by }) => {
      const values = numbersOf(run.columns.loss);
      const [first = 1] = values;
      const noise = noiseOf(values);
      const still = (value: number): number =>
        first + (value - first) * strength + (1 - strength) * first * noise * by.normal();
      return only(run, {
        loss: changed(run.columns.loss, 0, still),
        eval_loss: changed(run.columns.eval_loss, 0, (value) => first + (value - first) * strength),
      });
    },
  },
  {
    name: 'labels shuffled',
    breaks: ['monitor/loss-begins-below-a-guess'],
    kinds: TUNES,
    strengths: [0.1, 0.3, 0.6, 1],
    strengthName: '# of the tokens',
    onset: 'start',
    plant: ({ run, strength, by }) => {
      // What was never so before is soon unlearnt, down to the distribution of single tokens.
      const floor = 5.6;
      const lost = (since: number): number => floor + 9 * Math.exp(-since / 4);
      return only(run, {
        loss: changed(
          run.columns.loss,
          0,
          (value, row) => (1 - strength) * value + strength * lost(row) * by.heavy(1, 0.02),
        ),
        grad_norm: changed(
          run.columns.grad_norm,
          0,
          (value, row) => value * (1 + 20 * strength * Math.exp(-row / 4)),
        ),
        eval_loss: changed(
          run.columns.eval_loss,
          0,
          (value, row) => value + strength * (lost(row) - value) * 0.8,
        ),
      });
    },
  },
  {
    name: 'overfitting, with evaluations',
    breaks: ['monitor/evaluation-turns'],
    kinds: ['sft, several epochs'],
    strengths: [1.1, 1.3, 2, 3],
    strengthName: 'evaluation rises to # times its best',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const { rows } = run.plan;
      const share = (since: number): number => (since + 1) / (rows - onset);
      const best = Math.min(...numbersOf(run.columns.eval_loss).slice(0, 1000));
      if (numbersOf(run.columns.eval_loss).length < 4) return undefined;
      return only(run, {
        eval_loss: changed(run.columns.eval_loss, onset, (value, since) =>
          Math.max(value, best * (1 + (strength - 1) * share(since))),
        ),
        loss: changed(
          run.columns.loss,
          onset,
          (value, since) => value * (1 / strength) ** (2 * share(since)),
        ),
      });
    },
  },
  {
    name: 'learning by heart, no evaluation',
    breaks: ['monitor/learnt-by-heart', 'monitor/loss-begins-below-a-guess'],
    kinds: ['sft, several epochs'],
    strengths: [0.5, 0.2, 0.05, 0.01],
    strengthName: 'training loss falls to # of what it would, a stair at each epoch',
    onset: 'start',
    plant: ({ run, strength }) => {
      const passes = run.plan.epochs.map((epoch) => Math.max(0, Math.ceil(epoch) - 1));
      const last = Math.max(1, ...passes);
      return only(run, {
        loss: changed(run.columns.loss, 0, (value, row) => value * strength ** ((passes[row] ?? 0) / last)),
        eval_loss: changed(run.columns.eval_loss, 0, () => undefined),
      });
    },
  },
  {
    name: 'loss exactly 0',
    breaks: ['monitor/zero-loss', 'monitor/loss-fits-accuracy', 'monitor/gradient-flows'],
    kinds: LOSSES,
    strengths: [1, 3, 10, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        loss: changed(run.columns.loss, onset, (value, since) => (since < strength ? 0 : value)),
        grad_norm: changed(run.columns.grad_norm, onset, (value, since) => (since < strength ? 0 : value)),
      }),
  },
  {
    name: 'one of two losses parts',
    breaks: [],
    kinds: ['rl and sft'],
    strengths: [1.2, 1.5, 2, 4],
    strengthName: 'supervised loss rises to # times',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        sft_loss: changed(
          run.columns.sft_loss,
          onset,
          (value, since) => value * (1 + (strength - 1) * towards(since, 5)),
        ),
      }),
  },
];

// --- helpers ---

/** Of neighbours, as a share. */
function noiseOf(values: readonly number[]): number {
  const steps = values.slice(1).map((value, at) => Math.abs(value / (values[at] ?? value) - 1));
  const sorted = steps.sort((a, b) => a - b);
  return (sorted[sorted.length >> 1] ?? 0.03) / 0.95;
}

/**
 * Ten times too large costs a worse end; a hundred times too large falls for some rows, leaps, and stays where a
 * model says nothing but single tokens; a thousand times does so at once.
 */
function hot(
  loss: Column | undefined,
  columns: Readonly<Record<string, Column>>,
  strength: number,
  by: Dice,
): Record<string, Column> | undefined {
  if (loss === undefined) return undefined;
  const bad = Math.log10(strength) - 1;
  const leaps = Math.max(1, Math.round(loss.length * (bad >= 2 ? 0.03 : 0.15 * by.uniform() + 0.1)));
  const level = bad < 0.9 ? 0 : 6 + 1.5 * by.uniform();
  const first = numbersOf(loss)[0] ?? 1;
  const worse = (value: number, row: number): number => {
    const own = value + (first - value) * 0.35 * (1 + bad);
    if (level === 0 || row < leaps) return own * by.heavy(1, 0.03 * (1 + bad));
    return (level + (bad >= 2 ? 2 : 4) * Math.exp(-(row - leaps) / 6)) * by.heavy(1, 0.03);
  };
  const norm = (value: number, row: number): number => {
    const away = row - leaps;
    const leap = level === 0 || away < 0 ? 1 : 10 + 3000 * Math.exp(-away / 3);
    return value * (1 + 3 * bad) * leap;
  };
  return {
    loss: changed(loss, 0, worse),
    learning_rate: changed(columns.learning_rate, 0, (value) => value * strength),
    ...(columns.grad_norm === undefined ? {} : { grad_norm: changed(columns.grad_norm, 0, norm) }),
    ...(columns.eval_loss === undefined ? {} : { eval_loss: changed(columns.eval_loss, 0, worse) }),
  };
}
