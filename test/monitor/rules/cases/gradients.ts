// Gradient norms that leave their order of magnitude.
import { dice, make } from '../logs.ts';
import type { Cases } from './case.ts';
import { tune } from './tunes.ts';

const by = dice(29);
const noisy = (count: number, level: number, noise = 0.3): number[] =>
  make(count, () => by.heavy(level, noise));

export const GRADIENTS: Readonly<Record<string, Cases>> = {
  'monitor/grad-norm-explodes': {
    breaking: [
      { what: 'after the first step', series: { grad_norm: [2, 5e8, 1e8] }, onset: 1 },
      { what: 'and becomes NaN', series: { loss: [2.3, 4e5, 0], grad_norm: [2, 5e8, Number.NaN] }, onset: 1 },
      {
        what: 'after it was NaN',
        series: { loss: [2.3, 2.2, 2.1], grad_norm: [2, Number.NaN, 5e8] },
        onset: 2,
      },
      {
        what: 'in a single step',
        series: tune({ norm: (value, row) => (row === 30 ? 2650 : value) }),
        onset: 30,
      },
      {
        what: 'in the eighth',
        series: tune({ norm: (value, row) => (row === 7 ? 2650 : value) }),
        onset: 7,
      },
      {
        what: 'and stays',
        series: tune({ norm: (value, row) => (row < 31 ? value : 60 * value) }),
        onset: 31,
        within: 12,
      },
      {
        what: 'little by little',
        series: tune({
          rows: 120,
          norm: (value, row) => value * 60 ** (Math.min(60, Math.max(0, row - 30)) / 60),
        }),
        onset: 80,
        within: 20,
      },
    ],
    holding: [
      { what: 'norms of a first step that fall', series: { gnorm: [300, ...noisy(30, 1, 1.5)] } },
      { what: 'heavy tails', series: { grad_norm: noisy(3000, 1, 1.2) } },
      { what: 'a clipped spike', series: tune({ norm: (value, row) => (row === 30 ? 60 : value) }) },
      { what: 'micro-batches', series: tune({ norm: (value, row) => (row % 8 === 7 ? value : 0) }) },
      {
        what: 'groups without spread, and a KL that is all that is left',
        series: {
          grad_norm: make(200, (row) => (row % 5 === 0 ? by.heavy(2, 0.5) : 1e-7)),
          reward: make(200, () => 1),
        },
      },
    ],
  },
  'monitor/grad-norm-vanishes': {
    breaking: [
      {
        what: 'a model that was frozen on the way',
        series: tune({ norm: (value, row) => (row < 31 ? value : 1e-6 * value) }),
        onset: 31,
        within: 12,
      },
    ],
    holding: [
      { what: 'a fine-tune', series: tune() },
      {
        what: 'rows that are learnt by heart',
        series: tune({
          loss: (value, row) => value * Math.exp(-row / 20),
          norm: (value, row) => value * Math.exp(-row / 5),
        }),
      },
      {
        what: 'micro-batches',
        series: tune({ rows: 300, norm: (value, row) => (row % 8 === 7 ? value : 0) }),
      },
      {
        what: 'groups without spread',
        series: {
          loss: make(100, () => 0.01),
          grad_norm: make(100, (row) => (row < 40 ? by.heavy(1, 0.3) : 1e-7)),
          reward: make(100, () => 1),
        },
        silent: true,
      },
      { what: 'no loss', series: { grad_norm: noisy(60, 1) }, silent: true },
    ],
  },
};
