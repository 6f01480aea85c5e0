// The noise of single values, from the differences of values 1, 2, 4, 8 and 16 apart: the largest of 1.4826 MAD / sqrt(2).
// A trend moves the median of such differences and not their spread; and values that resemble their neighbours (smoothed
// logs, micro-batches of one step, batches in an order) differ from those further away, so that neighbours alone would say
// too little. The lag at which they are as different as any is how many points tell as much as one.
import { median } from '../../../src/index.ts';

const LAGS = [1, 2, 4, 8, 16] as const;
/** Of the largest difference: less is alike. */
const ALIKE = 0.6;

export interface Noise {
  readonly deviation: number;
  /** Points that tell as much as one. */
  readonly alike: number;
}

/** Of lags up to `most`: what rises makes long ones differ. */
export function noiseOver(values: readonly number[], most = 16): Noise {
  const noises = LAGS.filter((lag) => lag <= most && values.length >= 2 * lag + 2).map((lag) => {
    const differences = values.slice(lag).map((value, at) => value - (values[at] as number));
    const middle = median(differences);
    const away = differences.map((each) => Math.abs(each - middle));
    return { lag, deviation: (NORMAL * median(away)) / Math.SQRT2 };
  });
  const deviation = Math.max(0, ...noises.map((each) => each.deviation));
  return { deviation, alike: noises.find((each) => each.deviation >= ALIKE * deviation)?.lag ?? 1 };
}

/** 1 / Phi^-1(3/4). */
const NORMAL = 1.4826;
