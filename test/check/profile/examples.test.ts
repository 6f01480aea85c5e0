import { expect, onTestFinished, test } from 'vitest';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { EXAMPLES } from '../../conformance/correct.ts';
import { undeclared } from './profiled.ts';

const OPEN: readonly string[] = ['undeclared', 'silent', 'absent', 'untold'];

test.each(EXAMPLES)(
  'every declared item of the example $name is measured with the declaration taken away',
  async ({ name, open }) => {
    const { trainer } = await open();
    onTestFinished(() => trainer.stop());
    const { measured, items } = await profileTrainer({
      trainer: undeclared(trainer),
      tokenizer: undefined,
    });
    // A KL that is subtracted from the reward leaves no trace in the loss.
    const { kl_placement, ...semantics } = trainer.hello.semantics ?? {};
    const shown = new Set<string>(items.map(({ item }) => item));
    // What has no effect under the objective that it has, and what its sampler does twice, is not told.
    const untold = items.filter(({ verdict, why }) => verdict === 'untold' || why?.includes('has no effect'));
    const told = (item: string): boolean => shown.has(item) && untold.every((row) => row.item !== item);
    const declared = Object.fromEntries(Object.entries(semantics).filter(([item]) => told(item)));
    expect(measured).toMatchObject(kl_placement === 'loss' ? { ...declared, kl_placement } : declared);
    expect(items.filter(({ verdict }) => verdict === 'untold').map(({ fits }) => fits)).toEqual(
      name === 'right_padded' ? [['processed', 'temperature']] : [],
    );
    expect(items.every(({ verdict }) => OPEN.includes(verdict))).toBe(true);
  },
);
