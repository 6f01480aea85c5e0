// Pipes in the place of files: nobody waits for a pipe that was found, nor for the reader of one that was named.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MAIN, type Measured, running } from '../../../scripts/misbehaving/measure.ts';
import { pythonCollate } from '../world.ts';

/** Of every case. */
const WRONG = '[[id + 1 for id in row] for row in rows]';
const CHECK = ['check', '--only', 'collate/rows-survive', '--cases', '10', '--no-profile'];

function folderWith(pipe: string, expression = 'rows'): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.lossproof', 'shards'), { recursive: true });
  writeFileSync(join(folder, 'adapter.py'), pythonCollate(expression));
  execFileSync('mkfifo', [join(folder, pipe)]);
  return folder;
}

/** Killed, without an exit code, if it hangs. */
const run = (folder: string, ...words: readonly string[]): Promise<Measured> =>
  running([MAIN, ...words], folder).ended;
const check = (folder: string, ...words: readonly string[]): Promise<Measured> =>
  run(folder, ...CHECK, ...words, '--', 'python3', 'adapter.py');

test.each(['history.json', 'last-run.ndjson', 'last-run.ndjson.lock', '.gitignore', 'cases'])(
  'a pipe at .lossproof/%s holds nothing up',
  async (name) => {
    expect((await check(folderWith(`.lossproof/${name}`))).code).toBe(0);
    expect((await check(folderWith(`.lossproof/${name}`, WRONG))).code).toBe(1);
  },
);

test.each(['events', 'html', 'junit', 'findings', 'sarif', 'markdown', 'badge'])(
  '--%s into a pipe without a reader is said',
  async (option) => {
    const ended = await check(folderWith('pipe'), `--${option}`, 'pipe');
    expect(ended.text).toContain(
      `--${option}: pipe cannot be written: no process reads this pipe; start its reader first`,
    );
    expect(ended.code).toBe(2);
  },
);

test('a failure stands beside a pipe without a reader', async () => {
  expect((await check(folderWith('pipe', WRONG), '--events', 'pipe')).code).toBe(1);
});

test.each(['events', 'html'])('a reader of --%s gets all of it', async (option) => {
  const folder = folderWith('pipe');
  const reader = spawn('cat', ['pipe'], { cwd: folder });
  let text = '';
  reader.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const read = new Promise((resolve) => reader.once('close', resolve));
  expect((await check(folder, `--${option}`, 'pipe')).code).toBe(0);
  await read;
  expect(text).toMatch(option === 'html' ? /<\/html>\s*$/ : /"run-end".*\n$/);
});

test('a reader that reads nothing is waited for only so long', async () => {
  const folder = folderWith('pipe');
  const deaf = spawn('sh', ['-c', 'exec sleep 1000 < pipe'], { cwd: folder });
  onTestFinished(() => void deaf.kill('SIGKILL'));
  const ended = await check(folder, '--html', 'pipe');
  expect(ended.text).toContain('--html: pipe cannot be written: its reader took nothing for 10 s');
  expect(ended.code).toBe(2);
});

test.each([
  ['report', '.lossproof/last-run.ndjson', ['report']],
  ['merge', '.lossproof/shards/1-of-1.ndjson', ['merge']],
  ['the configuration', 'lossproof.config.json', [...CHECK, '--', 'python3', 'adapter.py']],
  ['a configuration that is a module', 'lossproof.config.mjs', [...CHECK, '--', 'python3', 'adapter.py']],
  ['--resume', 'pipe', [...CHECK, '--resume', 'pipe', '--', 'python3', 'adapter.py']],
  [
    'a part of a run',
    'pipe',
    [...CHECK, '--shard', '1/2', '--events', 'pipe', '--', 'python3', 'adapter.py'],
  ],
  ['init', 'package.json', ['init', '--vitest']],
])('%s does not wait for somebody to write into a pipe', async (_, pipe, words) => {
  expect((await run(folderWith(pipe), ...words)).code).toBe(2);
});

test.each(['.lossproof/profile.json', 'page.html'])('%s of other commands as well', async (pipe) => {
  const folder = folderWith(pipe);
  writeFileSync(join(folder, 'rows.jsonl'), '{"input_ids":[1,2],"labels":[1,2]}\n');
  const words = pipe.endsWith('html')
    ? ['view', 'rows.jsonl', '--html', pipe]
    : ['profile', '--json', pipe, '--', 'python3', 'adapter.py'];
  const ended = await run(folder, ...words);
  expect(ended.text).toContain('no process reads this pipe');
  expect(ended.code).toBe(2);
  expect(readFileSync(join(folder, 'adapter.py'), 'utf8')).not.toBe('');
});
