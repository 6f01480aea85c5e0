// Faults of the loop itself: learning rates that are not what was meant, and steps that wait.
import type { Kind } from '../healthy.ts';
import { changed, type Fault, only, towards } from './fault.ts';

const RATED: readonly Kind[] = ['sft', 'dpo', 'grpo', 'pretraining'];
const TIMED: readonly Kind[] = ['pretraining', 'ppo', 'sft'];

export const STEP_FAULTS: readonly Fault[] = [
  {
    name: 'learning rate 0',
    kinds: RATED,
    strengths: [2, 5, 10, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        learning_rate: changed(run.columns.learning_rate, onset, (value, since) =>
          since < strength ? 0 : value,
        ),
      }),
  },
  {
    name: 'learning rate begins anew',
    kinds: RATED,
    strengths: [0.1, 0.3, 0.6, 1],
    strengthName: 'back by # of the way',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const { learning_rate: rates } = run.columns;
      const back = Math.round(onset * strength);
      // A rate that is constant begins anew unseen.
      if (rates === undefined || new Set(run.plan.rates.slice(0, onset)).size < onset / 2) return undefined;
      return only(run, {
        learning_rate: rates.map((value, row) => (row < onset ? value : rates[row - back])),
      });
    },
  },
  {
    name: 'warm-up that never ends',
    kinds: RATED,
    strengths: [0.5, 0.1, 0.01, 0.001],
    strengthName: 'the last rate is # of the peak',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, {
        learning_rate: changed(
          run.columns.learning_rate,
          0,
          (_, row) => (run.plan.peak * strength * (row + 1)) / run.plan.rows,
        ),
      }),
  },
  {
    name: 'steps become slow',
    kinds: TIMED,
    strengths: [1.5, 3, 10, 30],
    strengthName: 'seconds per step times #, and staying',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        step_time: changed(run.columns.step_time, onset, (value) => value * strength),
        throughput: changed(run.columns.throughput, onset, (value) => value / strength),
      }),
  },
  {
    name: 'steps wait for data',
    kinds: ['sft'],
    strengths: [0.2, 0.5, 0.8, 0.95],
    strengthName: '# of the step',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const { step_time: times } = run.columns;
      const longer = 1 / (1 - strength);
      return only(run, {
        data_time: changed(run.columns.data_time, onset, (_, since) => {
          return (times?.[onset + since] ?? 1) * longer * strength * towards(since, 0.5);
        }),
        step_time: changed(times, onset, (value) => value * longer),
        throughput: changed(run.columns.throughput, onset, (value) => value / longer),
      });
    },
  },
];
