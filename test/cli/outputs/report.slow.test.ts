// `report` as a process: its standard input.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { eventLine } from '../../../src/report/machine/ndjson.ts';
import { result, runStart } from '../../report/results.ts';
import { makeWorld } from '../world.ts';

const START = eventLine(runStart(['a/b']));
const PASSES = eventLine({ type: 'property-end', result: result({ id: 'a/b' }) });
const END = eventLine({ type: 'run-end', interrupted: false, milliseconds: 1_234 });

test('standard input is a file called -', async () => {
  const world = makeWorld();
  const child = spawn(
    process.execPath,
    [
      '--import',
      resolve('node_modules/jiti/lib/jiti-register.mjs'),
      resolve('src/cli/main.ts'),
      'report',
      '-',
    ],
    { cwd: world.folder },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  child.stdin.end(START + PASSES + END);
  expect(await new Promise((done) => child.on('close', done))).toBe(0);
  expect(text).toBe(
    'my-trainer 0.4 · 1 property: 1 holds · seed 1836021 · 1.2 s\nwrote lossproof-report.html\n',
  );
});
