// Calls of clipping that were given tensors of no optimiser: in vain where they have no gradient, or are copies of its own.
import { describe, expect, test } from 'vitest';
import { holds, type judged, silent, worst } from './judged.ts';

const ID = 'update/clipping-is-of-the-whole-gradient';

const clips = (...calls: readonly object[]): Parameters<typeof judged>[1] => ({
  events: calls.map((values) => ({
    what: 'clip',
    place: 'train.py:9',
    values: {
      function: 'clip_grad_norm_',
      bound: 1,
      passes: 1,
      of_passes: 1,
      given: 4,
      of: 4,
      held: 0,
      left: 4,
      ...values,
    },
  })),
});
const WHOLE = { held: 4, left: 0, gradients: 4 };

describe('is in vain', () => {
  test('where nothing that it is given has a gradient', () => {
    expect(worst(ID, clips({ gradients: 0 })).sentence).toContain(
      'clip_grad_norm_ at train.py:9 was given 4 tensors in step 0, none of which has a gradient: it clips nothing',
    );
  });

  test('where it is given copies', () => {
    expect(worst(ID, clips({ gradients: 4, copies: true })).sentence).toContain(
      'copies of those that its optimiser holds',
    );
  });
});

describe('is right, or not known', () => {
  test('beside a call with the whole gradient', () => {
    holds(ID, clips({ gradients: 0 }, WHOLE));
    holds(ID, clips(WHOLE));
  });

  test('of what another optimiser holds, or none', () => {
    silent(
      ID,
      clips({ gradients: 2, copies: false }),
      'the optimiser of the step holds nothing of what is clipped',
    );
    silent(
      ID,
      clips({ gradients: 4, copies: true }, { gradients: 2, copies: false }),
      'the optimiser of the step holds nothing of what is clipped',
    );
  });

  test('where the optimiser holds nothing of the model with a gradient, and in older traces', () => {
    silent(ID, clips({ gradients: 0, of: 0 }), 'the optimiser of the step holds nothing of what is clipped');
    silent(ID, clips({}), 'the optimiser of the step holds nothing of what is clipped');
  });
});
