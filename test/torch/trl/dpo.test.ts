// DPOTrainer through its adapter: pairs side by side, and the objectives against numbers worked out by hand.
import { beforeAll, describe, expect, it } from 'vitest';
import { models } from '../../../src/checkpoints/models.ts';
import { completionLogprobs } from '../../../src/index.ts';
import { ask, family, HELLO, STARTING } from './ask.ts';

const QWEN = { LOSSPROOF_TOKENIZER: family('qwen') };
const PAD = 856; // <|endoftext|>
const EOS = 858; // <|im_end|>
/** Ids of the models that are handed over; the family has a few less. */
const VOCABULARY = 896;
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
    answers = await ask('dpo', [HELLO, pairs, { op: 'preference_loss', args: logprobs }], QWEN);
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
    const [answer = {}] = await ask('dpo', [request], { ...QWEN, LOSSPROOF_OBJECTIVE: objective });
    expect(answer.loss).toBeCloseTo(loss, 5);
  });
});

describe('the trl-dpo adapter on checkpoints', () => {
  const name = (seed: number) => ({ kind: 'llama', seed, vocabulary: VOCABULARY }) as const;
  const folder = (seed: number) => models.folder(name(seed), { eosTokenIds: [EOS], padTokenId: PAD });
  const [prompts, chosen, rejected] = [
    [[5, 6], [9]],
    [[7, 2], [4]],
    [[8], [3, 3, 2]],
  ];
  const both = { prompt_ids: prompts, model_path: folder(0), reference_path: folder(1) };
  const saved_path = models.saving();
  let answers: readonly Readonly<Record<string, unknown>>[];
  beforeAll(async () => {
    answers = await ask(
      'dpo',
      [
        { op: 'model_score', args: { ...both, completion_ids: chosen, temperature: 1 } },
        {
          op: 'preference_step',
          args: { ...both, chosen_ids: chosen, rejected_ids: rejected, learning_rate: 0.5, saved_path },
        },
      ],
      QWEN,
    );
  }, STARTING);
  const logprobs = (seed: number, completions: readonly (readonly number[])[]) =>
    completionLogprobs(models.model(name(seed)), prompts, completions, 1);
  const sums = (rows: readonly (readonly number[])[]) => rows.map((row) => row.reduce((a, b) => a + b, 0));

  it('scores completions under policy and reference', () => {
    for (const [field, seed] of [
      ['logprobs', 0],
      ['ref_logprobs', 1],
    ] as const) {
      const observed = answers[0]?.[field] as number[][] | undefined;
      for (const [b, row] of logprobs(seed, chosen).entries())
        for (const [t, value] of row.entries()) expect(observed?.[b]?.[t]).toBeCloseTo(value, 3);
    }
  });

  it('takes the loss of pairs under both, and one step from it', () => {
    const ratios = [chosen, rejected].map((half) => {
      const [policy, reference] = [sums(logprobs(0, half)), sums(logprobs(1, half))];
      return policy.map((value, b) => value - (reference[b] ?? Number.NaN));
    });
    const losses = prompts.map(
      (_, b) => -logSigmoid(BETA * ((ratios[0]?.[b] ?? Number.NaN) - (ratios[1]?.[b] ?? Number.NaN))),
    );
    expect(answers[1]?.loss).toBeCloseTo(losses.reduce((a, b) => a + b, 0) / losses.length, 3);
    expect(models.saved(saved_path, models.model(name(0)).config)).not.toHaveProperty('problem');
  });
});
