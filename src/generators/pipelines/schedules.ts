// Configurations of a training loop with several losses, for op `schedule`.
import fc from 'fast-check';

export type Mode = 'parallel' | 'sequential' | 'alternating';

export interface Scheduled {
  readonly mode: Mode;
  readonly iterations: number;
  /** Of every loss that the trainer has, enabled or not. */
  readonly frequencies: Readonly<Record<string, number>>;
  /** In any order. */
  readonly enabled: readonly string[];
}

const MAX_FREQUENCY = 4;
const MAX_ITERATIONS = 10;
const LONG_RUN = 40;

/** An arbitrary configuration of these losses, in one of these modes, with a frequency for each; some are `always` enabled. */
export function scheduled(
  losses: readonly string[],
  modes: readonly Mode[],
  always: readonly string[] = [],
): fc.Arbitrary<Scheduled> {
  return fc.record({
    mode: fc.constantFrom(...modes),
    iterations: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: MAX_ITERATIONS }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: LONG_RUN }) },
    ),
    frequencies: fc.record(
      Object.fromEntries(
        losses.map((loss) => [
          loss,
          fc.oneof(
            { weight: 5, arbitrary: fc.integer({ min: 1, max: MAX_FREQUENCY }) },
            { weight: 1, arbitrary: fc.integer({ min: 1, max: MAX_ITERATIONS }) },
          ),
        ]),
      ),
    ),
    enabled: fc
      .shuffledSubarray([...losses], { minLength: 1 })
      .map((drawn) => [...drawn, ...always.filter((loss) => !drawn.includes(loss))]),
  });
}

/** What a configuration exercises. */
export function scheduledLabels({ mode, iterations, frequencies, enabled }: Scheduled): string[] {
  const labels: string[] = [mode];
  const due = enabled.map((loss) => frequencies[loss] ?? 1);
  if (enabled.length > 1) labels.push('several losses');
  if (due.some((frequency) => frequency > 1)) labels.push('frequency above 1');
  if (new Set(due).size > 1) labels.push('unequal frequencies');
  if (due.every((frequency) => iterations > frequency)) labels.push('every loss is due twice');
  return labels;
}
