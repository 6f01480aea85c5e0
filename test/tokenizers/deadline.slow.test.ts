// Work with a deadline, and the signals that come while it is under way or just before it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { timed } from '../../src/tokenizers/deadline.ts';
import { renderChat } from '../../src/tokenizers/template.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');

test('done, or over', () => {
  expect(timed(60_000, () => 5)).toEqual({ done: 5 });
  expect(
    timed(20, () => {
      for (;;) {
        // for ever
      }
    }),
  ).toEqual({ overrun: true });
});

/** A thread that keeps the time is dear where others have the machine, and a run renders tens of thousands of texts. */
test('a usual rendering takes so little that no clock is set, and a long one has one', () => {
  const clock = vi.spyOn(Script.prototype, 'runInThisContext');
  const render = (content: string) =>
    renderChat(CHAT_ML, { messages: [{ role: 'user', content }], addGenerationPrompt: true });
  render('compiled once');
  const before = clock.mock.calls.length;
  expect(render('Hello.')).toEqual({ text: '<|im_start|>user\nHello.<|im_end|>\n<|im_start|>assistant\n' });
  expect(clock.mock.calls.length).toBe(before);
  expect(render('x'.repeat(100_000))).toHaveProperty('text');
  expect(clock.mock.calls.length).toBe(before + 1);
  clock.mockRestore();
});

const CHAT_ML = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

/** One turn of the event loop: it is busy until the signal has come, and then does work with a deadline. */
const turn = (work: string): string => `
// Not the stream: it writes when the turn is over.
import { existsSync, writeSync } from 'node:fs';
import { timed } from ${JSON.stringify(resolve('src/tokenizers/deadline.ts'))};
process.on('SIGINT', () => {
  writeSync(1, 'heard');
  process.exit(130);
});
setTimeout(() => {
  writeSync(1, 'begun ');
  ${work}
}, 0);
setTimeout(() => process.exit(), 20_000);
`;

const busy = "while (!existsSync('sent')) ;";
const deadline = (work: string, milliseconds = 60_000): string =>
  `writeSync(1, 'done' in timed(${milliseconds}, () => { ${work} }) ? 'done ' : 'over ');`;

test.each([
  ['before it', `${busy} ${deadline('')}`, 'begun done heard'],
  ['before many', `${busy} ${deadline('').repeat(3)}`, 'begun done done done heard'],
  ['in its middle', deadline(busy), 'begun done heard'],
  ['while it has no end', deadline('for (;;) ;', 100), 'begun over heard'],
])('a signal that comes %s is heard', async (_, work, said) => {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof interrupted ü '));
  writeFileSync(join(cwd, 'program.ts'), turn(work));
  const child = spawn(process.execPath, ['--import', LOADER, 'program.ts'], { cwd });
  const exit = once(child, 'close');
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (text === '') {
      child.kill('SIGINT');
      writeFileSync(join(cwd, 'sent'), '');
    }
    text += chunk.toString();
  });
  expect([await exit, text]).toEqual([[130, null], said]);
  rmSync(cwd, { recursive: true });
});
