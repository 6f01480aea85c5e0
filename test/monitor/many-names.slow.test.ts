// Logs with more names than any training has: read in bounded time and memory, what is left out is said, and the names that rules ask
// about are judged wherever they stand.
import { expect, test } from 'vitest';
import { makeWorld, type World } from '../cli/world.ts';

/** More than the arguments that a call can have, and than the series that are kept. */
const NAMES = 150_000;
const STEPS = 20;
const names = (of: string): Record<string, number> =>
  Object.fromEntries(Array.from({ length: NAMES }, (_, at) => [`${of}${at}`, 1]));
const lines = (objects: readonly object[]): string =>
  objects.map((object) => `${JSON.stringify(object)}\n`).join('');
/** Of a loss that falls. */
const losses = (): object[] =>
  Array.from({ length: STEPS }, (_, step) => ({ step: step + 1, loss: 3 - step / STEPS }));

async function monitor(name: string, content: string): Promise<World> {
  const world = makeWorld();
  world.write(name, content);
  expect(await world.run('monitor', name), world.both()).toBe(0);
  return world;
}

const FILES: Readonly<Record<string, readonly [string, () => string]>> = {
  'all in one line': ['log.jsonl', () => lines([{ step: 0, ...names('m') }, ...losses()])],
  'all in an object of a line': ['log.jsonl', () => lines([{ step: 0, metrics: names('m') }, ...losses()])],
  'a few in each of many lines': [
    'log.jsonl',
    () =>
      lines([
        ...Array.from({ length: NAMES / 100 }, (_, step) =>
          Object.fromEntries([
            ['step', 0],
            ...Array.from({ length: 100 }, (__, at) => [`m${step}_${at}`, 1]),
          ]),
        ),
        ...losses(),
      ]),
  ],
  'columns of a table': [
    'log.csv',
    () => {
      const rest = ',1'.repeat(NAMES);
      const header = `step,${Object.keys(names('m')).join(',')},loss`;
      return `${[header, ...Array.from({ length: STEPS }, (_, step) => `${step}${rest},${3 - step / STEPS}`)].join('\n')}\n`;
    },
  ],
  'a name for each entry of trainer_state.json': [
    'trainer_state.json',
    () =>
      JSON.stringify({
        log_history: [...Object.keys(names('m')).map((name) => ({ step: 0, [name]: 1 })), ...losses()],
      }),
  ],
};

test.each(Object.entries(FILES))('%s', async (_, [name, content]) => {
  const world = await monitor(name, content());
  expect(world.both().replaceAll(/\s+/g, ' ')).toContain(
    'There are more than 20,000 series whose name has no role; the others, from m',
  );
  expect(world.out()).toContain(`now ${3 - (STEPS - 1) / STEPS}`);
});

test('more losses than any training has', async () => {
  const many = Array.from({ length: 20_100 }, (_, at) => [`m${at}_loss`, 1]);
  const world = await monitor('log.jsonl', lines([{ step: 0, ...Object.fromEntries(many) }, ...losses()]));
  expect(world.both().replaceAll(/\s+/g, ' ')).toContain(
    'more than 20,000 series whose name has a role; the others, from m20000_loss on, are not read or judged',
  );
});
