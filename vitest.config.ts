import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Which tests run where, by the name of the file: CONTRIBUTING.md says which name a new one gets.
const SLOW = 'test/**/*.slow.test.ts';
const LONG = 'test/**/*.long.test.ts';
/** Each needs something installed: torch (`npm run setup:trainers`), Chromium, a GPU, TensorFlow (`npm run setup:tfjs`). */
const ELSEWHERE = ['test/torch/**', 'test/browser/**', 'test/gpu/**', 'test/tfjs/**'];

/** The most processes that a test file of `npm test` starts: a start of Python or Node is most of what such a test takes. */
const MOST_STARTS = 80;

/** Of use only against a hang: on a busy machine, what takes seconds takes minutes. */
const HANG = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 300_000 } } };

/** Each is a file of half a minute: begun last, it would have one core work alone. */
const FIRST = ['/properties/', '/test/mutation/'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFirst = ({ moduleId }: TestSpecification): boolean =>
      FIRST.some((part) => moduleId.includes(part));
    const sorted = await super.sort(files);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

const OURS = {
  ...HANG,
  // Files of one worker share what they import: nothing of ours keeps state in a module, and loading it anew for each of two
  // hundred files takes longer than the tests. Processes and folders are each test's own.
  isolate: false,
  // What a test consents to is not remembered for the developer.
  env: { XDG_STATE_HOME: join(tmpdir(), 'lossproof-tests') },
  globalSetup: ['test/interpreter.ts'],
  setupFiles: ['test/spent.ts', 'test/seed.ts'],
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // One per core: where a test waits, the process that it waits for has the core. vitest would leave a core free.
    maxWorkers: availableParallelism(),
    projects: [
      {
        test: {
          ...OURS,
          name: 'harness',
          include: ['test/**/*.test.ts'],
          exclude: [...ELSEWHERE, SLOW, LONG],
          provide: { mostStarts: MOST_STARTS },
        },
      },
      // As a user's `npm test` runs them.
      {
        test: {
          ...HANG,
          name: 'properties',
          include: ['properties/**/*.test.ts'],
          globalSetup: ['test/interpreter.ts'],
          setupFiles: ['test/spent.ts'],
        },
      },
      {
        test: {
          ...OURS,
          name: 'slow',
          include: [SLOW],
          exclude: ELSEWHERE,
          // Two more than there are cores: much of the time a test waits for a process, or for a deadline to pass.
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 1 },
        },
      },
      // The long proofs of the properties, by mutants and by correct trainers.
      { test: { ...OURS, isolate: true, name: 'mutation', include: [LONG] } },
      { test: { ...HANG, name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      { test: { ...HANG, name: 'gpu', include: ['test/gpu/**/*.test.ts'] } },
      { test: { ...HANG, name: 'tfjs', include: ['test/tfjs/**/*.test.ts'] } },
      {
        test: {
          ...HANG,
          name: 'trainers',
          include: ['test/torch/**/*.test.ts'],
          // Importing torch and driving a trainer one request at a time leave a core idle; those that trace many scripts run
          // several at once themselves.
          maxWorkers: 2,
        },
      },
    ],
  },
});
