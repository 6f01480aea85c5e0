// Rollouts as trainers write them, read as samples; and what is no rollout, left alone.
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../../src/monitor/samples/samples.ts';

const read = (object: Record<string, unknown>, where = 'rollouts.jsonl line 1') => {
  const sample = sampleOf(object, where, 'run');
  if (sample === undefined) return undefined;
  const { run, where: place, ...rest } = sample;
  expect({ run, place }).toEqual({ run: 'run', place: where });
  return rest;
};

describe('a sample of', () => {
  test('TRL: a row of completions_00012.parquet, one column a reward function', () => {
    const row = {
      step: 12n,
      prompt: 'user\nHi\nassistant\n',
      completion: 'Hello.',
      accuracy_reward: 1,
      think_format_reward: 0.5,
      gold_answer: '4',
      advantage: -0.7,
    };
    expect(read(row)).toEqual({
      step: 12,
      prompt: 'user\nHi\nassistant\n',
      completion: 'Hello.',
      reward: 1.5,
      advantage: -0.7,
    });
  });

  test('TRL: a reward function that does not apply to the row says nothing', () => {
    const row = {
      step: 1,
      prompt: 'p',
      completion: 'c',
      math_reward: Number.NaN,
      code_reward: 1,
      advantage: 0,
    };
    expect(read(row)?.reward).toBe(1);
    expect(read({ ...row, code_reward: Number.NaN })).not.toHaveProperty('reward');
  });

  test('TRL: a single reward function of any name', () => {
    const row = { step: 1, prompt: 'p', completion: 'c', unique_letters: 3, advantage: 0.2 };
    expect(read(row)?.reward).toBe(3);
    expect(read({ ...row, other: 4 })).not.toHaveProperty('reward');
  });

  test('TRL: a table of strings', () => {
    expect(read({ step: '40', prompt: 'p', completion: 'c' })).toMatchObject({ step: 40 });
  });

  test('verl: 7.jsonl of rollout_data_dir', () => {
    const line = { input: 'user\nHi', output: 'Hello.', gts: '4', score: 1.0, step: 7, acc: true, pred: '4' };
    expect(read(line, 'rollouts/7.jsonl line 3')).toEqual({
      step: 7,
      prompt: 'user\nHi',
      completion: 'Hello.',
      reward: 1,
    });
  });

  test('OpenRLHF: input and output, and its table of whole texts', () => {
    expect(read({ input: 'Hi', output: 'Hello.', reward: -0.25 })).toEqual({
      prompt: 'Hi',
      completion: 'Hello.',
      reward: -0.25,
    });
    expect(read({ global_step: 3, text: 'HiHello.', reward: 0.5 })).toEqual({ step: 3, reward: 0.5 });
    expect(read({ prompt: 'Hi', query: 'HiHello.', reward: 0.5 })).toMatchObject({ completion: 'Hello.' });
  });

  test('Open-Reasoner-Zero: a verdict is the reward, and the step is in the name of the file', () => {
    const line = { prompt: 'Hi', output: 'Hello.</answer>', final_answer: '', answer: '4', iscorrect: false };
    expect(read(line, 'eval_output_iter30_gsm8k0.5312.jsonl line 2')).toEqual({
      step: 30,
      prompt: 'Hi',
      completion: 'Hello.</answer>',
      reward: 0,
    });
    expect(read({ response: 'Hello.', iscorrect: true, stop_reason: 'length', final_answer: '' })).toEqual({
      completion: 'Hello.',
      reward: 1,
      finish: 'length',
    });
  });

  test('SkyRL, slime and NeMo-RL', () => {
    expect(read({ input_prompt: 'p', output_response: 'c', score: 1, stop_reason: 'stop' })).toEqual({
      prompt: 'p',
      completion: 'c',
      reward: 1,
      finish: 'stop',
    });
    expect(
      read({
        group_index: 4,
        prompt: 'p',
        tokens: [1, 2, 3, 4],
        response: 'c',
        response_length: 1,
        reward: 0,
        status: 'truncated',
      }),
    ).toEqual({
      prompt: 'p',
      completion: 'c',
      promptIds: [1, 2, 3],
      completionIds: [4],
      group: '4',
      reward: 0,
      finish: 'length',
    });
    expect(read({ token_ids: [1, 2, 3, 4], token_loss_mask: [0, 0, 1, 1], rewards: 1 })).toMatchObject({
      promptIds: [1, 2],
      completionIds: [3, 4],
    });
  });

  test('verifiers: lists of messages, calls included', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x": 1}' } };
    const line = {
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      completion: [
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', content: '4' },
      ],
      reward: 1,
    };
    expect(read(line)).toEqual({
      prompt: 'Be brief.\nHi',
      completion: '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>\n4',
      reward: 1,
    });
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ];
    expect(read({ messages, reward: 1 })).toMatchObject({ prompt: 'Hi', completion: 'Hello.' });
  });

  test('anyone, with ids: input_ids of the prompt, or of the whole row', () => {
    const line = {
      input_ids: [1, 2],
      output_ids: [3],
      finish_reason: 'max_tokens',
      uid: 'q',
      advantages: 0.5,
    };
    expect(read(line)).toEqual({
      promptIds: [1, 2],
      completionIds: [3],
      group: 'q',
      advantage: 0.5,
      finish: 'length',
    });
    expect(read({ ...line, input_ids: [1, 2, 3] })).toMatchObject({ promptIds: [1, 2] });
    expect(read({ prompt: 'p', completion: 'c', truncated: true })).toMatchObject({ finish: 'length' });
    expect(read({ prompt: 'p', completion: 'c', truncated: false })).not.toHaveProperty('finish');
  });

  test.each([
    ['rollouts/12.jsonl line 3', 12],
    ['out/completions/completions_00040.parquet row 9', 40],
    ['C:\\runs\\step_7.jsonl line 1', 7],
    ['rollouts.jsonl line 12', undefined],
    ['run-3/all.jsonl line 1', undefined],
  ])('the step of %s is %j', (where, step) => {
    expect(read({ prompt: 'p', completion: 'c' }, where)?.step).toBe(step);
  });

  test('a reward that is NaN stays NaN, and a completion may be empty', () => {
    expect(read({ prompt: 'p', completion: '', reward: Number.NaN })).toEqual({
      prompt: 'p',
      completion: '',
      reward: Number.NaN,
    });
  });
});

describe('no sample is', () => {
  test.each([
    ['a line of trainer_state', { loss: 0.4, grad_norm: 1.2, learning_rate: 1e-5, epoch: 0.1, step: 10 }],
    ['a line of GRPO metrics', { reward: 0.4, reward_std: 0.2, 'completions/mean_length': 120, step: 3 }],
    ['metrics that carry a sample along', { loss: 0.4, step: 1, prompt: 'p', completion: 'c', reward: 1 }],
    ['metrics with a note', { step: 3, reward: 0.5, entropy: 2, text: 'epoch done' }],
    ['a table in a W&B history', { _step: 1, completions: { _type: 'table-file', path: 'x' }, reward: 1 }],
    ['a configuration', { output: 'runs/x', output_dir: 'runs', score: 1 }],
    ['a CSV row', { step: '1', train_loss: '0.5', output: 'a.bin' }],
    ['a row of a data set of preferences', { prompt: 'p', chosen: 'a', rejected: 'b' }],
    ['a list of numbers', { responses: 'none', step: 1 }],
    ['nothing', {}],
    ['null', { prompt: null, completion: null, reward: null }],
  ])('%s', (_, object) => {
    expect(read(object)).toBeUndefined();
  });
});
