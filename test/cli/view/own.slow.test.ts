// A trainer that makes no end of its rows is killed, with what it started.
import { expect, test } from 'vitest';
import { isProblem } from '../../../src/cli/context.ts';
import { askTrainer } from '../../../src/cli/view/own.ts';
import { fileSource } from '../../../src/cli/view/source.ts';
import { fake, projectOf } from './own.ts';

test('a trainer that hangs', async () => {
  const world = projectOf();
  const python = fake(world, 'time.sleep(600)');
  const source = await fileSource('rows.jsonl', world.context, { command: 'view' });
  if (isProblem(source)) throw new Error(source.problem);
  const question = { known: 'trl', trainer: 'TRL', config: 'train.yaml', source, files: 1, python } as const;
  const begun = performance.now();
  const told = await askTrainer(question, world.context, 1_000);
  expect(told).toEqual({ because: expect.stringMatching(/^TRL in .*fake made no rows within 1 s$/) });
  expect(performance.now() - begun).toBeLessThan(20_000);
});
