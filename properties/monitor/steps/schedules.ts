// Learning rates by step, as transformers' schedulers compute them (transformers.optimization, get_*_schedule): a factor
// of the peak.

export interface Schedule {
  readonly kind: string;
  readonly peak: number;
  readonly warmup: number;
  /** Steps in all; needed by those that decay. */
  readonly steps: number;
  readonly cycles?: number | undefined;
  readonly power?: number | undefined;
  readonly end?: number | undefined;
  /** At which a decay ends, as declared. */
  readonly floor?: number | undefined;
  /** It stays at its end; others go on, and a cosine rises again. */
  readonly stays?: boolean;
}

/** Of these, those that need no number of steps. */
export const ENDLESS: readonly string[] = ['constant', 'constant_with_warmup', 'inverse_sqrt'];
/** Those that end at a floor, which may be 0. */
export const DECAYS: readonly string[] = ['linear', 'cosine', 'cosine_with_restarts', 'polynomial'];
export const KNOWN: readonly string[] = [...ENDLESS, ...DECAYS];

/** The learning rate after `step` optimiser steps. */
export function rateAt(schedule: Schedule, step: number): number {
  const { kind, peak, warmup } = schedule;
  if (kind !== 'constant' && step < warmup) return (peak * step) / Math.max(1, warmup);
  return peak * factorAt(schedule, schedule.stays === true ? Math.min(step, schedule.steps) : step);
}

function factorAt({ kind, peak, warmup, steps, cycles, power, end = 1e-7 }: Schedule, step: number): number {
  const progress = (step - warmup) / Math.max(1, steps - warmup);
  switch (kind) {
    case 'linear':
      return Math.max(0, (steps - step) / Math.max(1, steps - warmup));
    case 'cosine':
      return Math.max(0, 0.5 * (1 + Math.cos(Math.PI * (cycles ?? 0.5) * 2 * progress)));
    case 'cosine_with_restarts':
      return progress >= 1
        ? 0
        : Math.max(0, 0.5 * (1 + Math.cos(Math.PI * (((cycles ?? 1) * progress) % 1))));
    case 'polynomial': {
      if (step > steps) return end / peak;
      const left = 1 - (step - warmup) / (steps - warmup);
      return ((peak - end) * left ** (power ?? 1) + end) / peak;
    }
    case 'inverse_sqrt': {
      const scale = warmup > 0 ? warmup : 10_000;
      return 1 / Math.sqrt((step + scale - warmup) / scale);
    }
    default:
      return 1;
  }
}
