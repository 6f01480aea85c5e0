// `check --ray` on a real cluster of two nodes: the verdicts of a run without it, whatever becomes of a node, and nothing left.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from './cluster.ts';
import { makeFolder, onCluster, running, slowAdapter, verdicts } from './world.ts';

const SECOND = '127.0.0.3';
const SHARDS = '.lossproof/shards';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.join(SECOND);
}, 120_000);
afterAll(() => cluster?.stop());

const CHOSEN = ['--only', 'collate,mask,kl', '--cases', '20', '--seed', '7'];

describe('the same as a run without Ray', () => {
  test('a trainer that holds: verdicts, counts, exit code, and the files of the shards', async () => {
    const folder = makeFolder();
    const alone = await folder.check(['--bundled', ...CHOSEN, '--events', 'alone.ndjson']);
    const words = ['--bundled', ...CHOSEN, ...onCluster(cluster), '--shards', '3', '--events', 'ray.ndjson'];
    const there = await folder.check(words, cluster.env);
    expect(there.err).toBe('');
    expect(there.exitCode).toBe(alone.exitCode);
    expect(there.out).toMatch(
      /^Ray 2\.\d+\.\d+ at 127\.0\.0\.2:\d+ · 2 nodes, 4 CPUs · \d+ properties in 3 shards$/m,
    );
    expect(there.out.match(/^shard \d of 3 done on 127\.0\.0\.[23] \(\w+\): /gm)).toHaveLength(3);
    expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
    expect(folder.list(SHARDS)).toEqual(['.gitignore', ...[1, 2, 3].map((i) => `${i}-of-3.ndjson`)]);
  });

  test('an adapter of the folder with a configuration above it: found there, and its failure is found', async () => {
    const folder = makeFolder();
    folder.write(
      'mine.py',
      'import runpy\nrunpy.run_module("lossproof.examples.faulty", run_name="__main__")\n',
    );
    folder.write('lossproof.config.json', JSON.stringify({ cases: 30 }));
    const only = ['--only', 'mask', '--seed', '11'];
    const alone = await folder.check([
      ...only,
      '--no-corpus',
      '--events',
      'alone.ndjson',
      '--',
      'python3',
      'mine.py',
    ]);
    const words = [...only, '--no-corpus', ...onCluster(cluster), '--shards', '2', '--events', 'ray.ndjson'];
    const there = await folder.check([...words, '--', 'python3', 'mine.py'], cluster.env);
    expect(alone.exitCode).toBe(1);
    expect(there.exitCode).toBe(1);
    expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
  });
});

test('a node that is killed half-way: its shards are lost by name and run again, to the same verdicts', async () => {
  const folder = makeFolder();
  folder.write('slow.py', slowAdapter(0.01));
  const node = await cluster.join('127.0.0.4');
  const chosen = ['--only', 'collate,mask', '--cases', '20', '--seed', '3'];
  const alone = await folder.check([...chosen, '--events', 'alone.ndjson', '--', 'python3', 'slow.py']);
  const words = [
    ...chosen,
    ...onCluster(cluster),
    '--shards',
    '6',
    '--events',
    'ray.ndjson',
    '--',
    'python3',
    'slow.py',
  ];
  const there = folder.start(words, cluster.env);
  // On six CPUs of three nodes each of the six has its own; half-way is when all have judged something.
  const begun = (): boolean => {
    const files = folder.list(SHARDS).filter((name) => name.endsWith('.ndjson'));
    return (
      files.length === 6 && files.every((name) => folder.read(`${SHARDS}/${name}`).includes('"property-end"'))
    );
  };
  let over = false;
  void there.ended.then(() => {
    over = true;
  });
  while (!over && !begun()) await sleep(50);
  await node.kill();
  const { exitCode, err } = await there.ended;
  expect(err).toMatch(
    /^lossproof: shard \d of 6 was lost on 127\.0\.0\.4 \(\w+\): the node died; it is run again$/m,
  );
  expect(exitCode).toBe(alone.exitCode);
  expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
});

test('Ctrl-C ends all shards, leaves no process, and says what is kept', async () => {
  const folder = makeFolder();
  folder.write('slow.py', slowAdapter(0.05));
  // An argument that only these processes have.
  const mark = `mark-${process.pid}`;
  const words = [
    '--only',
    'collate,mask',
    ...onCluster(cluster),
    '--shards',
    '2',
    '--',
    'python3',
    'slow.py',
    mark,
  ];
  const there = folder.start(words, cluster.env);
  while ((await running(mark)).filter((line) => line.includes('slow.py')).length < 4) await sleep(100);
  there.interrupt();
  const { exitCode, err } = await there.ended;
  expect(exitCode).toBe(130);
  expect(err).toContain('interrupted: ending all shards');
  expect(err).toContain('no verdict: 0 of 2 shards done');
  const until = performance.now() + 10_000;
  while ((await running(mark)).length > 0 && performance.now() < until) await sleep(100);
  expect(await running(mark)).toEqual([]);
});

test("an adapter whose imports are missing there: the trainer's own words, once, and no verdict", async () => {
  const folder = makeFolder();
  folder.write('mine.py', 'import lossproof\nimport only_on_the_laptop\n');
  const words = ['--only', 'collate,mask', ...onCluster(cluster), '--shards', '2', '--', 'python', 'mine.py'];
  const { exitCode, err } = await folder.check(words, cluster.env);
  expect(exitCode).toBe(2);
  expect(err).toMatch(/shard \d of 2 gave no verdict on 127\.0\.0\.[23] \(\w+\) \(exit code 2\)/);
  expect(err.match(/ModuleNotFoundError: No module named 'only_on_the_laptop'/g)).toHaveLength(1);
  expect(err).toContain('no verdict: 0 of 2 shards done');
});
