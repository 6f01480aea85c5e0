import { expect, test } from 'vitest';
import { worldOf } from '../../../src/check/run.ts';
import { confirm } from '../../../src/check/shrink/shrink.ts';
import { objectTrainer } from '../../../src/index.ts';
import { DROPS_NOTHING } from '../../cli/world.ts';

test('a trainer that can no longer be started is not called flaky', async () => {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'gone', ops: { collate: {} } },
    ops: { collate: () => ({ input_ids: [], attention_mask: [], labels: [] }) },
  });
  const failure = { kind: 'budget', message: 'It was restarted 20 times.', advice: 'Look.' } as const;
  const gone = { ...trainer, ask: async () => ({ kind: 'failure', failure }) as const };
  const world = worldOf(trainer, undefined);
  expect(await confirm(DROPS_NOTHING, gone, world, [[1]], 'error crash')).toBe('not re-run');
});
