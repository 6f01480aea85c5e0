// Faults of losses beside others: evaluations, perplexities, metrics, parts of a sum, and pairs.
import type { Kind } from '../healthy.ts';
import { numbersOf } from '../simulation.ts';
import { changed, type Fault, fresh, only } from './fault.ts';

const TUNES: readonly Kind[] = ['sft', 'sft, several epochs', 'pretraining'];

export const PART_FAULTS: readonly Fault[] = [
  {
    name: 'evaluations NaN',
    breaks: ['monitor/finite-evaluations'],
    kinds: TUNES,
    strengths: [0.1, 0.3, 0.6, 1],
    strengthName: '# of the evaluations',
    onset: 'later',
    plant: ({ run, onset, strength, by }) =>
      only(run, {
        eval_loss: changed(run.columns.eval_loss, onset, (value) =>
          by.uniform() < strength ? Number.NaN : value,
        ),
      }),
  },
  {
    name: 'metric NaN',
    breaks: ['monitor/finite-metrics'],
    kinds: TUNES,
    strengths: [0.02, 0.1, 0.5, 1],
    strengthName: '# of the rows',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => ({
      my_metric: fresh(run, (row) => (row >= onset && by.uniform() < strength ? Number.NaN : 1 + row / 100)),
    }),
  },
  {
    name: 'a loss that is 0 with samples',
    breaks: ['monitor/idle-loss'],
    kinds: ['world model'],
    strengths: [1, 3, 10, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        sft_loss: changed(run.columns.sft_loss, onset, (value, since) => (since < strength ? 0 : value)),
      }),
  },
  {
    name: 'a loss that is no longer logged',
    breaks: ['monitor/loss-stays'],
    kinds: ['rl and sft'],
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) => ({
      sft_loss: changed(run.columns.sft_loss, onset, (value, since) =>
        since < strength ? undefined : value,
      ),
    }),
  },
  {
    name: 'an expected loss is missing',
    breaks: ['monitor/expected-losses'],
    kinds: ['rl and sft'],
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'start',
    plant: ({ run, strength }) => ({
      sft_loss: changed(run.columns.sft_loss, 0, (value, since) => (since < strength ? undefined : value)),
    }),
    says: () => ({ settings: { expect: 'sft_loss' } }),
  },
  {
    name: 'samples of a loss that is missing',
    breaks: ['monitor/counted-losses'],
    kinds: ['world model'],
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'start',
    plant: ({ run, strength }) => ({
      sft_loss: changed(run.columns.sft_loss, 0, (value, since) => (since < strength ? undefined : value)),
    }),
  },
  {
    name: 'a supervised loss below 0',
    breaks: ['monitor/supervised-loss-not-negative'],
    kinds: ['rl and sft', 'sft'],
    strengths: [0.01, 0.1, 0.5, 1],
    strengthName: '# of the rows',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => {
      const turned = (value: number): number => (by.uniform() < strength ? -value : value);
      const column = run.columns.sft_loss === undefined ? 'loss' : 'sft_loss';
      return { [column]: changed(run.columns[column], onset, turned) };
    },
  },
  {
    name: 'a loss summed over micro-batches',
    breaks: ['monitor/loss-scale-beside-evaluation'],
    kinds: TUNES,
    strengths: [2, 4, 8, 16],
    strengthName: '# of them',
    onset: 'start',
    plant: ({ run, strength }) =>
      run.columns.eval_loss === undefined
        ? undefined
        : only(run, { loss: changed(run.columns.loss, 0, (value) => value * strength) }),
    says: ({ strength }) => ({ declared: { gradient_accumulation_steps: strength } }),
  },
  {
    name: 'a loss beside its perplexity',
    breaks: ['monitor/perplexity-fits-loss'],
    kinds: TUNES,
    strengths: [1.2, 2, 4, 8],
    strengthName: 'divided by #',
    onset: 'start',
    plant: ({ run, strength }) => ({
      loss: changed(run.columns.loss, 0, (value) => value / strength),
      perplexity: (run.columns.loss ?? []).map((value) => (value === undefined ? value : Math.exp(value))),
    }),
  },
  {
    name: 'a KL that is subtracted from the loss',
    breaks: ['monitor/loss-adds-up'],
    kinds: ['grpo', 'grpo, dense'],
    strengths: [0.01, 0.1, 0.3, 1],
    strengthName: 'with the weight #',
    onset: 'start',
    plant: ({ run, strength, by }) => {
      if (!/^(train\/)?loss$/.test(run.naming('loss'))) return undefined;
      const policy = fresh(run, () => 0.02 * by.normal());
      const kl = fresh(run, () => by.heavy(0.2, 0.3));
      const loss = policy.map((value = 0, row) => value - strength * (kl[row] ?? 0));
      return { loss, pg_loss: policy, kl_loss: kl };
    },
    says: ({ strength }) => ({ declared: { kl_coef: strength } }),
  },
  {
    name: 'spikes of the loss',
    breaks: ['monitor/loss-spikes'],
    kinds: TUNES,
    strengths: [1.2, 2, 5, 20],
    strengthName: 'every tenth row # times',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        loss: changed(run.columns.loss, onset, (value, since) =>
          since % 10 === 5 ? value * strength : value,
        ),
      }),
  },
  {
    name: 'one source is given up for another',
    breaks: ['monitor/losses-part'],
    kinds: TUNES,
    strengths: [1.1, 1.4, 2, 4],
    strengthName: 'its loss rises to # times',
    onset: 'start',
    plant: ({ run, strength, by }) => {
      const { rows } = run.plan;
      return {
        code_loss: fresh(run, (row) => (2 - (1.3 * row) / rows) * by.heavy(1, 0.03)),
        chat_loss: fresh(run, (row) => 1.5 * strength ** (row / rows) * by.heavy(1, 0.03)),
      };
    },
  },
  {
    name: 'pairs that are swapped',
    breaks: ['monitor/preferences-are-learnt'],
    kinds: ['dpo'],
    strengths: [0.2, 0.5, 0.8, 1],
    strengthName: '# of them',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, {
        'rewards/accuracies': changed(
          run.columns['rewards/accuracies'],
          0,
          (value) => value + strength * (1 - 2 * value),
        ),
        'rewards/margins': changed(run.columns['rewards/margins'], 0, (value) => value * (1 - 2 * strength)),
      }),
  },
  {
    name: 'the last checkpoint is called the best',
    breaks: ['monitor/best-checkpoint'],
    kinds: TUNES,
    strengths: [1.01, 1.1, 1.5, 3],
    strengthName: 'its evaluation rises to # times',
    onset: 'start',
    plant: ({ run, strength }) => {
      const last = lastEvaluation(run.columns.eval_loss);
      return last === undefined ? undefined : { eval_loss: worse(run.columns.eval_loss, last, strength) };
    },
    says: ({ run, strength }) => {
      const last = lastEvaluation(run.columns.eval_loss) ?? 0;
      const best = numbersOf(worse(run.columns.eval_loss, last, strength)).at(-1) ?? 0;
      return {
        declared: { best_metric: best, best_global_step: run.plan.steps[last] ?? 0, save_steps: 1 },
      };
    },
  },
];

// --- helpers ---

type Values = readonly (number | undefined)[] | undefined;

/** Its row, if others are before it. */
function lastEvaluation(values: Values): number | undefined {
  const rows = (values ?? []).flatMap((value, row) => (value === undefined ? [] : [row]));
  return rows.length < 2 ? undefined : rows.at(-1);
}

const worse = (values: Values, last: number, strength: number): (number | undefined)[] =>
  (values ?? []).map((value, row) => (row === last && value !== undefined ? value * strength : value));
