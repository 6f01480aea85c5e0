// Bars of progress as tqdm draws them: what one says of a training, and what each draw says that those before it did not.
import { describe, expect, test } from 'vitest';
import { parseBar } from '../../../src/monitor/read/printed/bar.ts';
import { bars, MOST_BARS } from '../../../src/monitor/read/printed/bars.ts';

describe('a bar of progress', () => {
  test.each<[string, string, string, Record<string, number>]>([
    [
      'Lightning',
      'Epoch 2:  10%|█         | 10/100 [00:05<00:45,  2.00it/s, v_num=0, train_loss=2.310]',
      'Epoch #',
      { train_loss: 2.31 },
    ],
    [
      'Lightning, where nobody knows how many',
      'Epoch 0: |          | 10/? [00:05<00:00,  2.00it/s, v_num=k3j1, loss=nan]',
      'Epoch #',
      { loss: Number.NaN },
    ],
    [
      'OpenRLHF',
      'Train step of epoch 0:  10%|█         | 10/100 [00:05<00:45,  2.00s/it, gpt_loss=2.31, lr=1e-5]',
      'Train step of epoch #',
      { gpt_loss: 2.31, lr: 1e-5 },
    ],
    [
      'torchtune',
      '1|25|Loss: 1.5912001132965088:   1%|          | 10/1000 [00:10<06:30,  2.50it/s]',
      '#|#|Loss: #',
      { Loss: 1.5912001132965088 },
    ],
    [
      'diffusers',
      'Steps:   1%|\u001b[32m█         \u001b[0m| 10/2000 [00:10<16:30,  1.00s/it, lr=1e-5, step_loss=0.123]',
      'Steps',
      { lr: 1e-5, step_loss: 0.123 },
    ],
    [
      'a text of its own',
      'loss: 2.31 | lr: [1e-05]: 10it [00:10, 1.00it/s, loss_avg [2.4]]',
      'loss: # | lr: [#]',
      { loss: 2.31, lr: 1e-5 },
    ],
    [
      'one that was cut to the width of a terminal',
      ' 10%|1    | 10/99 [00:10<00:10, 1.00it/s, loss=2.5, lr=1',
      '',
      { loss: 2.5 },
    ],
    [
      'batches of tokens',
      'Epoch 1 (best: None): 10%|1    | 10/97.5 [00:10<00:10, 1.00it/s, loss=2.5]',
      'Epoch # (best: #)',
      { loss: 2.5 },
    ],
    [
      'a held-out loss in its title',
      'Epoch 1 | val loss 2.0 | loss 2.5: 10%|1    | 10/99 [00:10<00:10, 1.00it/s]',
      'Epoch # | val loss # | loss #',
      { 'val/loss': 2, loss: 2.5 },
    ],
    [
      'steps of an unknown number',
      'Train: 10 steps [00:01, 2.0 steps/s, loss=nan]',
      'Train',
      { loss: Number.NaN },
    ],
    [
      'a best one in its title',
      'Epoch 2 (best val 1.900): 10%|1    | 10/99 [00:10<00:10, 1.00it/s, loss=2.5]',
      'Epoch # (best val #)',
      { loss: 2.5 },
    ],
    [
      'an accuracy in its title',
      'Epoch 1/4 | Val Acc 0.71: 10%|1    | 10/99 [00:10<00:10, 1.00it/s, loss=2.5]',
      'Epoch #/# | Val Acc #',
      { loss: 2.5 },
    ],
    [
      'the training of what scores',
      'Training score model: 10%|1    | 10/99 [00:10<00:10, 1.00it/s, loss=2.5]',
      'Training score model',
      { loss: 2.5 },
    ],
    [
      'a long title with a time',
      `[Fri Nov 27 10:20:30] ${'a'.repeat(70)} eta 1h02m: 10%|1    | 10/99 [00:10<00:10, 1.00it/s, loss=2.5]`,
      `[# # # #] ${'a'.repeat(70)}`,
      { loss: 2.5 },
    ],
    ...[
      ['Epoch 1/5 [Test]', 'Epoch #/# [Test]'],
      ['val_epoch 1', 'val_epoch #'],
      ['epoch1-val', 'epoch#-val'],
      ['Eval/1', 'Eval/#'],
      ['EvalStep', 'EvalStep'],
      ['ValidEpoch', 'ValidEpoch'],
      ['验证 1', '验证 #'],
      ['Sanity Checking', 'Sanity Checking'],
    ].map(([title = '', known = '']): [string, string, string, Record<string, number>] => [
      `an evaluation, ${title}`,
      `${title}: 10%|1    | 10/99 [00:10<00:01, 1.00it/s, loss=2]`,
      known,
      {},
    ]),
    ['a validation', 'Validation: 10%|1    | 10/99 [00:10<00:01, 1.00it/s, loss=2]', 'Validation', {}],
    [
      'a validation of a pass',
      'Epoch 1 [Valid]: 10%|1    | 10/99 [00:10<00:01, 1.00it/s, loss=2]',
      'Epoch # [Valid]',
      {},
    ],
    [
      'an evaluation with its step',
      'Eval stage of steps 499: 10%|1    | 10/99 [00:10<00:01, 1.00it/s, reward_mean=0.3]',
      'Eval stage of steps #',
      {},
    ],
    ['rollouts', 'Rollouts: 10%|1    | 10/99 [00:10<00:01, 1.00it/s, reward=0.3]', 'Rollouts', {}],
    ['a download', 'model: 10%|1    | 10/99 [00:10<00:01, 1.00MB/s]', 'model', {}],
    [
      'an inference',
      'Processed prompts: 100%|█| 10/99 [00:10<00:01, 1.35s/it, est. speed input: 1.2 toks/s, output: 2.0 toks/s]',
      'Processed prompts',
      {},
    ],
  ])('of %s', (_, line, title, metrics) => {
    const aside = Object.keys(metrics).length === 0 && /loss=|reward/.test(line);
    expect(parseBar(line)).toMatchObject({ title, count: 10, metrics, aside, rest: '' });
  });

  test('may name a better step behind it', () => {
    const line = 'Step 3 of 4: 10%|1    | 10/99 [00:10<?, ?it/s, loss=2, global_step=5, epoch=0.1]';
    expect(parseBar(line)).toMatchObject({
      metrics: { loss: 2 },
      steps: { global_step: 5 },
      pass: undefined,
    });
    expect(parseBar(`Epoch [2/3] ${line}`)).toMatchObject({ pass: 2 });
  });

  test('may have another text behind it', () => {
    expect(parseBar(' 10%|1    | 10/99 [00:10<?, ?it/s]Saved.')).toMatchObject({ rest: 'Saved.' });
    expect(parseBar('step 1 | loss: 2')).toBeUndefined();
  });
});

