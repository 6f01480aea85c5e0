// When a loss of a frequency is due. It says no word of the order within an iteration.

/** Both count from 0: a loss of frequency f is due at iterations 0, f, 2f, ..., or at f - 1, 2f - 1, .... */
export type Phase = 'first' | 'last';
export const PHASES: readonly Phase[] = ['first', 'last'];

/** Of each iteration the losses that are due, in the order in which they are given. */
export function dueLosses(
  iterations: number,
  losses: readonly string[],
  frequencies: Readonly<Record<string, number>>,
  phase: Phase,
): string[][] {
  const ahead = phase === 'first' ? 0 : 1;
  return Array.from({ length: iterations }, (_, i) =>
    losses.filter((loss) => (i + ahead) % (frequencies[loss] ?? 1) === 0),
  );
}
