// Ctrl-C in the middle of what others make us compute: it is heard, however far the deadline is.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { timed } from '../../src/tokenizers/deadline.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');

/** A process that begins work which takes for ever, with an hour to do it. */
const endless = (before: string, after = ''): string => `
// Not the stream: the signal may end its write in the middle.
import { writeSync } from 'node:fs';
import { timed } from ${JSON.stringify(resolve('src/tokenizers/deadline.ts'))};
const write = (text) => writeSync(1, text);
${before}
setTimeout(() => {
  const { overrun } = timed(3_600_000, () => {
    write('begun ');
    for (;;) ;
  });
  write(overrun ? 'given up ' : 'done ');
  ${after}
}, 0);
`;

async function interrupted(program: string): Promise<{ how: readonly unknown[]; text: string }> {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof interrupted ü '));
  writeFileSync(join(cwd, 'program.ts'), program);
  const child = spawn(process.execPath, ['--import', LOADER, 'program.ts'], { cwd });
  const exit = once(child, 'close');
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    if (text === '') child.kill('SIGINT');
    text += chunk.toString();
  });
  const how = await exit;
  rmSync(cwd, { recursive: true });
  // Given up is what has been tried more than once.
  return { how, text: text.replaceAll(/(begun )+/g, 'begun ') };
}

test('whoever waits for the signal hears of it, when the work has been tried once more for a moment', async () => {
  const listens = "process.on('SIGINT', () => { write('heard'); process.exit(130); });";
  expect(await interrupted(endless(listens))).toEqual({ how: [130, null], text: 'begun given up heard' });
});

test('where nobody waits for it, the process ends as by any signal', async () => {
  expect(await interrupted(endless(''))).toMatchObject({ how: [null, 'SIGINT'] });
});

test('what comes behind it in the same turn takes no long time either, and short work is still done', async () => {
  const more = `
  const again = timed(3_600_000, () => {
    for (;;) ;
  });
  write(again.overrun ? 'given up ' : 'done ');
  write(timed(3_600_000, () => 'short ').done);`;
  const listens = "process.on('SIGINT', () => { write('heard'); process.exit(130); });";
  expect(await interrupted(endless(listens, more))).toEqual({
    how: [130, null],
    text: 'begun given up given up short heard',
  });
});

test('without a signal: done, or over', () => {
  expect(timed(60_000, () => 5)).toEqual({ done: 5 });
  expect(
    timed(20, () => {
      for (;;) {
        // for ever
      }
    }),
  ).toEqual({ overrun: true });
});
