// A limit on open files that is too low to start: said as what it is, and never as a package that is missing.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { MAIN } from '../../scripts/misbehaving/measure.ts';
import { NO_VERDICT } from '../../src/cli/exit.ts';
import { filesComplaint } from '../../src/cli/open-files.ts';

const SENTENCE = /^lossproof: too few files may be open at once\. Raise the limit \(ulimit -n 1024\)/;

test.each([32, 48, 64, 100, 128])('with %i files', (count) => {
  const words = ['-c', `ulimit -n ${count}; exec "$0" "$1" list`, process.execPath, MAIN];
  const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
  expect(stderr).toMatch(SENTENCE);
  expect(status).toBe(NO_VERDICT);
});

test('another error is not blamed on the limit', () => {
  expect(filesComplaint(new Error('boom'), () => true)).toBeUndefined();
  expect(filesComplaint(Object.assign(new Error('x'), { code: 'EMFILE' }), () => true)).toMatch(
    /^too few files/,
  );
  expect(filesComplaint(new Error('Cannot find package'), () => false)).toMatch(/^too few files/);
});
