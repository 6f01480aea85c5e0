// Numbers that no run can log: they are of another kind than their names say, or of another batch.
import { changed, type Fault, fresh, only } from './fault.ts';

const BEFORE_ANYTHING = 5;

export const IMPOSSIBLE_FAULTS: readonly Fault[] = [
  {
    name: 'log-probabilities with their sign turned',
    breaks: ['monitor/values-are-in-range'],
    kinds: ['dpo'],
    strengths: [0.3, 0.6, 0.9, 1],
    strengthName: '# of the rows',
    onset: 'later',
    plant: ({ run, onset, strength, by }) =>
      only(run, {
        'logps/chosen': changed(run.columns['logps/chosen'], onset, (value) =>
          by.uniform() < strength ? -value : value,
        ),
      }),
  },
  {
    name: 'an entropy with the sign of its bonus',
    breaks: ['monitor/entropy-not-negative'],
    kinds: ['grpo', 'grpo, dense'],
    strengths: [0.3, 0.6, 0.9, 1],
    strengthName: '# of the rows',
    onset: 'start',
    plant: ({ run, strength, by }) =>
      only(run, {
        entropy: changed(run.columns.entropy, 0, (value) => (by.uniform() < strength ? -value : value)),
      }),
  },
  {
    name: 'a mean length over fewer completions than there are',
    breaks: ['monitor/mean-between-extremes'],
    kinds: ['grpo', 'grpo, dense'],
    strengths: [0.1, 0.5, 1, 3],
    strengthName: '# of the largest too much',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const lengths = fresh(run, (row) => 200 + (row % 7) * 10);
      return {
        'completions/mean_length': changed(lengths, onset, (value) => value * 2 * (1 + strength)),
        'completions/min_length': changed(lengths, 0, (value) => value / 4),
        'completions/max_length': changed(lengths, 0, (value) => value * 2),
      };
    },
  },
  {
    name: 'an evaluation of the training batch',
    breaks: ['monitor/evaluation-is-its-own'],
    kinds: ['sft', 'pretraining'],
    strengths: [2, 4, 8, 100],
    strengthName: '# evaluations',
    onset: 'start',
    plant: ({ run, strength }) => {
      const { loss } = run.columns;
      if (loss === undefined) return undefined;
      return {
        eval_loss: fresh(run, (row) =>
          row % EVERY === EVERY - 1 && row < strength * EVERY ? loss[row] : undefined,
        ),
      };
    },
  },
  {
    name: 'a loss on pairs that is added up over batches',
    breaks: ['monitor/preference-loss-begins-at-log-2'],
    kinds: ['dpo'],
    strengths: [2, 4, 8, 64],
    strengthName: '# batches',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, { loss: changed(run.columns.loss, 0, (value) => value * strength) }),
    says: ({ strength }) => ({ declared: { gradient_accumulation_steps: strength } }),
  },
  {
    name: 'a critic whose targets run away',
    breaks: ['monitor/value-loss-explodes'],
    kinds: ['ppo'],
    strengths: [1.01, 1.1, 1.5, 4],
    strengthName: '# times at each row',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        value_loss: changed(run.columns.value_loss, onset, (value, since) =>
          Math.min(1e9, value * strength ** since),
        ),
      }),
  },
  {
    name: 'a loss scale that is halved at each row',
    breaks: ['monitor/loss-scale-lives'],
    kinds: ['half precision'],
    strengths: [10, 20, 30, 60],
    strengthName: '# times',
    onset: 'start',
    plant: ({ run, strength }) => ({
      loss_scale: fresh(run, (row) => 2 ** (16 - Math.min(strength, Math.max(0, row - BEFORE_ANYTHING)))),
    }),
  },
  {
    name: 'one half of the batch that is read for both answers',
    breaks: ['monitor/chosen-is-not-rejected'],
    kinds: ['dpo'],
    strengths: [1],
    strengthName: '# of the rows',
    onset: 'later',
    plant: ({ run, onset }) => {
      const chosen = run.columns['logps/chosen'];
      return only(run, {
        'logps/rejected': changed(
          run.columns['logps/rejected'],
          onset,
          (_value, since) => chosen?.[onset + since],
        ),
      });
    },
  },
  {
    name: 'a distance of the policy to itself beside clipped tokens',
    breaks: ['monitor/clipped-tokens-have-moved'],
    kinds: ['ppo'],
    strengths: [0.02, 0.05, 0.1, 0.3],
    strengthName: '# of the tokens clipped',
    onset: 'start',
    plant: ({ run, strength, by }) => ({
      approx_kl: fresh(run, () => 0),
      clip_fraction: fresh(run, () => Math.min(1, strength * by.heavy(1.5, 0.1))),
    }),
  },
];

/** Rows from one evaluation to the next. */
const EVERY = 5;
