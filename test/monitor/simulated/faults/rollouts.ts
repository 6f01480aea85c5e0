// Faults of rollouts and of the update on them: groups without a spread, ratios, lengths that cannot be, and critics.
import type { Kind } from '../healthy.ts';
import { numbersOf } from '../simulation.ts';
import { changed, type Fault, fresh, only } from './fault.ts';

const GROUPS: readonly Kind[] = ['grpo', 'grpo, dense'];
const REWARDED: readonly Kind[] = ['grpo', 'grpo, dense', 'ppo'];

export const ROLLOUT_FAULTS: readonly Fault[] = [
  {
    name: 'nearly all groups without a spread',
    breaks: ['monitor/groups-alive'],
    kinds: GROUPS,
    strengths: [0.6, 0.9, 0.97, 0.995],
    strengthName: '# of them',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, { dead: changed(run.columns.dead, 0, (value) => Math.max(value, strength)) }),
  },
  {
    name: 'a first ratio that is not 1',
    breaks: ['monitor/first-ratio-is-one'],
    kinds: REWARDED,
    strengths: [1e-4, 0.01, 0.1, 0.5],
    strengthName: 'by #',
    onset: 'start',
    plant: ({ run, strength }) => ({ ratio_mean: fresh(run, () => 1 + strength) }),
    says: () => ({ settings: { on_policy: true } }),
  },
  {
    name: 'a ratio of other rows',
    breaks: ['monitor/mean-ratio'],
    kinds: REWARDED,
    strengths: [1.05, 1.3, 2, 4],
    strengthName: '#',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => ({
      ratio_mean: fresh(run, (row) => (row < onset ? 1 : strength) + 0.003 * by.normal()),
    }),
  },
  {
    name: 'an engine that samples otherwise',
    breaks: ['monitor/sampling-gap'],
    kinds: GROUPS,
    strengths: [0.03, 0.1, 0.3, 0.9],
    strengthName: '# nats apart',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        sampling_gap: changed(run.columns.sampling_gap, onset, (value) => Math.max(value, strength)),
      }),
  },
  {
    name: 'advantages without a baseline',
    breaks: ['monitor/advantages-centred'],
    kinds: GROUPS,
    strengths: [0.1, 0.5, 1, 2],
    strengthName: '# on average',
    onset: 'start',
    plant: ({ run, strength, by }) => ({
      'advantages/mean': fresh(run, () => strength * by.heavy(1, 0.05)),
      'advantages/std': fresh(run, () => 0.5),
    }),
  },
  {
    name: 'a policy loss that becomes 0',
    breaks: ['monitor/policy-loss-stays-zero'],
    kinds: GROUPS,
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, { loss: changed(run.columns.loss, onset, (value, since) => (since < strength ? 0 : value)) }),
  },
  {
    name: 'a critic that explains nothing',
    breaks: ['monitor/critic-explains-returns'],
    kinds: ['ppo'],
    strengths: [0.05, 0.2, 0.5, 1],
    strengthName: 'explained variance -#',
    onset: 'start',
    plant: ({ run, strength, by }) => ({
      'critic/vf_explained_var': fresh(run, () => -strength + 0.05 * by.normal()),
    }),
  },
  {
    name: 'completions that never stop',
    breaks: ['monitor/length-stuck-at-limit'],
    kinds: REWARDED,
    strengths: [0.5, 0.9, 0.99, 1],
    strengthName: '# of the limit',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        length: changed(run.columns.length, onset, () => limitOf(run.columns.length_max) * strength),
      }),
    says: ({ run }) => ({ declared: { max_completion_length: limitOf(run.columns.length_max) } }),
  },
  {
    name: 'completions above the limit',
    breaks: ['monitor/length-within-limit'],
    kinds: REWARDED,
    strengths: [1.001, 1.05, 1.5, 4],
    strengthName: '# times as long',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        length_max: changed(run.columns.length_max, onset, () => limitOf(run.columns.length_max) * strength),
      }),
    says: ({ run }) => ({ declared: { max_completion_length: limitOf(run.columns.length_max) } }),
  },
  {
    name: 'lengths out of their range',
    breaks: ['monitor/length-in-range'],
    kinds: REWARDED,
    strengths: [1.5, 3, 6, 12],
    strengthName: 'length times #',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, { length: changed(run.columns.length, onset, (value) => value * strength) }),
    says: ({ run }) => ({ settings: { low: 1, high: 2 * limitOf(run.columns.length) } }),
  },
  {
    name: 'fewer completions stop',
    breaks: ['monitor/stopped-share'],
    kinds: REWARDED,
    strengths: [0.5, 0.2, 0.05, 0],
    strengthName: '# of them',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => ({
      stop_rate: fresh(run, (row) => Math.min(1, (row < onset ? 0.8 : strength) * by.heavy(1, 0.05))),
    }),
  },
  {
    name: 'tool calls fail',
    breaks: ['monitor/tool-failures'],
    kinds: ['grpo, tools'],
    strengths: [0.5, 0.8, 0.95, 1],
    strengthName: '# of them',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        tool_failures: changed(run.columns.tool_failures, onset, (value) => Math.max(value, strength)),
      }),
  },
  {
    name: 'a hole in the reward',
    breaks: ['monitor/reward-spike'],
    kinds: REWARDED,
    strengths: [3, 10, 30, 100],
    strengthName: '# deviations',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const values = numbersOf(run.columns.reward);
      const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
      const deviation = Math.sqrt(
        values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, values.length - 1),
      );
      return only(run, {
        reward: changed(run.columns.reward, onset, (value, since) =>
          since < HOLE ? value + strength * deviation : value,
        ),
      });
    },
  },
];

// --- helpers ---

/** Rows in which a judge breaks. */
const HOLE = 3;

const limitOf = (values: readonly (number | undefined)[] | undefined): number =>
  Math.ceil(Math.max(1, ...numbersOf([...(values ?? [])])));
