// Single cases by which a property once blamed a correct trainer, found by long runs of `npm run seeds -- correct`. Such a
// case is one in ten thousand and more, so that no short run would find the fault again: each is asked here, always.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { conventions, judge, measured } from '../../scripts/correct.ts';

const CASES: readonly {
  readonly property: string;
  readonly convention: string;
  readonly why: string;
  readonly given: unknown;
}[] = [
  {
    property: 'score/looks-only-back',
    convention: 'bfloat16-undeclared',
    why: 'both ids put in place of the only token round to its score',
    given: { prompts: [[323, 17, 857]], completions: [[289]], pad: 863, stops: [857, 863] },
  },
  {
    property: 'loss/equals-the-declared-formula',
    convention: 'ratio-corrected',
    why: 'the ratio multiplies k3, so that a slope by differences errs by three times its bend',
    given: {
      rows: [
        {
          prompt: 1,
          tokens: [{ logprob: -0.015625, old: -1.171875, ref: -0.015625 }],
          advantage: 0.25,
          part: 0,
        },
      ],
    },
  },
];

test.each(CASES)(
  '$property leaves $convention in peace where $why',
  async ({ property: id, convention, given }) => {
    const property = properties.find((each) => each.id === id);
    const correct = conventions().find(({ name }) => name === convention);
    if (property === undefined || correct === undefined) throw new Error(`no ${id}, or no ${convention}`);
    const opened = await correct.open();
    try {
      const semantics = await measured(opened);
      const { coverage: _, ...rest } = property;
      const pinned = { ...rest, given: () => fc.constant(given) };
      const [result] = await judge(opened, semantics, { properties: [pinned], seed: 1, cases: 1 });
      expect(result).toMatchObject({ id, verdict: 'pass' });
    } finally {
      await opened.trainer.stop();
    }
  },
);
