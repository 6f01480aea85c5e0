// Factors between the learning rate that a run declares and the one that it has: which of them somebody may have meant.
import type { RuleWorld } from '../../../src/index.ts';
import { declaredNumber } from '../world.ts';

/** What transformers and TRL take where nobody says a rate: such a declaration says nothing. */
export const DEFAULT_RATES: readonly number[] = [5e-5, 2e-5, 1e-6, 3e-6];

/** As launchers and trainers call the number of devices. */
const DEVICES = [
  'world_size',
  'num_processes',
  'n_gpus',
  'num_gpus',
  'n_gpu',
  'num_devices',
  'nproc_per_node',
  'data_parallel_size',
  'trainer.n_gpus_per_node',
  'trainer.devices',
] as const;

/** Above it, and below the factors of scaled batches, there are none. */
const BY_A_SLIP = 1.4;
/** Below it rates are those of a layer. */
const OF_A_LAYER = 0.7;
const NEAR = 0.02;

export function mayBeMeant(world: RuleWorld, factor: number, declared: number): boolean {
  if (factor < OF_A_LAYER) return true;
  if (factor < BY_A_SLIP) return false;
  if (DEFAULT_RATES.includes(declared)) return true;
  const devices = DEVICES.flatMap((name) => declaredNumber(world, name) ?? []);
  return [...devices, ...devices.map(Math.sqrt)].some((each) => isNear(factor, each)) || isScaling(factor);
}

/** 2^n, 3 * 2^n, and the square roots of these: batches and devices come in such numbers, and rates are scaled by them or their roots. */
export function isScaling(factor: number): boolean {
  return [factor, factor ** 2].some((each, power) =>
    [1, 3].some((odd) => {
      const exponent = Math.log2(each / odd);
      return Math.abs(exponent - Math.round(exponent)) * Math.LN2 < NEAR * (power + 1);
    }),
  );
}

const isNear = (factor: number, other: number): boolean => Math.abs(factor / other - 1) < NEAR;
