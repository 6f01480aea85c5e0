import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';

test.each([
  ['runs on', 'import time\ntime.sleep(60)\n'],
  ['prints', 'print("step 1")\n'],
  ['ends', ''],
])('a training script in the place of an adapter, which %s, is pointed to trace', async (_, does) => {
  const world = makeWorld(properties);
  world.write('my train.py', `${does}def step(loss):\n    loss.backward()\n`);
  const words = ['doctor', '--hello-timeout', '2', '--', 'python3', 'my train.py'];
  expect(await world.run(...words)).toBe(2);
  expect(world.err().replaceAll(/\s+/g, ' ')).toContain(
    "`npx lossproof trace -- python3 'my train.py'` reads off its gradient what it trains",
  );
  // What may answer is an adapter, whatever else it does.
  world.write('my train.py', `${does}# lossproof\ndef step(loss):\n    loss.backward()\n`);
  expect(await world.run(...words)).toBe(2);
  expect(world.err().split('did not start').at(-1)).not.toContain('lossproof trace');
});
