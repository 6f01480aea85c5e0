import { expect, test } from 'vitest';
import { isProblem } from '../../../src/cli/context.ts';
import {
  gpusOfWorkers,
  type Machine,
  mostWorkers,
  thisMachine,
  visibleGpus,
} from '../../../src/cli/trainer/devices.ts';

const machine = (more: Partial<Machine> = {}): Machine => ({ env: {}, nvidia: 0, amd: 0, ...more });
const FOUR = visibleGpus(machine({ nvidia: 4 }));

test.each<[string, Machine, string, readonly string[], boolean]>([
  ['counted', machine({ nvidia: 2 }), 'CUDA_VISIBLE_DEVICES', ['0', '1'], false],
  ['none', machine(), 'CUDA_VISIBLE_DEVICES', [], false],
  [
    'fewer than there are',
    machine({ nvidia: 8, env: { CUDA_VISIBLE_DEVICES: '2, 5' } }),
    'CUDA_VISIBLE_DEVICES',
    ['2', '5'],
    true,
  ],
  ['hidden', machine({ nvidia: 8, env: { CUDA_VISIBLE_DEVICES: '' } }), 'CUDA_VISIBLE_DEVICES', [], true],
  [
    'behind the first that is none nothing is seen',
    machine({ nvidia: 8, env: { CUDA_VISIBLE_DEVICES: '0,-1,2' } }),
    'CUDA_VISIBLE_DEVICES',
    ['0'],
    true,
  ],
  [
    'by their own names',
    machine({ nvidia: 2, env: { CUDA_VISIBLE_DEVICES: 'GPU-8932f937,MIG-1f2e' } }),
    'CUDA_VISIBLE_DEVICES',
    ['GPU-8932f937', 'MIG-1f2e'],
    true,
  ],
  ['of AMD', machine({ amd: 2 }), 'HIP_VISIBLE_DEVICES', ['0', '1'], false],
  [
    'of AMD, as its runtime names them',
    machine({ amd: 4, env: { ROCR_VISIBLE_DEVICES: '1,3' } }),
    'ROCR_VISIBLE_DEVICES',
    ['1', '3'],
    true,
  ],
  [
    'of AMD, where a launcher has set the variable of CUDA alone',
    machine({ amd: 4, env: { CUDA_VISIBLE_DEVICES: '1' } }),
    'CUDA_VISIBLE_DEVICES',
    ['1'],
    true,
  ],
])('visible GPUs: %s', (_, seen, variable, ids, said) => {
  expect(visibleGpus(seen)).toEqual({ variable, ids, said });
});

test('each worker sees its own GPUs, and no two the same', () => {
  expect(gpusOfWorkers(4, 1, FOUR)).toEqual(['0', '1', '2', '3'].map((id) => ({ CUDA_VISIBLE_DEVICES: id })));
  expect(gpusOfWorkers(2, 2, FOUR)).toEqual([
    { CUDA_VISIBLE_DEVICES: '0,1' },
    { CUDA_VISIBLE_DEVICES: '2,3' },
  ]);
});

test('shares of a GPU: one worker on each before any has two', () => {
  const given = gpusOfWorkers(5, 0.5, FOUR);
  if (isProblem(given)) throw new Error(given.problem);
  expect(given.map((each) => each.CUDA_VISIBLE_DEVICES)).toEqual(['0', '1', '2', '3', '0']);
});

test.each([
  [1, 4],
  [2, 2],
  [3, 1],
  [5, 0],
  [0.5, 8],
  [0.34, 8],
  [0.1, 40],
])('with %s each, %i workers fit on four', (share, most) => {
  expect(mostWorkers(share, FOUR)).toBe(most);
});

test.each<[number, number, Machine, string]>([
  [
    8,
    1,
    machine({ nvidia: 4 }),
    '8 workers with --gpus-per-worker 1 do not fit, there are 4 GPUs: say --workers 4, or --gpus-per-worker 0.5',
  ],
  [
    2,
    4,
    machine({ nvidia: 8, env: { CUDA_VISIBLE_DEVICES: '0,1' } }),
    '2 workers with --gpus-per-worker 4 do not fit, CUDA_VISIBLE_DEVICES allows 2 GPUs: say --gpus-per-worker 1',
  ],
  [
    1,
    1,
    machine(),
    '1 worker with --gpus-per-worker 1: no GPU is found on this machine; leave --gpus-per-worker out where the trainer computes without one',
  ],
  [
    2,
    1,
    machine({ nvidia: 2, env: { CUDA_VISIBLE_DEVICES: '-1' } }),
    '2 workers with --gpus-per-worker 1: CUDA_VISIBLE_DEVICES hides all of them; leave --gpus-per-worker out where the trainer computes without one',
  ],
  [
    2,
    1.5,
    machine({ nvidia: 4 }),
    '--gpus-per-worker 1.5: it must be a whole number of GPUs, or the share of one, as 0.5',
  ],
])('%i workers with %s each do not fit, and what would is said', (workers, share, seen, problem) => {
  expect(gpusOfWorkers(workers, share, visibleGpus(seen))).toEqual({ problem });
});

test('what is advised fits', () => {
  for (const gpus of [1, 2, 3, 8])
    for (let workers = 1; workers <= 30; workers++) {
      const visible = visibleGpus(machine({ nvidia: gpus }));
      const given = gpusOfWorkers(workers, 9, visible);
      const advised = isProblem(given) ? /--gpus-per-worker ([\d.]+)$/.exec(given.problem)?.[1] : undefined;
      if (advised === undefined) throw new Error(JSON.stringify(given));
      expect(gpusOfWorkers(workers, Number(advised), visible)).toHaveLength(workers);
    }
});

test('this machine is read without a complaint, and its variables are kept', () => {
  const seen = thisMachine({ CUDA_VISIBLE_DEVICES: '7' });
  expect(visibleGpus(seen).ids).toEqual(['7']);
  expect(Math.min(seen.nvidia, seen.amd)).toBeGreaterThanOrEqual(0);
});
