// Faults of the loop itself: learning rates that are not what was meant, and steps that wait.
import type { Kind } from '../healthy.ts';
import { changed, type Fault, fresh, only, towards } from './fault.ts';

const RATED: readonly Kind[] = ['sft', 'dpo', 'grpo', 'pretraining'];
/** Rows that it logs once more. */
const AGAIN = 5;
const TIMED: readonly Kind[] = ['pretraining', 'ppo', 'sft'];

export const STEP_FAULTS: readonly Fault[] = [
  {
    name: 'learning rate 0',
    breaks: ['monitor/learning-rate-not-zero'],
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
    breaks: ['monitor/learning-rate-as-scheduled', 'monitor/learning-rate-jumps'],
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
    breaks: ['monitor/warm-up-ends'],
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
    breaks: ['monitor/throughput-stalls'],
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
    breaks: ['monitor/data-stalls'],
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
  {
    name: 'learning rate below 0',
    breaks: ['monitor/learning-rate-not-negative'],
    kinds: RATED,
    strengths: [0.001, 0.01, 0.1, 1],
    strengthName: '# of the peak',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        learning_rate: changed(run.columns.learning_rate, onset, () => -strength * run.plan.peak),
      }),
  },
  {
    name: 'learning rate of another unit',
    breaks: ['monitor/learning-rate-size'],
    kinds: RATED,
    strengths: [1e2, 1e4, 1e6, 1e8],
    strengthName: 'rate times #',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, { learning_rate: changed(run.columns.learning_rate, 0, (value) => value * strength) }),
  },
  {
    name: 'a schedule that a resumed run begins anew',
    breaks: ['monitor/schedule-resumes'],
    kinds: RATED,
    strengths: [0.1, 0.3, 0.6, 1],
    strengthName: 'back by # of the way',
    onset: 'later',
    again: AGAIN,
    plant: ({ run, onset, strength }) => {
      const { learning_rate: rates } = run.columns;
      if (rates === undefined || new Set(run.plan.rates.slice(0, onset)).size < onset / 2) return undefined;
      const back = Math.round((onset - AGAIN) * strength) + AGAIN;
      return { learning_rate: rates.map((value, row) => (row < onset ? value : rates[row - back])) };
    },
  },
  {
    name: 'a pace since the start',
    breaks: ['monitor/pace-of-one-span'],
    kinds: ['pretraining', 'sft'],
    strengths: [0.1, 0.3, 0.6, 1],
    strengthName: 'it grows as the steps to the power of #',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, {
        throughput: changed(run.columns.throughput, 0, (value, row) => value * (row + 1) ** strength),
      }),
  },
  {
    name: 'no more tokens',
    breaks: ['monitor/tokens-go-on'],
    kinds: ['pretraining', 'sft'],
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const counts = run.columns.num_tokens ?? fresh(run, (row) => 4096 * run.plan.every * (row + 1));
      return {
        num_tokens: changed(counts, onset, (value, since) =>
          since < strength ? (counts[onset - 1] ?? value) : value,
        ),
      };
    },
  },
];
