// The executable in this Node, in an older one, and where it cannot start.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { NO_VERDICT } from '../../src/cli/exit.ts';
import { nodeComplaint } from '../../src/cli/node-version.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

function run(preload: string, ...argv: readonly string[]) {
  const words = ['--import', LOADER, '--import', `data:text/javascript,${encodeURIComponent(preload)}`, MAIN];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...words, ...argv], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('the executable refuses an older Node in one sentence, with the exit code of no verdict', () => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.0' } })`;
  const { status, stdout, stderr } = run(pretend, 'check');
  expect({ status, stdout }).toEqual({ status: NO_VERDICT, stdout: '' });
  expect(stderr).toBe(`lossproof: ${nodeComplaint('20.18.0')}\n`);
});

test('the executable works in this Node, and its exit code is that of the program', () => {
  const { status, stdout } = run('', '--version');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('installed by pip, it names its Node below its own version', () => {
  const { stdout } = run(`process.env.LOSSPROOF_COMMAND = 'lossproof'`, '--version');
  expect(stdout.split('\n').slice(1)).toEqual([`Node ${process.versions.node}`, '']);
});

/** A module that executable.ts imports fails: the same as one that is missing. */
const BROKEN = `
  import v8 from 'node:v8';
  import { syncBuiltinESMExports } from 'node:module';
  v8.setFlagsFromString = () => { throw new Error('boom'); };
  syncBuiltinESMExports();`;

test('what cannot even start has no verdict', () => {
  const { status, stderr } = run(BROKEN, 'list');
  expect(status).toBe(NO_VERDICT);
  expect(stderr).toMatch(/^lossproof cannot start; .*\nError: boom/);
});
