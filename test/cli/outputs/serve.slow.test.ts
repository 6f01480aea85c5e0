// `report --serve` beside a check in another process.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { pythonCollate } from '../world.ts';
import { get, listen, serving, until } from './serving.ts';

test('it follows a check in another process, from before it begins until its end', async () => {
  const { url, folder } = await serving();
  const file = join(folder, '.lossproof/last-run.ndjson');
  expect(await get(url)).toContain('.lossproof/last-run.ndjson');
  const events = await listen(url);
  // The trainer answers when it is told to, so that the run is seen while it goes on.
  const wait = 'import os, time\ndef wait():\n    while not os.path.exists("go"): time.sleep(0.01)\n';
  writeFileSync(
    join(folder, 'adapter.py'),
    pythonCollate('(wait() or [[id + 1 for id in row] for row in rows])', wait),
  );
  const loader = ['--import', resolve('node_modules/jiti/lib/jiti-register.mjs'), resolve('src/cli/main.ts')];
  const words = ['check', '--seed', '3', '--only', 'collate/rows-survive', '--cases', '20', '--no-profile'];
  const check = spawn(process.execPath, [...loader, ...words, '--', 'python3', 'adapter.py'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = new Promise((done) => check.on('close', done));
  await until(() => events.changes() > 1);
  const early = await get(`${url}body`);
  expect(early).toContain('tiny');
  expect(early).not.toContain('Waiting for the run to begin');
  expect(readFileSync(file, 'utf8')).not.toContain('property-end');

  writeFileSync(join(folder, 'go'), '');
  expect(await ended).toBe(1);
  const last = await get(`${url}body`);
  expect(last).toContain('lossproof replay');
  await events.stop();
});
