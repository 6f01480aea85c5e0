import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readBytes, readGiven } from '../../src/outside/file.ts';

describe.skipIf(process.platform === 'win32')('what a user names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof given '));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  /** A process of its own: who opens a pipe waits for the other end. */
  const filled = (text: string) =>
    spawn(process.execPath, [
      '-e',
      'require("fs").writeFileSync(process.argv[1], process.argv[2])',
      pipe,
      text,
    ]);

  test('may be a pipe, as a shell makes of <(...), which is read to its end', () => {
    const text = 'long '.repeat(20_000);
    filled(text);
    expect(readGiven(pipe)).toEqual({ ok: Buffer.from(text) });
  });

  test('is not read beyond its bound, pipe or file', () => {
    filled('long '.repeat(20_000));
    expect(readGiven(pipe, 1_000)).toEqual({ complaint: expect.stringContaining('more than 1,000 bytes') });
    const file = join(folder, 'file');
    writeFileSync(file, 'long');
    expect(readGiven(file, 3)).toEqual({ complaint: 'it has 4 bytes; 3 are read at most' });
    expect(readGiven(file, 4)).toEqual({ ok: Buffer.from('long') });
  });

  test('is no device, and what others may have put there is no pipe either', () => {
    expect(readGiven('/dev/zero')).toEqual({ complaint: 'it is no file but a pipe or a device' });
    expect(readBytes(pipe)).toEqual({ complaint: 'it is no file but a pipe or a device' });
    expect(readGiven(join(folder, 'none'))).toEqual({ complaint: expect.stringContaining('ENOENT') });
    expect(readGiven(folder)).toEqual({ complaint: 'it is a folder' });
  });
});
