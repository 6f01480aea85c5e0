// Configurations of a training loop with several losses, for op `schedule`.
import fc from 'fast-check';
import { rarely } from '../rarely.ts';

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
/** In one run of so many all losses are updated as seldom as a target is copied or a model evaluated; 49 times 1/49 is no whole number. */
const SELDOM_ONE_IN = 5;
const SELDOM = [49, 10, 25, 98, 100];
const MOST_UPDATES = 3;

/** An arbitrary configuration of these losses, in one of these modes, with a frequency for each; some are `always` enabled. */
export function scheduled(
  losses: readonly string[],
  modes: readonly Mode[],
  always: readonly string[] = [],
): fc.Arbitrary<Scheduled> {
  const ofEach = (frequency: fc.Arbitrary<number>) =>
    fc.record(Object.fromEntries(losses.map((loss) => [loss, frequency])));
  const few = fc.record({
    mode: fc.constantFrom(...modes),
    iterations: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: MAX_ITERATIONS }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: LONG_RUN }) },
    ),
    frequencies: ofEach(
      fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 1, max: MAX_FREQUENCY }) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: MAX_ITERATIONS }) },
      ),
    ),
    enabled: fc
      .shuffledSubarray([...losses], { minLength: 1 })
      .map((drawn) => [...drawn, ...always.filter((loss) => !drawn.includes(loss))]),
  });
  return fc
    .record({
      few,
      seldom: rarely(SELDOM_ONE_IN),
      frequencies: ofEach(fc.constantFrom(...SELDOM)),
      updates: fc.integer({ min: 1, max: MOST_UPDATES }),
    })
    .map(({ few: drawn, seldom, frequencies, updates }) =>
      seldom
        ? {
            ...drawn,
            frequencies,
            iterations: updates * Math.max(...Object.values(frequencies)) + drawn.iterations,
          }
        : drawn,
    );
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
