import { expect, onTestFinished, test } from 'vitest';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { startTrainer } from '../../../src/index.ts';
import { undeclared } from './profiled.ts';

const OPEN: readonly string[] = ['undeclared', 'silent', 'absent', 'untold'];

test.each(['left_padded', 'right_padded', 'stop_excluded', 'data_parallel'])(
  'every declared item of the example %s is measured with the declaration taken away',
  async (module) => {
    const started = await startTrainer({
      command: ['python3', '-m', `lossproof.examples.${module}`],
      cwd: '.',
    });
    if ('failure' in started) throw new Error(started.failure.message);
    onTestFinished(() => started.trainer.stop());
    const { measured, items } = await profileTrainer({
      trainer: undeclared(started.trainer),
      tokenizer: undefined,
    });
    // A KL that is subtracted from the reward leaves no trace in the loss.
    const { kl_placement, ...semantics } = started.trainer.hello.semantics ?? {};
    const shown = new Set<string>(items.map(({ item }) => item));
    // What has no effect under the objective that it has, and what its sampler does twice, is not told.
    const untold = items.filter(({ verdict, why }) => verdict === 'untold' || why?.includes('has no effect'));
    const told = (item: string): boolean => shown.has(item) && untold.every((row) => row.item !== item);
    const declared = Object.fromEntries(Object.entries(semantics).filter(([item]) => told(item)));
    expect(measured).toMatchObject(kl_placement === 'loss' ? { ...declared, kl_placement } : declared);
    expect(items.filter(({ verdict }) => verdict === 'untold').map(({ fits }) => fits)).toEqual(
      module === 'right_padded' ? [['processed', 'temperature']] : [],
    );
    expect(items.every(({ verdict }) => OPEN.includes(verdict))).toBe(true);
  },
);
