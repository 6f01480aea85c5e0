// Single cases by which a property once blamed a correct trainer, found by long runs of `npm run test:conformance`. Such a
// case is one in ten thousand and more, so that no short run would find the fault again: each is asked here, always.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { conventions, EXAMPLES, LEGAL, whileOpen } from './correct.ts';

const CASES: readonly {
  readonly property: string;
  readonly trainer: string;
  readonly why: string;
  readonly given: unknown;
  /** `skipped`: the case says nothing and is set aside. */
  readonly verdict: 'pass' | 'skipped';
}[] = [
  {
    property: 'score/looks-only-back',
    trainer: 'bfloat16-undeclared',
    why: 'both ids put in place of the only token round to its score',
    given: { prompts: [[502]], completions: [[458]], pad: 863, stops: [857, 863] },
    verdict: 'skipped',
  },
  {
    property: 'loss/equals-the-declared-formula',
    trainer: 'ratio-corrected',
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
    verdict: 'pass',
  },
  {
    property: 'sampling/equals-the-definition',
    trainer: 'a sampler in bfloat16',
    why: 'the nucleus ends within rounding of p, and more tokens are held back than top-k leaves out',
    given: {
      temperature: 0.75,
      topK: 5,
      topP: 0.875,
      minNewTokens: 2,
      banned: [],
      stops: [0, 5, 2],
      rows: [
        { generated: [], logits: [0, -0.5625, 0.0625, -1.4375, -0.4375, 0.125], draw: 0 },
        { generated: [], logits: [0, 1.875, 0.0625, 0.1875, 0.25, 0.3125], draw: 0 },
      ],
    },
    verdict: 'skipped',
  },
];

const trainers = [...EXAMPLES, ...conventions(), ...LEGAL];

test.each(CASES)(
  '$property leaves $trainer in peace where $why',
  async ({ property: id, trainer, given, verdict }) => {
    const property = properties.find((each) => each.id === id);
    const correct = trainers.find(({ name }) => name === trainer);
    if (property === undefined || correct === undefined) throw new Error(`no ${id}, or no ${trainer}`);
    const { coverage: _, ...rest } = property;
    const pinned = { ...rest, given: () => fc.constant(given) };
    const [result] = await whileOpen(correct, (judge) => judge([pinned], 1, 1));
    expect(result).toMatchObject({ id, verdict });
  },
);
