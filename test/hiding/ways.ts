// The ways in which test/trainers/hiding.py hides what it does wrong, and which of them nobody can see from outside.

export interface Way {
  /** Why nothing is found, as docs/hostile.md says it. */
  readonly unseen?: string;
  /** It waits for ever: the run is told to give up after so many seconds. */
  readonly deadline?: number;
}

export const WAYS: Readonly<Record<string, Way>> = {
  'hides nothing': {},
  'refuses what shows it': {},
  'skips what shows it': {},
  'raises where it shows': {},
  'exits where it shows': {},
  'sleeps where it shows': { deadline: 3 },
  'refuses what shows it, and eleven of twelve others': {},
  'refuses everything': {},
  'refuses what has two rows': {},
  'answers 0': {},
  'answers NaN': {},
  'answers what it answered first': {},
  'answers nothing': {},
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
    unseen: 'a run asks each op some hundred or thousand requests; `--cases` asks more',
  },
  'is wrong above 12 columns': {},
  'is wrong above 4,096 columns': {
    unseen: 'the longest rows have some 2,000 tokens',
  },
  'is wrong above 6 rows': {},
  'is wrong above 512 rows': { unseen: 'the largest batch has 65 rows' },
  'is right where lossproof asks': {
    unseen: 'a trainer can know who asks; what it does in training is seen by `lossproof trace` alone',
  },
};

/** What is wrong behind them: the mutant of one op each. */
export const WRONG = ['MSK-04-mask-shifted-left', 'MSK-02-loss-ignores-the-mask'] as const;
