// Faults that rollouts show: what a policy does to its KL, entropy, rewards and lengths when it goes wrong.
import type { Kind } from '../healthy.ts';
import { numbersOf } from '../simulation.ts';
import { changed, type Fault, only, towards } from './fault.ts';

const GROUPS: readonly Kind[] = ['grpo', 'grpo, dense', 'grpo, sparse'];
const REWARDED: readonly Kind[] = ['grpo', 'grpo, dense', 'ppo'];

/** A column that changes its level by a factor, and stays. */
const level = (
  name: string,
  column: string,
  kinds: readonly Kind[],
  strengths: readonly number[],
  strengthName: string,
  rows: number,
  breaks: readonly string[],
): Fault => ({
  name,
  breaks: breaks.map((rule) => `monitor/${rule}`),
  kinds,
  strengths,
  strengthName,
  onset: 'later',
  plant: ({ run, onset, strength }) =>
    only(run, {
      [column]: changed(
        run.columns[column],
        onset,
        (value, since) => value * strength ** towards(since, rows),
      ),
    }),
});

export const POLICY_FAULTS: readonly Fault[] = [
  level('KL jumps and stays', 'kl', REWARDED, [3, 10, 30, 100], 'KL times #', 0.2, ['kl-spike', 'kl-size']),
  level('KL grows', 'kl', REWARDED, [3, 10, 100, 1000], 'KL times # by and by', 15, ['kl-runs-away']),
  level('entropy collapses', 'entropy', REWARDED, [0.5, 0.2, 0.05, 0.01], 'entropy times #', 4, [
    'entropy-collapse',
  ]),
  level('entropy explodes', 'entropy', REWARDED, [2, 4, 8, 16], 'entropy times #', 6, ['entropy-explodes']),
  level('approx_kl grows', 'approx_kl', ['ppo'], [3, 10, 100, 1000], 'approx_kl times #', 8, [
    'kl-runs-away',
  ]),
  level('value loss explodes', 'value_loss', ['ppo'], [10, 100, 1e3, 1e4], 'value loss times #', 3, []),
  level('lengths collapse', 'length', REWARDED, [0.5, 0.2, 0.05, 0.01], 'length times #', 3, [
    'length-spike',
    'length-stuck-at-one',
  ]),
  level('tool use vanishes', 'tools', ['grpo, tools'], [0.5, 0.2, 0.02, 0], 'tool calls times #', 3, [
    'tool-calls-vanish',
  ]),
  {
    name: 'lengths explode',
    breaks: ['monitor/length-spike'],
    kinds: REWARDED,
    strengths: [2, 4, 8, 16],
    strengthName: 'length times #',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => {
      const more = (since: number): number => strength ** towards(since, 4);
      return only(run, {
        length: changed(run.columns.length, onset, (value, since) => value * more(since)),
        length_max: changed(run.columns.length_max, onset, (value, since) => value * more(since)),
        truncated: changed(run.columns.truncated, onset, (value, since) =>
          Math.min(1, value + (1 - 1 / more(since)) * by.heavy(0.7, 0.1)),
        ),
      });
    },
  },
  {
    name: 'completions run into the limit',
    breaks: ['monitor/truncated-share'],
    kinds: REWARDED,
    strengths: [0.5, 0.8, 0.95, 0.995],
    strengthName: '# of them',
    onset: 'later',
    plant: ({ run, onset, strength, by }) =>
      only(run, {
        truncated: changed(run.columns.truncated, onset, (value, since) => {
          const share = value + Math.max(0, strength - value) * towards(since, 1);
          return Math.max(0, Math.min(1, share + (1 - strength) * 0.2 * by.normal()));
        }),
      }),
  },
  {
    name: 'reward falls and stays',
    breaks: ['monitor/reward-falls'],
    kinds: REWARDED,
    strengths: [2, 4, 8, 16],
    strengthName: 'by # deviations from step to step',
    onset: 'later',
    plant: ({ run, onset, strength }) => {
      const values = numbersOf(run.columns.reward);
      const fall = strength * deviationOf(values);
      const floor =
        (run.columns.dead === undefined ? Number.NEGATIVE_INFINITY : Math.min(...values)) - fall / 2;
      return only(run, {
        reward: changed(run.columns.reward, onset, (value, since) =>
          Math.max(floor, value - fall * towards(since, 3)),
        ),
      });
    },
  },
  {
    name: 'reward stuck at its floor',
    breaks: ['monitor/rewards-differ', 'monitor/reward-falls'],
    kinds: GROUPS,
    strengths: [0.5, 0.8, 0.95, 1],
    strengthName: '# of the groups',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => {
      const floor = Math.min(0, ...numbersOf(run.columns.reward));
      const left = (): number => (strength === 1 ? 0 : (1 - strength) * by.heavy(1, 0.3));
      return only(run, {
        reward: changed(run.columns.reward, onset, (value) => floor + (value - floor) * left()),
        reward_std: changed(run.columns.reward_std, onset, (value) => value * left()),
        dead: changed(run.columns.dead, onset, (value) =>
          strength === 1 ? 1 : Math.max(value, Math.min(1, 1 - left())),
        ),
        grad_norm: changed(run.columns.grad_norm, onset, (value) => value * left()),
      });
    },
  },
  {
    name: 'reward constant, its deviation not logged',
    breaks: ['monitor/rewards-differ'],
    kinds: ['ppo'],
    strengths: [3, 5, 10, 1000],
    strengthName: '# rows',
    onset: 'later',
    plant: ({ run, onset, strength }) =>
      only(run, {
        reward: changed(run.columns.reward, onset, (value, since) => (since < strength ? 0 : value)),
      }),
  },
  {
    name: 'reward 0 from the first step',
    breaks: ['monitor/rewards-differ'],
    kinds: ['grpo'],
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'start',
    plant: ({ run, strength }) => {
      const none = (value: number, since: number): number => (since < strength ? 0 : value);
      return only(run, {
        reward: changed(run.columns.reward, 0, none),
        reward_std: changed(run.columns.reward_std, 0, none),
        dead: changed(run.columns.dead, 0, (value, since) => (since < strength ? 1 : value)),
        grad_norm: changed(run.columns.grad_norm, 0, none),
        loss: changed(run.columns.loss, 0, none),
      });
    },
  },
  {
    name: 'tokens are clipped',
    breaks: ['monitor/clip-fraction'],
    kinds: ['ppo', 'grpo'],
    strengths: [0.2, 0.4, 0.7, 0.95],
    strengthName: '# of them',
    onset: 'later',
    plant: ({ run, onset, strength, by }) =>
      only(run, {
        clip_fraction: changed(run.columns.clip_fraction, onset, (value, since) =>
          Math.min(1, value + (strength - value) * towards(since, 2) * by.heavy(1, 0.05)),
        ),
      }),
  },
];

// --- helpers ---

/** From step to step, which a slow rise leaves alone. */
function deviationOf(values: readonly number[]): number {
  const squares = values.slice(1).map((value, at) => (value - (values[at] ?? value)) ** 2);
  return Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / Math.max(1, squares.length) / 2);
}
