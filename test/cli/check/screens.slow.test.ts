// Whole screens of trainers that crash, hang, or take so long that a live line is shown; screens.test.ts has the others.

import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { widthOf } from '../../../src/report/text/visible.ts';
import { liveStates } from './screen.ts';
import { blessed, shown, TWO } from './shared/shown.ts';

const ONE = ['--only', 'mask/padding-is-never-trained'];

test.each([
  // Each marked case in flight costs two restarts.
  ['a crash', 'crash', 'crash', [...ONE, '--cases', '10']],
  ['a hang', 'hang', 'hang', [...ONE, '--cases', '2', '--no-profile', '--op-timeout', '0.5']],
])('%s is an error', async (_, mode, name, words) => {
  const { text } = await shown(words, mode);
  await expect(text).toMatchFileSnapshot(blessed(name));
});

test('interrupted with Ctrl-C on a terminal', async () => {
  let typed = false;
  const { text } = await shown(['--only', 'mask/p*,mask/is-zero-or-one,mask/row-*'], '', {
    isTty: true,
    env: { NO_COLOR: '1' },
    onWrite(both, { interrupt }) {
      if (typed || !both.includes('holds        mask/row-holds')) return;
      typed = true;
      interrupt();
    },
  });
  await expect(text).toMatchFileSnapshot(blessed('interrupted'));
});

test('the live line says which property, how far and how fast, then that it shrinks, and leaves nothing behind', async () => {
  const { text, world } = await shown(TWO, 'slow', { isTty: true, columns: 80 });
  const states = liveStates(world.both()).map(stripVTControlCharacters);
  expect(states).toContainEqual(
    expect.stringMatching(/^1 of 2 {2}mask\/prompt-is-never-trained {2}\d+\/100 cases, [\d.,]+ a second$/),
  );
  expect(states).toContainEqual(
    expect.stringMatching(
      /^1 of 2 {2}mask\/prompt-is-never-trained {2}fails; shrinking: \d+ smaller cases?$/,
    ),
  );
  for (const state of states.filter((each) => /^\d of/.test(each))) expect(widthOf(state)).toBeLessThan(80);
  expect(text).not.toMatch(/ of 2 /);
});

test.each([
  ['in CI', { CI: 'true' }],
  ['on a dumb terminal', { TERM: 'dumb' }],
])('%s there is no live line', async (_, env) => {
  const { world } = await shown(ONE, 'slow', { isTty: true, env });
  expect(world.both()).not.toContain('\r');
});
