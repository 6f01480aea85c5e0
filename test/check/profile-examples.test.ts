import { expect, onTestFinished, test } from 'vitest';
import { profileTrainer } from '../../src/check/profile/profile.ts';
import { startTrainer } from '../../src/index.ts';
import { undeclared } from './profiled.ts';

test.each(['left_padded', 'right_padded', 'stop_excluded'])(
  'every declared item of the example %s is measured with the declaration taken away',
  async (module) => {
    const started = await startTrainer({
      command: ['python3', '-m', `trainproof.examples.${module}`],
      cwd: '.',
    });
    if ('failure' in started) throw new Error(started.failure.message);
    onTestFinished(() => started.trainer.stop());
    const { measured, items } = await profileTrainer({
      trainer: undeclared(started.trainer),
      tokenizer: undefined,
    });
    // A KL that is subtracted from the reward leaves no trace in the loss.
    const { kl_placement, ...declared } = started.trainer.hello.semantics ?? {};
    expect(measured).toMatchObject(kl_placement === 'loss' ? { ...declared, kl_placement } : declared);
    expect(items.every(({ verdict }) => ['undeclared', 'silent', 'absent'].includes(verdict))).toBe(true);
  },
);
