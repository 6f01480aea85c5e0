// An error that nobody caught, thrown from wherever it can be in a real process: exit 2 and not 1, which would say that a
// property fails, the reports of what was found so far, one line to send us, and no trainer left.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { crashes, crashLine } from '../../src/cli/crash.ts';
import { Overrun } from '../../src/tokenizers/deadline.ts';
import { VERSION } from '../../src/version.ts';
import { expectNobodyLeft } from '../trainer/misbehave.ts';
import { pythonCollate } from './world.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

test.each([
  [
    'a timer',
    'setTimeout(() => { throw new RangeError("Invalid string length"); })',
    'RangeError: Invalid string length',
  ],
  [
    'a stack that is full',
    'setImmediate(() => { const f = () => f() + 1; f(); })',
    'RangeError: Maximum call stack size exceeded',
  ],
  [
    'a stream',
    'createReadStream("adapter.py").on("data", () => { throw new TypeError("of a stream"); })',
    'TypeError: of a stream',
  ],
  ['a promise', 'void Promise.reject(new Error("nobody\\nhandles it"))', 'Error: nobody handles it'],
  ['a value that is no error', 'setTimeout(() => { throw "a word"; })', 'a word'],
])('%s', async (_, throws, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'lossproof.config.mjs'),
    `import { createReadStream, existsSync } from 'node:fs';
const timer = setInterval(() => {
  if (!existsSync('go')) return;
  clearInterval(timer);
  ${throws};
}, 20);
export default { trainer: 'python3 adapter.py' };
`,
  );
  writeFileSync(
    join(folder, 'adapter.py'),
    pythonCollate('rows', 'import os\nopen("pid", "w").write(str(os.getpid()))'),
  );
  const child = spawn(
    process.execPath,
    [
      '--import',
      LOADER,
      MAIN,
      'check',
      '--only',
      'collate/*',
      '--cases',
      '2000',
      '--html',
      'r.html',
      '--junit',
      'r.xml',
    ],
    { cwd: folder, env: { ...process.env, NO_COLOR: '1' } },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  const ended = new Promise<readonly unknown[]>((done) => void child.on('close', (...how) => done(how)));
  const last = join(folder, '.lossproof', 'last-run.ndjson');
  while (!(existsSync(last) && readFileSync(last, 'utf8').includes('property-end'))) await sleep(20);
  writeFileSync(join(folder, 'go'), '');
  expect(await ended, text).toEqual([2, null]);
  const lines = text.split('\n').filter((line) => line.includes('defect of lossproof'));
  expect(lines).toEqual([
    expect.stringContaining(
      `please report it with this line: lossproof ${VERSION} · node ${process.versions.node} · `,
    ),
  ]);
  expect(lines[0]).toContain(message);
  expect(text).not.toMatch(/^\s+at /m);
  for (const report of ['r.html', 'r.xml'])
    expect(readFileSync(join(folder, report), 'utf8')).toContain('collate/');
  await expectNobodyLeft([Number(readFileSync(join(folder, 'pid'), 'utf8'))]);
});

test('what takes too long is no defect of ours', () => {
  expect(crashLine(new Overrun('The tokenizer does not come to an end.'))).toBe(
    'The tokenizer does not come to an end.',
  );
});

test('a will that throws keeps no other from being done; what comes to an end is not done again', async () => {
  const done: string[] = [];
  const { atCrash, crash } = crashes({
    say: (line) => done.push(line),
    exit: (code) => done.push(`exit ${code}`),
  });
  atCrash(async () => {
    throw new Error('a full disk');
  });
  atCrash(async () => void done.push('reports'));
  atCrash(async () => void done.push('never'))();
  await crash(new Overrun('too long'));
  await crash(new Error('again'));
  expect(done).toEqual(['lossproof: too long', 'reports', 'exit 2']);
});
