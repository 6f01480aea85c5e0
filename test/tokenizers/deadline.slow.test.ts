// Work with a deadline, and the signals that come while it is under way or just before it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunningScriptOptions, Script } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { timed } from '../../src/tokenizers/deadline.ts';
import { loadTokenizer } from '../../src/tokenizers/load.ts';
import { renderChat } from '../../src/tokenizers/template.ts';
import { familyFolders, realFolders } from './folders.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');

test('done, or over', () => {
  expect(timed(60_000, () => 5)).toEqual({ done: 5 });
  expect(timed(20, endless)).toEqual({ overrun: true });
});

function endless(): never {
  for (;;) {
    // for ever
  }
}

describe('on a machine that has other work', () => {
  beforeEach(() => {
    const begin = Script.prototype.runInThisContext;
    vi.spyOn(Script.prototype, 'runInThisContext').mockImplementation(function (this: Script, options) {
      const { timeout = 0 } = options as RunningScriptOptions;
      return begin.call(this, { timeout: Math.ceil(timeout / SHARES) });
    });
  });
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    ['Mistral Nemo', realFolders['Mistral Nemo']],
    ['Gemma', familyFolders.gemma],
  ])('the tokenizer of %s is made ready', (name, original = '') => {
    // What ships with this package is trusted, and has no deadline.
    const folder = mkdtempSync(join(tmpdir(), 'loss proof slow ü '));
    cpSync(original, folder, { recursive: true });
    expect(loadTokenizer(folder), name).toHaveProperty('tokenizer');
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['loop', () => endless()],
    ['regular expression', () => /(a+)+\0/.test('a'.repeat(64))],
  ])('a %s without an end is given its CPU time, and stopped', (_, work) => {
    const before = process.cpuUsage();
    expect(timed(200, work)).toEqual({ overrun: true });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeGreaterThanOrEqual(200);
  });
});

/** So much of the time others have the machine: the watch goes off after a fraction of the CPU time. */
const SHARES = 50;

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
