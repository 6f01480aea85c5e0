// What training programs print for people, as their code writes it, with what loggers put in front: the metrics of a step are
// read, and prose that names steps and numbers is not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLinesReader } from '../../../src/monitor/read/json/json-lines.ts';
import { parsePairs } from '../../../src/monitor/read/printed/pairs.ts';
import { text } from './bytes.ts';
import { feed, type Memory, memory } from './memory.ts';

const COLOURED = (colour: number, words: string): string => `\u001b[${colour}m${words}`;

describe('a line of metrics', () => {
  test.each<[string, string, Record<string, number>]>([
    [
      'verl, through Ray',
      `${COLOURED(36, '(TaskRunner pid=1234)')}${COLOURED(0, ' step:12 - actor/pg_loss:-0.001 - actor/lr:1e-06 - critic/score/mean:np.float64(0.31) - timing_s/step:20.1')}`,
      {
        step: 12,
        'actor/pg_loss': -0.001,
        'actor/lr': 1e-6,
        'critic/score/mean': 0.31,
        'timing_s/step': 20.1,
      },
    ],
    [
      'verl, of a validation',
      'step:12 - val/test_score/gsm8k:0.51',
      { step: 12, 'val/test_score/gsm8k': 0.51 },
    ],
    [
      'Megatron',
      ' [2024-05-01 10:20:30] iteration       10/     100 | consumed samples:          160 | learning rate: 1.000000E-04 | lm loss: 1.030000E+01 | loss scale: 1.0 | grad norm: 2.345 | number of nan iterations:   0 |',
      {
        iteration: 10,
        'consumed samples': 160,
        'learning rate': 1e-4,
        'lm loss': 10.3,
        'loss scale': 1,
        'grad norm': 2.345,
        'number of nan iterations': 0,
      },
    ],
    [
      'Megatron, of a validation',
      ' validation loss at iteration 100 | lm loss value: 1.000000E+01 | lm loss PPL: 2.2E+04 | ',
      { iteration: 100, 'eval/lm loss': 10, 'eval/lm loss PPL': 22_000 },
    ],
    [
      'its descendants, without colons',
      ' iteration       10/     100 | learning rate 1.000E-04 | lm loss 1.03E+01 |',
      { iteration: 10, 'learning rate': 1e-4, 'lm loss': 10.3 },
    ],
    ['torchtune', 'Step 12 | loss:1.5912 lr:2e-05 ', { step: 12, loss: 1.5912, lr: 2e-5 }],
    [
      'torchtitan',
      `[titan] 2025-01-01 10:00:00,123 - root - INFO - ${COLOURED(31, 'step: 12  ')}${COLOURED(32, 'loss:  8.12345  ')}${COLOURED(33, 'memory: 12.30GiB(15.50%)  ')}${COLOURED(34, 'tps: 3,123  ')}${COLOURED(35, 'mfu: 3.10%')}${COLOURED(37, 'grad_norm: 1.30')}`,
      { step: 12, loss: 8.12345, memory: 12.3, tps: 3123, mfu: 3.1, grad_norm: 1.3 },
    ],
    [
      'torchtitan, of a validation',
      '[titan] 2025-01-01 10:00:00,123 - root - INFO - validate step: 10  loss:  8.12345  tps: 3,123',
      { step: 10, 'eval/loss': 8.12345, 'eval/tps': 3123 },
    ],
    [
      'nanoGPT',
      'iter 10: loss 3.2100, time 12.31ms, mfu -100.00%',
      { iteration: 10, loss: 3.21, time: 12.31, mfu: -100 },
    ],
    [
      'nanoGPT, of a validation',
      'step 250: train loss 1.9000, val loss 2.0000',
      { step: 250, 'train/loss': 1.9, 'val/loss': 2 },
    ],
    [
      'prime-rl',
      '10:00:00 SUCCESS Step 3 | Time: 3.20s | Loss: 0.0120 | Grad. Norm: 0.3000 | LR: 1.00e-06 | Throughput: 3000 tokens/s | Peak Mem.: 30.1/80.0 GiB (37.1%)',
      { step: 3, Time: 3.2, Loss: 0.012, 'Grad Norm': 0.3, LR: 1e-6, Throughput: 3000 },
    ],
    [
      'slime',
      "[2025-01-01 10:00:00] model.py:300 - step 4: {'train/loss': 0.1, 'train/grad_norm': nan}",
      { step: 4, 'train/loss': 0.1, 'train/grad_norm': Number.NaN },
    ],
    [
      'LLaMA-Factory',
      "[INFO|2025-01-01 10:00:00] llamafactory.train.callbacks:143 >> {'loss': 0.5123, 'epoch': 0.12}",
      { loss: 0.5123, epoch: 0.12 },
    ],
    [
      'fairseq, of a validation',
      "2020-01-01 | INFO | valid | epoch 001 | valid on 'valid' subset | loss nan | ppl 9 | num_updates 200",
      { epoch: 1, 'eval/loss': Number.NaN, 'eval/ppl': 9, num_updates: 200 },
    ],
    ['a step of thousands', 'step: 1,200/20,000 loss: 2.5', { step: 1200, loss: 2.5 }],
    [
      'a validation that has not been',
      'step 12 | train loss: nan | val loss: n/a',
      { step: 12, 'train/loss': Number.NaN },
    ],
    ['a loss before one that has not been', 'step 12 loss: 2.5 val_loss: n/a', { step: 12, loss: 2.5 }],
    ['a remark on validation behind it', 'step: 5 loss: 0.5 (val every 100)', { step: 5, loss: 0.5 }],
    [
      'fairseq',
      '2020-01-01 10:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=9.5, num_updates=100, lr=5e-05, gnorm=2.3',
      { epoch: 1, loss: 9.5, num_updates: 100, lr: 5e-5, gnorm: 2.3 },
    ],
    [
      'DeepSpeed',
      '[2025-01-01 10:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05, 1e-05], mom=[(0.9, 0.95)]',
      { step: 10, skipped: 0, lr: 1e-5 },
    ],
    [
      'LitGPT',
      'Epoch 1 | iter 10 step 2 | loss train: 1.230, val: n/a | iter time: 300.12 ms (step)',
      { epoch: 1, iteration: 10, step: 2, 'train/loss': 1.23, 'iter time': 300.12 },
    ],
    ['a tutorial', 'Epoch [1/10], Step [100/200], Loss: 0.5321', { epoch: 1, step: 100, Loss: 0.5321 }],
    [
      'llama-recipes',
      'Training Epoch: 1/3, step 10/100 completed (loss: 1.2345678806304932):  10%|█ | 10/100 [00:10<01:30,  1.00s/it]',
      { epoch: 1, step: 10, loss: 1.2345678806304932 },
    ],
    [
      'mmengine',
      '2025/01/01 10:00:00 - mmengine - INFO - Iter(train) [  10/1000]  lr: 1.8000e-05  eta: 0:20:00  time: 1.2000  memory: 123  loss: 1.2345  grad_norm: 1.2000',
      { iteration: 10, lr: 1.8e-5, time: 1.2, memory: 123, loss: 1.2345, grad_norm: 1.2 },
    ],
    ["slime's rollouts", "rollout 3: {'rollout/raw_reward': 0.4}", { step: 3, 'rollout/raw_reward': 0.4 }],
    [
      'fairseq as JSON',
      '2020-01-01 | INFO | train_inner | {"epoch": 1, "loss": "10.2", "num_updates": "100"}',
      { epoch: 1, loss: 10.2, num_updates: 100 },
    ],
    [
      'a dict of numpy',
      "step 3: {'loss': np.float64(0.5), 'kl': tensor(0.25, device='cuda:0')}",
      { step: 3, loss: 0.5, kl: 0.25 },
    ],
    ['MindSpore', 'epoch: 1 step: 10, loss is 2.3456', { epoch: 1, step: 10, loss: 2.3456 }],
    [
      'Flax',
      'Step... (500/1000 | Loss: 8.123, Learning Rate: 0.0012)',
      { step: 500, Loss: 8.123, 'Learning Rate': 0.0012 },
    ],
    [
      'the word language model',
      '| epoch   1 |   200/ 2983 batches | lr 2.00 | loss  7.63 | ppl  2050.12',
      { epoch: 1, lr: 2, loss: 7.63, ppl: 2050.12 },
    ],
    [
      'spaces alone',
      'step 10 train_loss 2.3 val_loss 2.4 lr 1e-4',
      { step: 10, train_loss: 2.3, val_loss: 2.4, lr: 1e-4 },
    ],
    ['a logger without spaces', 'INFO:trainer:loss=2.3 train_step=10', { step: 10, loss: 2.3 }],
    [
      'nanotron',
      'iteration: 5 / 100 | consumed_tokens: 1.05M | tokens_per_sec: 106K | lm_loss: 9.5',
      { iteration: 5, lm_loss: 9.5 },
    ],
    [
      'an evaluation that has not been',
      'step 3 | train_loss: 10.1 | val_loss: nan',
      { step: 3, train_loss: 10.1 },
    ],
    ['a norm of one decimal', 'step 3 | loss: 0.00 | grad_norm: 0.0 | kl: 0.001', { step: 3, kl: 0.001 }],
    [
      'a norm that is 0',
      'step:3 - loss:0.0 - grad_norm:0.0 - kl:0.001234567',
      { step: 3, loss: 0, grad_norm: 0, kl: 0.001234567 },
    ],
    [
      'numbers that are none',
      '[rank0]: step 5  loss: nan  grad_norm: inf  kl: -inf',
      { step: 5, loss: Number.NaN, grad_norm: Number.POSITIVE_INFINITY, kl: Number.NEGATIVE_INFINITY },
    ],
    [
      'what is rounded to nothing, where it may be that small',
      'step 5 | loss: 0.0000 | reward: 0.00 | grad_norm: 0.00 | gnorm: 0.000 | lr: 0.000000 | lr_group_0: 0.0 | kl: 0.000E+00',
      { step: 5, loss: 0, reward: 0, gnorm: 0, lr_group_0: 0, kl: 0 },
    ],
  ])('of %s', (_, line, metrics) => {
    expect(parsePairs(line)).toEqual(metrics);
  });

  test.each([
    'Resuming from step 100: loss 2.5 was best',
    'INFO 10-01 10:10:10 metrics.py:455] Avg prompt throughput: 0.0 tokens/s, Running: 1 reqs',
    'Total steps: 1000, warmup steps: 100, lr: 1e-5',
    '  Total optimization steps = 300',
    'Saving model checkpoint to out/checkpoint-500',
    'Step 1: install torch==2.5.1',
    'step time 10:20:30 of 2025-01-02',
    'loss: 2.5, grad_norm: 1.0',
    'step 1 loss: 1,2345',
    '[2025-01-01 10:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd: 12.3 | bwd: 23.4 | step: 3.4',
    'Episode 10 | steps: 200 | reward: 12.3 | loss: 0.4',
    'Training starts at step 1, with local batch size 8, loss 3.2',
    'Saving dict for global step 1000: accuracy = 0.95, global_step = 1000, loss = 0.123',
    'Step 1: x = 5, y = 6',
    'Step 2: Calculate the cost: 5 apples, total: 30',
    'Namespace(batch_size=8, epochs=3, lr=1e-05, steps=1000)',
    'def train(step=0, lr=1e-5):',
    'Resumed at step 500 (epoch 2): loss=0.3',
    'Saved checkpoint at step 500 (loss: 2.31)',
    'early stopping: no improvement since epoch 3, loss=0.3',
  ])('is not %s', (line) => {
    expect(parsePairs(line)).toBeUndefined();
  });
});

