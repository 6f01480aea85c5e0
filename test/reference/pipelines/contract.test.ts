import { describe, expect, it } from 'vitest';
import { expectedTraining } from '../../../src/reference/index.ts';

describe('expectedTraining', () => {
  it('counts every completion token for every enabled loss and no other', () => {
    const segments = [{ completion_ids: [1, 2, 3] }, { completion_ids: [] }, { completion_ids: [4] }];
    expect(expectedTraining(segments, ['sft', 'rft'])).toEqual({
      executed: { sft: 1, rft: 1 },
      trainedTokens: { sft: 4, rft: 4 },
    });
    expect(expectedTraining(segments, [])).toEqual({ executed: {}, trainedTokens: {} });
  });

  it('asks for nothing when there are no segments', () => {
    expect(expectedTraining([], ['sft'])).toEqual({ executed: { sft: 0 }, trainedTokens: { sft: 0 } });
  });
});
