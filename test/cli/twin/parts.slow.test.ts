// Faults of a script that no single run shows, each with the change that shows it and the words that name it.
import { describe, expect, test } from 'vitest';
import { twin } from './twin.ts';

describe('where runs part', () => {
  test.each([
    [
      'a mean of means',
      '--batch 2 --accumulate 2 --fault means',
      'the weights of the tokens in the loss do not',
    ],
    [
      'lost micro-batches',
      '--batch 1 --accumulate 4 --fault lost',
      'a micro-batch may be lost or counted twice',
    ],
    [
      'gradients that are divided twice',
      '--batch 2 --accumulate 2 --fault scaled',
      'All of them are 0.5 times as large',
    ],
    [
      'targets of a later micro-batch that are shifted',
      '--batch 2 --accumulate 2 --fault shifted',
      'trains the same rows toward other targets',
    ],
    ['other rows', '--batch 2', 'trains other rows: 2 only without the change'],
  ])('%s: the first difference is named', async (_, second, told) => {
    const { code, out } = await twin(['--with', second]);
    expect(out).toContain('✗ pair the runs part ');
    expect(out).toContain(told);
    expect(code).toBe(1);
  });

  test.each([
    ['padding', 'columns', 'the weights of the tokens in the loss do not'],
    ['padding', 'positions', 'the model gives other probabilities to the same tokens'],
    ['batch-order', 'order', 'the model gives other probabilities to the same tokens'],
  ])('%s, in a script with the fault %s', async (change, fault, told) => {
    const { code, out } = await twin(['--change', change], `--fault ${fault}`);
    expect(out).toContain(`✗ ${change} the runs part`);
    expect(out).toContain(told);
    expect(code).toBe(1);
  });

  test.each([
    ['ends', 'The run makes 1 step with the change, and 2 without it.'],
    ['restarts', 'trains other rows'],
    ['rate', 'the learning rate is 0.05 instead of 0.1'],
    ['moments', 'gradients and learning rates agree, and the weights after it do not'],
  ])('a resumed run that %s', async (fault, told) => {
    const { code, out } = await twin(
      ['--save-args', '--save ck.json --steps 2', '--resume-args', '--resume ck.json'],
      `--fault ${fault}`,
    );
    expect(out).toContain('✗ resume the runs part ');
    expect(out).toContain(told);
    expect(code).toBe(1);
  });
});
