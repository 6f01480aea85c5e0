import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Seven projects: the harness itself, the properties as a user's `npm test` runs them, the long proofs of the properties by
// mutants and by correct trainers, the pages in a real Chromium, the shader on an adapter, TensorFlow (set up by
// `npm run setup:tfjs`), and the suites that need torch (set up by `npm run setup:trainers`).
const LONG = 'test/**/*.long.test.ts';

/**
 * Files of one worker share what they import: nothing of ours keeps state in a module, and loading it anew for each of two
 * hundred files takes longer than the tests. Processes and folders are each test's own.
 */
const SHARED = { isolate: false } as const;

/** Of `expect.poll`: of use only where what is waited for never comes, as the deadlines of tests below. Its usual second is short on a busy machine. */
const PATIENT = { expect: { poll: { timeout: 60_000 } } } as const;

export default defineConfig({
  test: {
    // Two more than there are cores: much of the time a test waits for a process, or for a deadline to pass.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        test: {
          ...SHARED,
          ...PATIENT,
          name: 'harness',
          include: ['test/**/*.test.ts'],
          exclude: ['test/torch/**', 'test/browser/**', 'test/gpu/**', 'test/tfjs/**', LONG],
          setupFiles: ['test/seed.ts'],
          // Of use only against a hang: on a busy machine, what takes seconds takes minutes.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      { test: { name: 'properties', include: ['properties/**/*.test.ts'], testTimeout: 120_000 } },
      {
        test: {
          ...PATIENT,
          name: 'mutation',
          include: [LONG],
          setupFiles: ['test/seed.ts'],
          testTimeout: 180_000,
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'gpu', include: ['test/gpu/**/*.test.ts'], testTimeout: 180_000 } },
      { test: { name: 'tfjs', include: ['test/tfjs/**/*.test.ts'], testTimeout: 180_000 } },
      {
        test: {
          ...PATIENT,
          name: 'trainers',
          include: ['test/torch/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Importing torch and driving a trainer one request at a time leave a core idle; those that trace many scripts run
          // several at once themselves.
          maxWorkers: 2,
        },
      },
    ],
  },
});
