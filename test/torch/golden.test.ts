// What TRL's trainers answer is what is recorded in golden/: an upgrade of torch, transformers or TRL that changes any of it
// is seen here first. `golden accept` takes a change.
import { resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeWorld } from '../cli/world.ts';

/** Importing torch takes seconds, on a busy machine many; it is started twice. */
const PATIENCE = 300_000;

test.each(['trl-sft', 'trl-grpo', 'trl-dpo'])(
  'golden/%s is green twice',
  async (adapter) => {
    // What is recorded was asked with one stop id; those that TRL is known to get wrong with a second are no record.
    vi.stubEnv('LOSSPROOF_STOPS', '<|im_end|>');
    const world = makeWorld();
    const python = process.env.LOSSPROOF_PYTHON ?? resolve('.venv/bin/python');
    const check = ['golden', 'check', '--adapter', adapter, '--python', python];
    for (const _ of ['once', 'twice'])
      expect(await world.run(...check, '--dir', resolve('golden', adapter)), world.both()).toBe(0);
  },
  PATIENCE,
);