describe('bars of progress that are drawn again and again', () => {
  interface Drawing {
    readonly count: number;
    readonly metrics: Readonly<Record<string, number>>;
    readonly total?: number;
    readonly title?: string;
    readonly pass?: number;
    readonly steps?: Readonly<Record<string, number>>;
  }

  /** [step, value] of each metric that they tell, by `run name`. */
  function told(drawings: readonly Drawing[]): Record<string, [number, number][]> {
    const { draw } = bars();
    const all: Record<string, [number, number][]> = {};
    for (const bar of drawings) {
      const news = draw({
        title: '',
        pass: undefined,
        total: 100,
        aside: false,
        steps: {},
        rest: '',
        ...bar,
      });
      for (const [name, value] of Object.entries(news?.metrics ?? {})) {
        const key = `${news?.run} ${name}`.trim();
        all[key] = [...(all[key] ?? []), [news?.step ?? Number.NaN, value]];
      }
    }
    return all;
  }

  const times = (length: number, of: (at: number) => Drawing): Drawing[] =>
    Array.from({ length }, (_, at) => of(at));

  test('tell each number once, whether the count is raised before or behind it', () => {
    const before = [0, 1, 2].flatMap((at) => [
      { count: at, metrics: at === 0 ? {} : { loss: 4 - at } },
      { count: at, metrics: { loss: 3 - at } },
    ]);
    expect(told(before)).toEqual({
      loss: [
        [0, 3],
        [1, 2],
        [2, 1],
      ],
    });
    const behind = [1, 2, 3].flatMap((at) => [
      { count: at, metrics: at === 1 ? {} : { loss: 5 - at } },
      { count: at, metrics: { loss: 4 - at } },
    ]);
    expect(told(behind)).toEqual({
      loss: [
        [1, 3],
        [2, 2],
        [3, 1],
      ],
    });
  });

  test('tell beside each other what is logged at each step, and nothing of what was logged before', () => {
    const drawings = times(40, (at) => ({
      count: at,
      metrics: {
        loss: at < 20 || at % 2 === 0 ? at : at - 1,
        grad_norm: at,
        lr: 1,
        reward: at >> 4,
        val_loss: at >> 3,
      },
    }));
    const { loss = [], grad_norm = [], lr = [], reward, val_loss } = told(drawings);
    expect(loss.map(([step]) => step)).toEqual(grad_norm.map(([step]) => step));
    expect(loss).toHaveLength(40);
    expect(lr).toHaveLength(40);
    expect(reward).toEqual([0, 1, 2].map((value) => [16 * value, value]));
    expect(val_loss).toEqual([0, 1, 2, 3, 4].map((value) => [8 * value, value]));
  });

  test('tell again what stands still for longer than it ever did, or for a quarter of the bar', () => {
    const changed = times(100, (at) => ({ count: at, metrics: { loss: Math.max(0, 5 - (at >> 1)) } }));
    expect(
      told(changed)
        .loss?.slice(0, 8)
        .map(([step]) => step),
    ).toEqual([0, 2, 4, 6, 8, 10, 16, 18]);
    const never = told(times(100, (at) => ({ count: at, metrics: { loss: 0 } }))).loss ?? [];
    expect(never.slice(0, 3).map(([step]) => step)).toEqual([0, 25, 27]);
    expect(never.length).toBeGreaterThan(30);
    const endless = times(100, (at) => ({ count: at, metrics: { loss: 0 }, total: Number.NaN }));
    expect(told(endless).loss?.map(([step]) => step)).toEqual([0, 20, 40, 60, 90]);
  });

  test('do not tell what stands for no number before the first', () => {
    const begins = [Number.NaN, Number.NaN, 2, 1].map((loss, count) => ({ count, metrics: { loss } }));
    expect(told(begins)).toEqual({
      loss: [
        [2, 2],
        [3, 1],
      ],
    });
    const never = told(times(40, (count) => ({ count, metrics: { loss: Number.NaN } })));
    expect(never.loss?.slice(0, 2)).toEqual([
      [25, Number.NaN],
      [27, Number.NaN],
    ]);
    expect(
      told([
        { count: 5, metrics: { loss: 1 } },
        { count: 6, metrics: { loss: Number.NaN } },
      ]).loss,
    ).toEqual([
      [5, 1],
      [6, Number.NaN],
    ]);
  });

  test('count on through passes whose number rises, also those that end early, and where several processes draw one', () => {
    const at = (pass: number, count: number): Drawing => ({ count, pass, metrics: { loss: count } });
    const stepsOf = (drawings: readonly Drawing[]) => told(drawings).loss?.map(([step]) => step);
    expect(stepsOf([at(1, 5), at(1, 50), at(1, 49), at(1, 100), at(2, 0), at(1, 99), at(2, 1)])).toEqual([
      5, 50, 100, 101,
    ]);
    expect(stepsOf([at(1, 40), at(2, 40), at(3, 40)])).toEqual([40, 80, 120]);
    const early = [0, 1, 2, 0, 1, 0, 1].map((count, index) => ({
      count,
      total: 4,
      metrics: { loss: -index },
    }));
    expect(stepsOf(early)).toEqual([0, 1, 2, 3, 4]);
  });

  test('begin again where another run may have begun, which is judged by its values', () => {
    const at = (count: number, pass?: number): Drawing => ({
      count,
      metrics: { loss: count },
      ...(pass === undefined ? {} : { pass }),
    });
    const stepsOf = (drawings: readonly Drawing[]) => told(drawings).loss?.map(([step]) => step);
    expect(stepsOf([at(50, 2), at(100, 2), at(0, 1), at(10, 1)])).toEqual([50, 100, 10]);
    expect(stepsOf([at(50), at(100), at(0), at(10)])).toEqual([50, 100, 10]);
    const outer = (count: number): Drawing => ({ title: 'Epochs', count, metrics: {} });
    expect(stepsOf([outer(0), at(50), at(100), outer(1), at(0), at(10)])).toEqual([50, 100, 110]);
    expect(stepsOf([outer(9), at(50), at(100), outer(0), at(0), at(10)])).toEqual([50, 100, 10]);
  });

  test('are at the step that they name, unless it begins again within a pass', () => {
    const at = (count: number, step: number): Drawing => ({
      count,
      steps: { step },
      metrics: { loss: count },
    });
    const steps = (drawings: readonly Drawing[]) => told(drawings).loss?.map(([step]) => step);
    expect(steps([{ count: 0, metrics: {} }, at(1, 10), at(2, 20), at(3, 30)])).toEqual([10, 20, 30]);
    expect(steps([at(1, 1), at(2, 2), at(3, 1), at(4, 2)])).toEqual([1, 2, 3, 4]);
  });

  test('are told apart where they have another title, or count something else', () => {
    const metrics = { loss: 2 };
    expect(
      told([
        { count: 1, metrics: {}, title: 'Loading' },
        { count: 1, metrics, title: 'SFT' },
        { count: 2, metrics: { loss: 1 }, title: 'SFT', total: 110 },
        { count: 1, metrics, title: 'DPO' },
        { count: 9, metrics, title: 'SFT', total: 10 },
        { count: 1, metrics, title: '' },
        { count: 1, metrics, title: '', total: Number.NaN },
      ]),
    ).toEqual({
      loss: [
        [1, 2],
        [2, 1],
      ],
      'DPO loss': [[1, 2]],
      'SFT of 10 loss': [[9, 2]],
      'of 100 loss': [[1, 2]],
      'of ? loss': [[1, 2]],
    });
    // More than were expected, and of a length that differs.
    expect(
      told([
        { count: 100, metrics },
        { count: 101, metrics: { loss: 1 }, total: Number.NaN },
        ...times(9, (at) => ({ count: at, metrics: { loss: at }, total: 200 * (at + 1) })),
      ]),
    ).toEqual({
      loss: [
        [100, 2],
        [101, 1],
      ],
      'of 200 loss': [[0, 0]],
      'of 400 loss': Array.from({ length: 8 }, (_, at) => [at + 1, at + 1]),
    });
    expect(Object.keys(told(times(99, (at) => ({ count: 1, metrics, title: `text ${at}` }))))).toHaveLength(
      MOST_BARS,
    );
  });
});
