import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { penalize } from '../../../src/reference/index.ts';
import { penalised } from '../cases.ts';

const NEUTRAL = { prompt: [], generated: [], presence: 0, frequency: 0, repetition: 1 };

describe('penalize', () => {
  it('takes the frequency penalty for each occurrence and the presence penalty once', () => {
    const logits = penalize([1, 1, 1], { ...NEUTRAL, generated: [1, 1, 2], presence: 0.5, frequency: 0.25 });
    expect(logits).toEqual([1, 0, 0.25]);
  });

  it('leaves the first step alone for presence and frequency, whatever the prompt', () => {
    fc.assert(
      fc.property(penalised, (drawn) => {
        const first = { ...drawn, generated: [], repetition: 1 };
        expect(penalize(drawn.logits, first)).toEqual(drawn.logits);
      }),
    );
  });

  it('divides positive and multiplies negative logits, once a token, in the prompt as well', () => {
    const logits = penalize([4, -4, 0, 4], {
      ...NEUTRAL,
      prompt: [0, 1, 1],
      generated: [0, 2],
      repetition: 2,
    });
    expect(logits).toEqual([2, -8, 0, 4]);
  });

  it('applies repetition before the others, or behind them', () => {
    const [logit] = penalize([4], { ...NEUTRAL, generated: [0], repetition: 2, presence: 1 });
    expect(logit).toBe(1);
    const [behind] = penalize([4], {
      ...NEUTRAL,
      generated: [0],
      repetition: 2,
      presence: 1,
      repetitionLast: true,
    });
    expect(behind).toBe(1.5);
  });

  it('changes no bit with neutral settings and mutates nothing', () => {
    fc.assert(
      fc.property(penalised, ({ logits, prompt, generated }) => {
        const before = [...logits];
        expect(penalize(logits, { ...NEUTRAL, prompt, generated })).toEqual(before);
        expect(logits).toEqual(before);
      }),
    );
  });

  it('does not depend on the order of the tokens', () => {
    fc.assert(
      fc.property(penalised, (drawn) => {
        const reversed = {
          ...drawn,
          prompt: drawn.prompt.toReversed(),
          generated: drawn.generated.toReversed(),
        };
        expect(penalize(drawn.logits, reversed)).toEqual(penalize(drawn.logits, drawn));
      }),
    );
  });

  it('passes over ids outside the vocabulary and keeps impossible tokens impossible', () => {
    const settings = { ...NEUTRAL, generated: [0, 7], presence: 1, repetition: 2 };
    expect(penalize([-Infinity, 3], settings)).toEqual([-Infinity, 3]);
  });
});
