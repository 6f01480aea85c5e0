// What makes logs rough: batches that differ, tails, single spikes that come back, drifts.
import { type Dice, make } from '../rules/logs.ts';

/** Gradient norms: log-normal around a level that changes slowly, with single spikes that clipping takes away from the weights. */
export function norms(by: Dice, count: number, level: (row: number) => number): number[] {
  const sigma = by.pick([0.1, 0.2, 0.3, 0.5, 0.8]);
  const spikes = by.pick([0, 0, 0, 0.001, 0.003, 0.006]);
  const most = by.pick([3, 10, 50]);
  return make(count, (row) => {
    const usual = by.heavy(Math.max(level(row), 1e-9), sigma);
    return by.uniform() < spikes ? usual * (1 + (most - 1) * by.uniform()) : usual;
  });
}

/** Factors of a loss: 1, but for a few isolated spikes that come back within some rows. */
export function lossSpikes(by: Dice, count: number): number[] {
  const factors = make(count, () => 1);
  const spikes = by.uniform() < 0.12 ? by.whole(1, 3) : 0;
  for (let each = 0; each < spikes; each++) {
    // Each is over before the log ends: of one that is not, nobody can say that it comes back.
    if (count < 20) break;
    const at = by.whole(5, count - 10);
    const height = by.pick([0.2, 0.5, 1, 2]) * by.uniform();
    const long = by.pick([0.5, 1, 2]);
    for (let row = at; row < Math.min(count, at + 8); row++)
      factors[row] = (factors[row] ?? 1) * (1 + height * Math.exp(-(row - at) / long));
  }
  return factors;
}

/** A slow walk of factors around 1: what batches that resemble their neighbours, and an order of the data, do. */
export function wander(by: Dice, count: number, size: number, memory: number): number[] {
  const keep = Math.exp(-1 / Math.max(memory, 1e-9));
  let state = by.normal();
  return make(count, () => {
    state = keep * state + Math.sqrt(1 - keep * keep) * by.normal();
    return Math.exp(size * state);
  });
}

/** Seconds a step, the first ones slow; some steps wait for an evaluation, a checkpoint or another job. */
export function stepTimes(by: Dice, count: number, level = 10 ** (2 * by.uniform() - 1)): number[] {
  const sigma = by.pick([0.01, 0.05, 0.2]);
  const pause = by.pick([0, 0, 10, 50]);
  const slow = by.pick([1, 2, 10]);
  return make(count, (row) => {
    const paused = pause > 0 && row % pause === pause - 1 ? by.pick([1.5, 3, 10]) : 1;
    const late = by.uniform() < 0.005 ? by.pick([2, 5, 20]) : 1;
    return by.heavy(level, sigma) * (row === 0 ? slow : 1) * paused * late;
  });
}

/** A share of 0 to 1, of as many draws as a batch has. */
export function shareOf(by: Dice, chance: number, draws: number): number {
  const p = Math.min(1, Math.max(0, chance));
  if (draws > 40) {
    const drawn = p * draws + Math.sqrt(draws * p * (1 - p)) * by.normal();
    return Math.min(draws, Math.max(0, Math.round(drawn))) / draws;
  }
  let hits = 0;
  for (let each = 0; each < draws; each++) if (by.uniform() < p) hits++;
  return hits / draws;
}
