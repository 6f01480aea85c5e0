// DPOTrainer through its adapter: pairs side by side, and the objectives against numbers worked out by hand.
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, family, HELLO, STARTING } from './ask.ts';

const QWEN = { TRAINPROOF_TOKENIZER: family('qwen') };
const PAD = 856; // <|endoftext|>
const BETA = 0.1; // TRL's default

const pairs = {
  op: 'preference',
  args: {
    prompt_ids: [[5, 6], [9]],
    chosen_ids: [[7], [4, 8, 3]],
    rejected_ids: [[8], [2]],
    pad_token_id: PAD,
  },
};
const logprobs = {
  chosen_logprobs: [[-1, -2]],
  rejected_logprobs: [[-3]],
  ref_chosen_logprobs: [[-2, -2]],
  ref_rejected_logprobs: [[-1]],
};
// s(chosen) = 1 over two tokens, s(rejected) = -2 over one.
const logSigmoid = (x: number): number => -Math.log1p(Math.exp(-x));

describe('the trl-dpo adapter', () => {
  let answers: readonly Readonly<Record<string, unknown>>[];
  beforeAll(async () => {
    answers = await ask('trl_dpo', [HELLO, pairs, { op: 'preference_loss', args: logprobs }], QWEN);
  }, STARTING);

  it('declares the objective and its beta', () => {
    expect(answers[0]).toMatchObject({
      name: 'trl-dpo',
      version: '1.13.0',
      semantics: { preference_objective: 'dpo', preference_beta: BETA, preference_label_smoothing: 0 },
    });
  });

  it('pads both halves on the right to one width', () => {
    expect(answers[1]).toEqual({
      chosen_input_ids: [
        [5, 6, 7, PAD],
        [9, 4, 8, 3],
      ],
      chosen_attention_mask: [
        [1, 1, 1, 0],
        [1, 1, 1, 1],
      ],
      chosen_mask: [
        [0, 0, 1, 0],
        [0, 1, 1, 1],
      ],
      rejected_input_ids: [
        [5, 6, 8, PAD],
        [9, 2, PAD, PAD],
      ],
      rejected_attention_mask: [
        [1, 1, 1, 0],
        [1, 1, 0, 0],
      ],
      rejected_mask: [
        [0, 0, 1, 0],
        [0, 1, 0, 0],
      ],
    });
  });

  it('sums log-ratios over tokens', () => {
    const { loss, chosen_rewards, rejected_rewards } = answers[2] ?? {};
    expect(loss).toBeCloseTo(-logSigmoid(BETA * 3), 6);
    expect((chosen_rewards as number[])[0]).toBeCloseTo(BETA * 1, 6);
    expect((rejected_rewards as number[])[0]).toBeCloseTo(BETA * -2, 6);
  });
});

describe('the objectives of the trl-dpo adapter', () => {
  it.each([
    ['hinge', 1 - BETA * 3],
    ['ipo', (1 / 2 + 2 - 1 / (2 * BETA)) ** 2],
  ])('%s', async (objective, loss) => {
    const request = { op: 'preference_loss', args: logprobs };
    const [answer = {}] = await ask('trl_dpo', [request], { ...QWEN, TRAINPROOF_OBJECTIVE: objective });
    expect(answer.loss).toBeCloseTo(loss, 5);
  });
});
