// Our learning rates are those of transformers' schedulers, step by step. The numbers come from transformers 5.18:
// `get_scheduler(kind, SGD(lr=1e-3), num_warmup_steps, num_training_steps)`, its rate before the first step and after each.
import { expect, test } from 'vitest';
import { KNOWN, rateAt } from '../../../properties/monitor/steps/schedules.ts';

const PEAK = 1e-3;
const OF_TRANSFORMERS: readonly (readonly [string, number, number, readonly number[]])[] = [
  [
    'linear',
    5,
    20,
    [
      0.0, 0.0002, 0.0004, 0.0006, 0.0008, 0.001, 0.0009333333333, 0.0008666666667, 0.0008, 0.0007333333333,
      0.0006666666667, 0.0006, 0.0005333333333, 0.0004666666667, 0.0004, 0.0003333333333, 0.0002666666667,
      0.0002, 0.0001333333333, 6.666666667e-5, 0.0,
    ],
  ],
  [
    'cosine',
    5,
    20,
    [
      0.0, 0.0002, 0.0004, 0.0006, 0.0008, 0.001, 0.0009890738004, 0.0009567727288, 0.0009045084972,
      0.0008345653032, 0.00075, 0.0006545084972, 0.0005522642316, 0.0004477357684, 0.0003454915028, 0.00025,
      0.0001654346968, 9.549150281e-5, 4.322727118e-5, 1.092619963e-5, 0.0,
    ],
  ],
  [
    'cosine_with_restarts',
    2,
    12,
    [
      0.0, 0.0005, 0.001, 0.0009755282581, 0.0009045084972, 0.0007938926261, 0.0006545084972, 0.0005,
      0.0003454915028, 0.0002061073739, 9.549150281e-5, 2.447174185e-5, 0.0,
    ],
  ],
  [
    'polynomial',
    4,
    20,
    [
      0.0, 0.00025, 0.0005, 0.00075, 0.001, 0.00093750625, 0.0008750125, 0.00081251875, 0.000750025,
      0.00068753125, 0.0006250375, 0.00056254375, 0.00050005, 0.00043755625, 0.0003750625, 0.00031256875,
      0.000250075, 0.00018758125, 0.0001250875, 6.259375e-5, 1e-7,
    ],
  ],
  ['constant', 0, 10, [0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001]],
  [
    'constant_with_warmup',
    4,
    10,
    [0.0, 0.00025, 0.0005, 0.00075, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001],
  ],
  [
    'inverse_sqrt',
    4,
    20,
    [
      0.0, 0.00025, 0.0005, 0.00075, 0.001, 0.000894427191, 0.0008164965809, 0.000755928946, 0.0007071067812,
      0.0006666666667, 0.000632455532, 0.0006030226892, 0.0005773502692, 0.0005547001962, 0.0005345224838,
      0.0005163977795, 0.0005, 0.0004850712501, 0.0004714045208, 0.0004588314677, 0.0004472135955,
    ],
  ],
];

test.each(OF_TRANSFORMERS)('%s, warm-up %i of %i steps', (kind, warmup, steps, rates) => {
  for (const [step, rate] of rates.entries())
    expect(Math.abs(rateAt({ kind, peak: PEAK, warmup, steps }, step) - rate), `step ${step}`).toBeLessThan(
      1e-12,
    );
});

test('every schedule that is judged is compared', () => {
  expect(OF_TRANSFORMERS.map(([kind]) => kind).sort()).toEqual([...KNOWN].sort());
});
