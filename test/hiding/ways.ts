// The ways in which test/trainers/hiding.py hides its bug, and which of them cannot be detected.

export interface Way {
  /** Why the run passes; docs/hostile.md has the same sentence. */
  readonly unseen?: string;
  /** It is an error of the trainer. Every other way stays within the protocol: an error there is a defect of hiding.py. */
  readonly errs?: true;
  /** It waits for ever: `--op-timeout`, in seconds. */
  readonly deadline?: number;
}

export const WAYS: Readonly<Record<string, Way>> = {
  'hides nothing': {},
  'refuses what shows it': {},
  'skips what shows it': {},
  'raises where it shows': { errs: true },
  'exits where it shows': { errs: true },
  'sleeps where it shows': { errs: true, deadline: 3 },
  'refuses what shows it, and eleven of twelve others': {},
  'refuses everything': {},
  'refuses what has two rows': {},
  'answers 0': {},
  'answers NaN': { errs: true },
  'answers what it answered first': { errs: true },
  'answers nothing': { errs: true },
  'says that it computes in half precision': {},
  'says that it takes four tokens': {},
  'says that it writes into its arguments': {},
  'has the name of an adapter with known failures': {},
  'declares nothing': {},
  'prints that all holds': {},
  'deletes what is kept': {},
  'is wrong from the 200th request on': {},
  'is wrong once in ten requests': {},
  'is wrong once in ten thousand requests': {
    unseen: 'a run sends each op a few hundred to a few thousand requests; raise `--cases` to send more',
  },
  'is wrong above 12 columns': {},
  'is wrong above 4,096 columns': {
    unseen: 'the longest generated rows have about 2,000 tokens',
  },
  'is wrong above 6 rows': {},
  'is wrong above 512 rows': { unseen: 'the largest generated batch has 65 rows' },
  'is right where lossproof asks': {
    unseen: 'a trainer can detect the harness; `lossproof trace` shows what it does in training',
  },
};

/** The mutants that hide, each with one wrong op. */
export const WRONG = ['MSK-04-mask-shifted-left', 'MSK-02-loss-ignores-the-mask'] as const;