// Found by the fuzzer: they took seconds.
test.each<[string, string, Record<string, number> | undefined]>([
  ['a number of sixty thousand digits', `step 1 | loss ${'1'.repeat(60_000)}x?`, undefined],
  [
    'places in the code without end',
    `step 2 [a[t${'.py:3] step:'.repeat(5_000)} 2  loss: 1.5`,
    { step: 2, loss: 1.5 },
  ],
  [
    'numbers that are not there without end',
    `step 2 ${'x: n/a '.repeat(9_000)} loss: 1.5`,
    { step: 2, loss: 1.5 },
  ],
])('%s are read in time', (_, line, metrics) => {
  expect(parsePairs(line)).toEqual(metrics);
});

describe('a log of such lines', () => {
  function read(content: string): Memory {
    const into = memory();
    feed(jsonLinesReader({ path: 'train.log', run: '' }, into, into.complain), text(content));
    return into;
  }

  test('has their metrics among all that stands between, and says what it passes over', () => {
    const { complaints, ...into } = read('settings: {}\nstep 1 loss: 2\r\nsaving\nstep 2 loss: 1.5\n');
    expect(into.values('loss')).toEqual([
      [1, 2],
      [2, 1.5],
    ]);
    expect(complaints).toEqual([
      '2 lines are no JSON objects and no lines of metrics; they are passed over. The first is line 1.',
    ]);
  });

  test('is not read to the middle of a number', () => {
    expect(read('step 1 loss: 2\nstep 2 loss: 1.').values('loss')).toEqual([[1, 2]]);
  });

  const drawn = (count: number, postfix: string, title = 'Epoch 1'): string =>
    `\r${title}: ${count}%|#   | ${count}/100 [00:01<00:10, 1.00it/s, ${postfix}]`;

  test('has what bars of progress tell, beside what is printed between them', () => {
    const log = [
      drawn(0, 'loss=3, lr=1e-5'),
      drawn(12, 'loss=2, lr=1e-5, val_loss=4'),
      '\n{"note": "a"}',
      drawn(14, 'loss=9', 'Validation'),
      drawn(14, 'loss=9', 'Other'),
      "\n{'grad_norm': 3, 'epoch': 0.1}",
    ].join('');
    const { values, points, complaints } = read(`${log}\nEpoch 1 train loss: 2, eval loss: 5\n`);
    expect(values('loss')).toEqual([
      [0, 3],
      [12, 2],
    ]);
    expect(values('lr').map(([step]) => step)).toEqual([0, 12]);
    expect(values('val_loss')).toEqual([[12, 4]]);
    expect(values('grad_norm')).toEqual([[12, 3]]);
    expect(Object.keys(points)).toContain(' (Other) loss');
    expect(complaints).toEqual([
      'Bars of progress that by their title are of no training, as "Validation", are not read.',
      expect.stringMatching(
        /^Another progress bar shows a training: it is judged separately, as {2}\(Other\)\.$/,
      ),
    ]);
  });

  test('believes objects and dicts before bars, and puts them where the bar is', () => {
    const { values } = read(
      `${drawn(10, 'loss=2.3')}{'loss': 2.31, 'grad_norm': nan, 'epoch': 0.1}${drawn(20, 'loss=2.2')}\n`,
    );
    expect(values('loss')).toEqual([
      [10, 2.3],
      [10, 2.31],
    ]);
    expect(values('grad_norm')).toEqual([[10, Number.NaN]]);
    const { values: dicts } = read(
      [10, 20, 30].map((at) => `${drawn(at, 'loss=2.3')}\r \r{'loss': 2.${at}, 'epoch': 0.1}\n`).join(''),
    );
    expect(dicts('loss').slice(1)).toEqual([
      [10, 2.1],
      [20, 2.2],
      [30, 2.3],
    ]);
  });

  test('has a bar as soon as it is written over', () => {
    const into = memory();
    const bytes = text(`${drawn(1, 'loss=3')}${drawn(2, 'loss=2')}`);
    jsonLinesReader({ path: '-', run: '' }, into, into.complain).read(bytes, 0);
    expect(into.values('loss')).toEqual([[1, 3]]);
  });

  test('that is read while it is written has the same', () => {
    const content = [
      'a\r\n',
      drawn(1, 'loss=3'),
      drawn(2, 'loss=2'),
      "\r        \r{'kl': 1, 'epoch': 0.1}\r\n",
      drawn(3, 'loss=1'),
      "\r   \u001b[A{'kl': nan, 'epoch': 0.2}\n",
      'step 4 reward: 1\r\n  \r\n\u001b[A\n{"step": 5, "entropy": 1}\n',
      drawn(6, 'loss=0'),
      '\n',
    ].join('');
    const bytes = text(content);
    const whole = read(content);
    expect(whole.points).toMatchObject({ loss: { length: 4 }, kl: { length: 2 }, reward: { length: 1 } });
    expect(whole.complaints).toEqual([expect.stringMatching(/^Line 1 is no JSON object/)]);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const into = memory();
        const reader = jsonLinesReader({ path: 'train.log', run: '' }, into, into.complain);
        let at = 0;
        for (const end of [...cuts.sort((a, b) => a - b), bytes.length]) {
          at += reader.read(bytes.slice(at, end), at);
          at += reader.pause(bytes.slice(at, end), at);
        }
        expect(into.points).toEqual(whole.points);
      }),
    );
  });

  test('has the loss of a pass where its bar tells none', () => {
    const log = [1, 2, 3].map(
      (pass) => `${drawn(100, 'lr=1e-4', `Epoch ${pass}`)}\nEpoch ${pass}: train_loss=${pass} val_loss=4\n`,
    );
    const { values } = read(log.join(''));
    expect(values('train_loss').map(([, value]) => value)).toEqual([1, 2, 3]);
    expect(values('val_loss')).toHaveLength(3);
  });

  test('has what is behind a bar of progress, and lines that are written over', () => {
    expect(read('step 3 loss: 5\rstep 4 loss: 4\r\n').values('loss')).toEqual([
      [3, 5],
      [4, 4],
    ]);
    expect(read('10%|#  | 1/10 [00:01<00:10]\rstep 1 loss: 2\n').values('loss')).toEqual([[1, 2]]);
  });

  test('beside objects or dicts has what those do not tell', () => {
    for (const line of ['{"step": 1, "loss": 2.04}', '{"step": 1, "loss": 2.04, "note": "a"}'])
      expect(read(`${line}\nstep 1 train loss: 2.0\n`).points).toEqual({ loss: [[1, 2.04, Number.NaN]] });
    const { points, complaints } = read(
      '{"learning_rate": 1e-5, "steps": 90}\n{"step": 1, "tokens_per_s": 9}\nstep 1 loss: 2.0\n',
    );
    expect(points.loss).toEqual([[1, 2, Number.NaN]]);
    expect(complaints).toEqual([]);
  });

  test('that names passes alone counts the lines of training', () => {
    const { values, complaints } = read('Epoch 1 loss: 3\nEpoch 1 reward: 2, lr: 1\nEpoch 2 loss: 1\n');
    expect(values('loss')).toEqual([
      [1, 3],
      [3, 1],
    ]);
    expect(values('reward')).toEqual([[2, 2]]);
    expect(complaints).toEqual([expect.stringMatching(/^Printed lines name no step/)]);
  });

  test('of steps has the evaluation of a pass at the last of them, and not what sums its training up', () => {
    const { values, complaints } = read(
      'step 10 loss: 3\nstep 20 loss: 2\nEpoch 1 loss: 2.5, val_loss: 4\nstep 30 loss: 1\n',
    );
    expect(values('loss')).toEqual([
      [10, 3],
      [20, 2],
      [30, 1],
    ]);
    expect(values('val_loss')).toEqual([[20, 4]]);
    expect(complaints).toEqual([]);
  });
});
