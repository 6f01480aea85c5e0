// The completion out of what the sampler emitted. Trainers differ legally in how much of the tail they keep, so
// this names every legal answer; which tokens were sampled is never in doubt.
import type { Ids } from '../../vocabulary.ts';

export const COMPLETION_VARIANTS = [
  /** Cut behind the first stop token, which stays: what most trainers train on. */
  'stop kept',
  /** Cut before the first stop token: text without its terminator. */
  'stop cut',
  /** The raw slice of C columns, padding and all: the trainer masks later. */
  'whole width',
  /** The raw slice without its trailing padding. Padding ids before or at the stop were sampled and stay. */
  'padding cut',
] as const;
export type CompletionVariantName = (typeof COMPLETION_VARIANTS)[number];

/**
 * The legal ways to return one sampled row (C,), which may carry a stop token and then padding or other ids. All four
 * names are always present; several may hold the same ids. A row without a stop token was cut off by its length:
 * every one of its ids was sampled, pad ids included, and all four are the whole row (bugs EOS-01, PAD-01).
 */
export function completionVariants(
  sampled: Ids,
  options: { readonly pad: number; readonly stops: ReadonlySet<number> },
): { name: CompletionVariantName; ids: number[] }[] {
  const stop = sampled.findIndex((id) => options.stops.has(id));
  const whole = [...sampled];
  if (stop < 0) return COMPLETION_VARIANTS.map((name) => ({ name, ids: [...whole] }));
  const lastKept = sampled.findLastIndex((id, index) => index === stop || id !== options.pad);
  return [
    { name: 'stop kept', ids: whole.slice(0, stop + 1) },
    { name: 'stop cut', ids: whole.slice(0, stop) },
    { name: 'whole width', ids: whole },
    { name: 'padding cut', ids: whole.slice(0, lastKept + 1) },
  ];
}
