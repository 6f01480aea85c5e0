// Values that many of these logs are made of.
import { type Dice, dice, type Log, make } from '../logs.ts';

export const flat = (count: number, value: number): number[] => make(count, () => value);
export const followed = (before: readonly number[], ...after: readonly number[]): number[] => [
  ...before,
  ...after,
];

export interface Drawn {
  readonly by: Dice;
  noisy(count: number, level: number, noise?: number): number[];
  /** Group-relative losses: around 0, and sometimes exactly 0. */
  around0(count: number): number[];
  /** A loss that falls. */
  falling(count: number, from?: number): number[];
  grpo(count: number, over?: Log['series']): Log['series'];
}

/** A seed for each file: what is drawn in one does not depend on what stands in another. */
export function drawn(seed: number): Drawn {
  const by = dice(seed);
  const noisy = (count: number, level: number, noise = 0.1): number[] =>
    make(count, () => level * Math.exp(noise * by.normal()));
  const around0 = (count: number): number[] => make(count, (row) => (row % 4 === 0 ? 0 : 0.01 * by.normal()));
  return {
    by,
    noisy,
    around0,
    falling: (count, from = 3) => make(count, (row) => 0.5 + from * Math.exp(-row / 10) + 0.05 * by.normal()),
    grpo: (count, over = {}) => ({
      loss: around0(count),
      grad_norm: noisy(count, 1),
      reward: make(count, () => 0.4 + 0.1 * by.normal()),
      reward_std: noisy(count, 0.3),
      frac_reward_zero_std: flat(count, 0.25),
      ...over,
    }),
  };
}
