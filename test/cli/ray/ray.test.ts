// What is printed of a cluster as the driver tells of it; the driver is a script that says it and nothing more.
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorld } from '../world.ts';

test.each([
  ['10.0.0.5:8265', 'dashboard: http://10.0.0.5:8265'],
  ['https://ray.example/dashboard', 'dashboard: https://ray.example/dashboard'],
  [null, undefined],
])('a dashboard at %s', async (dashboard, line) => {
  const world = makeWorld();
  const said = [
    { cluster: { ray: '2.60.0', nodes: 8, cpus: 256, gpus: 64, dashboard, shards: 2 } },
    { over: true },
  ];
  const words = said.map((each) => `echo '${JSON.stringify(each)}'`);
  // It reads its job, and until the input ends, as the real one does.
  chmodSync(world.write('python', `#!/bin/sh\nread job\n${words.join('\n')}\ncat > rest\n`), 0o755);
  expect(await world.run('check', '--bundled', '--ray', '10.0.0.5:6379', '--python', './python')).toBe(2);
  expect(world.err()).toContain('no verdict: 0 of 2 shards done');
  const lines = world.out().split('\n');
  const at = lines.indexOf(
    'Ray 2.60.0 at 10.0.0.5:6379 · 8 nodes, 256 CPUs, 64 GPUs · 1 property in 2 shards',
  );
  expect(at).toBeGreaterThan(0);
  expect(lines.slice(at + 1)).toEqual(line === undefined ? [''] : [line, '']);
});
