// What docs/mutate.md prints of the trainer of docs/example is what it prints.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

test('the example of docs/mutate.md, its survivor, its counts and the line of check', async () => {
  const page = readFileSync(join(DOCS, 'mutate.md'), 'utf8');
  const printed = page.split('```\n').find((block) => block.startsWith('◇ my_trainer.py'));
  const line = /^mutate: .* \d{4}-\d\d-\d\d$/m.exec(page)?.[0] ?? '';
  if (printed === undefined || line === '') throw new Error('docs/mutate.md prints no example');
  const world = makeWorld(properties, { columns: 100 });
  for (const name of ['adapter.py', 'my_trainer.py', 'lossproof.config.json'])
    copyFileSync(join(DOCS, 'example', name), join(world.folder, name));
  const asked = ['--seed', '1', '--cases', '20'];
  expect(await world.run('mutate', ...asked), world.both()).toBe(0);
  expect(words(world.out())).toContain(words(printed));
  expect(await world.run('check', ...asked), world.both()).toBe(0);
  expect(world.out()).toContain(line.replace(/, \d{4}-\d\d-\d\d$/, ''));
});

/** Which of two properties finds a change first, one by an error, is a matter of time. */
const words = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replace(/ \(\d+ by an error\)/, '')
    .trim();
