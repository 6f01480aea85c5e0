// Whole screens, each with its exit code, as a user has them: the command, what is left on the screen, the code.
// Trainers are real processes. Read the files in screens/ as a user would, before blessing a change.

import { expect, test } from 'vitest';
import { blessed, shown, TWO } from './shared/shown.ts';

const PROMPT = ['--only', 'mask/prompt-is-never-trained'];

test('all hold', async () => {
  const { text } = await shown([], '');
  await expect(text).toMatchFileSnapshot(blessed('all-hold'));
});

test('a row for each property', async () => {
  const { text } = await shown(['--rows', '--only', 'mask'], '');
  await expect(text).toMatchFileSnapshot(blessed('rows'));
});

test('one fails among many', async () => {
  const { text } = await shown(['--only', 'mask'], 'early');
  await expect(text).toMatchFileSnapshot(blessed('fails'));
});

test('an exception is an error', async () => {
  // The traceback names the folder: wide enough for a long one.
  const { text } = await shown(TWO, 'raise', { columns: 300 });
  await expect(text).toMatchFileSnapshot(blessed('error'));
});

const KNOWN = {
  'known.json': '{"mask/prompt-is-never-trained": {"reason": "our issue 12, the header is trained"}}',
};

test('a known failure', async () => {
  const { text } = await shown([...TWO, '--known', 'known.json'], 'early', { files: KNOWN });
  await expect(text).toMatchFileSnapshot(blessed('known'));
});

test('a stale one', async () => {
  const { text } = await shown([...TWO, '--known', 'known.json'], '', { files: KNOWN });
  await expect(text).toMatchFileSnapshot(blessed('stale'));
});

test('nothing ran', async () => {
  const { text } = await shown(['--only', 'kl'], '');
  await expect(text).toMatchFileSnapshot(blessed('nothing-ran'));
});

test('a narrow terminal', async () => {
  const { text } = await shown(['--only', 'mask'], 'early', {
    isTty: true,
    columns: 44,
    env: { NO_COLOR: '1' },
  });
  await expect(text).toMatchFileSnapshot(blessed('narrow'));
});

test('a terminal with NO_COLOR', async () => {
  const { text } = await shown(PROMPT, 'early', { isTty: true, env: { NO_COLOR: '1' } });
  expect(text).not.toContain('␛');
  await expect(text).toMatchFileSnapshot(blessed('no-color'));
});

test('a terminal with colour', async () => {
  const { text } = await shown(PROMPT, 'early', { isTty: true });
  await expect(text).toMatchFileSnapshot(blessed('colour'));
});

test('no terminal: plain lines', async () => {
  const { text, world } = await shown(PROMPT, 'early');
  expect(world.both()).not.toContain('\r');
  expect(text).not.toContain('␛');
  await expect(text).toMatchFileSnapshot(blessed('no-tty'));
});
