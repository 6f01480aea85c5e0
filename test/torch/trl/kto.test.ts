// KTOTrainer through its adapter: the loss of labelled completions against numbers worked out by hand, and pairs taken apart.
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, family, HELLO, STARTING } from './ask.ts';

const QWEN = { LOSSPROOF_TOKENIZER: family('qwen') };
const PAD = 856; // <|endoftext|>
const BETA = 0.1; // TRL's default

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
// Log-ratios 1 (desirable, two tokens) and -2 (undesirable); of the KL 3 and 0, or -3 and 0.
const labelled = (kl: number) => ({
  op: 'unpaired_preference_loss',
  args: {
    logprobs: [[-1, -2], [-3]],
    ref_logprobs: [[-2, -2], [-1]],
    desirable: [1, 0],
    kl_logprobs: [[-4], [-1, -1]],
    ref_kl_logprobs: [[-4 - kl], [-1, -1]],
  },
});
const pairs = {
  op: 'preference',
  args: { prompt_ids: [[5, 6], [9]], chosen_ids: [[7], [4, 8]], rejected_ids: [[8], [2]], pad_token_id: PAD },
};

describe('the trl-kto adapter', () => {
  let answers: readonly Readonly<Record<string, unknown>>[];
  beforeAll(async () => {
    answers = await ask('kto', [HELLO, labelled(3), labelled(-3), pairs], QWEN);
  }, STARTING);

  it('declares the objective and its numbers', () => {
    expect(answers[0]).toMatchObject({
      name: 'trl-kto',
      version: '1.13.0',
      semantics: {
        unpaired_objective: 'kto',
        unpaired_beta: BETA,
        desirable_weight: 1,
        undesirable_weight: 1,
      },
    });
  });

  it.each([
    ['half of the KL of its rows, which is not differentiated', 1, 1.5],
    ['no KL where that is below 0', 2, 0],
  ])('holds rows against %s', (_, at, z) => {
    const { loss, weights, kl, kl_weights } = answers[at] ?? {};
    const rights = [sigmoid(BETA * (1 - z)), sigmoid(BETA * (z + 2))] as const;
    expect(loss).toBeCloseTo((1 - rights[0] + 1 - rights[1]) / 2, 6);
    expect(kl).toBeCloseTo(z, 6);
    const slopes = rights.map((right) => (BETA * right * (1 - right)) / 2);
    const [[first = Number.NaN, second] = [], [third] = []] = weights as number[][];
    expect(first).toBeCloseTo(-(slopes[0] ?? 0), 7);
    expect(second).toBeCloseTo(first, 7);
    expect(third).toBeCloseTo(slopes[1] ?? 0, 7);
    expect((kl_weights as number[][]).flat()).toEqual([0, 0, 0]);
  });

  it('pads rows of pairs on the right', () => {
    expect(answers[3]).toMatchObject({
      chosen_input_ids: [
        [5, 6, 7],
        [9, 4, 8],
      ],
      chosen_mask: [
        [0, 0, 1],
        [0, 1, 1],
      ],
      rejected_input_ids: [
        [5, 6, 8],
        [9, 2, PAD],
      ],
      rejected_attention_mask: [
        [1, 1, 1],
        [1, 1, 0],
      ],
    });
  });
});

it('reads the KL in KTO alone', async () => {
  const settings = { ...QWEN, LOSSPROOF_OBJECTIVE: 'apo_zero_unpaired' };
  const [answer = {}] = await ask('kto', [labelled(3)], settings);
  expect(answer.loss).toBeCloseTo((1 - sigmoid(BETA) + 1 - sigmoid(2 * BETA)) / 2, 6);
});
