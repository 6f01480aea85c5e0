// `check --ray` on a real cluster of two nodes: the verdicts of a run without it, whatever becomes of a node, and nothing left.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, PYTHON, startCluster } from './cluster.ts';
import { GATED, makeFolder, makeGate, onCluster, running, verdicts } from './world.ts';

const SECOND = '127.0.0.3';
/** Kills of a node: `LOSSPROOF_RAY_RUNS=10` before a release. */
const RUNS = Number(process.env.LOSSPROOF_RAY_RUNS ?? 1);
const SHARDS = '.lossproof/shards';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.join(SECOND);
}, 120_000);
afterAll(() => cluster?.stop());

/** One of the tour's trainers: SFT and RL do not write a conversation down in the same way. */
const FAULTY = `
import runpy, sys
sys.argv = ["faulty", "sft-rl-template"]
runpy.run_module("lossproof.examples.faulty", run_name="__main__")
`;

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

  test('a configuration above the folder goes along; what fails is told, and saved here', async () => {
    const folder = makeFolder('training');
    folder.write('mine.py', FAULTY);
    folder.write('../lossproof.config.json', JSON.stringify({ cases: 30 }));
    const adapter = ['--', 'python3', 'mine.py'];
    const only = ['--only', 'tokenize,collate', '--seed', '11'];
    const alone = await folder.check([...only, '--no-corpus', '--events', 'alone.ndjson', ...adapter]);
    const words = [...only, ...onCluster(cluster), '--shards', '2', '--events', 'ray.ndjson'];
    const there = await folder.check([...words, ...adapter], cluster.env);
    expect(alone.exitCode).toBe(1);
    expect(there.exitCode).toBe(1);
    expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
    const [saved = ''] = folder.list('.lossproof/cases');
    expect(there.out).toContain(`npx lossproof replay ${saved.split('.')[0]}`);
  });
});

test('through the client port, as from outside of the cluster: the same again', async () => {
  const folder = makeFolder();
  const chosen = [...CHOSEN, '--bundled'];
  const alone = await folder.check([...chosen, '--events', 'alone.ndjson']);
  const words = [...chosen, '--ray', cluster.client, '--python', PYTHON, '--shards', '2'];
  const there = await folder.check([...words, '--events', 'ray.ndjson'], cluster.env);
  expect(there.err).toBe('');
  expect(there.exitCode).toBe(alone.exitCode);
  expect(there.out).toMatch(
    /^Ray 2\.\d+\.\d+ at ray:\/\/127\.0\.0\.2:\d+ · 2 nodes, 4 CPUs · \d+ properties in 2 shards$/m,
  );
  expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
});

test('a node that is killed half-way: its shards are lost by name and run again, to the same verdicts', {
  repeats: RUNS - 1,
}, async () => {
  const folder = makeFolder();
  const gate = makeGate();
  folder.write('gated.py', GATED);
  const node = await cluster.join('127.0.0.4');
  const chosen = ['--only', 'collate,mask', '--cases', '20', '--seed', '3'];
  const alone = await folder.check([...chosen, '--bundled', '--events', 'alone.ndjson']);
  const words = [...chosen, ...onCluster(cluster), '--shards', '6', '--events', 'ray.ndjson'];
  const there = folder.start([...words, '--', 'python3', 'gated.py'], { ...cluster.env, ...gate.env });
  // On the six CPUs of three nodes: two of them on the one that is killed.
  expect(await gate.reached(6, there.ended)).toBe(true);
  await node.kill();
  gate.open();
  const { exitCode, out, err } = await there.ended;
  const lost = err.match(
    /^lossproof: shard \d of 6 was lost on 127\.0\.0\.4 \(\w+\): the node died; it is run again$/gm,
  );
  expect(lost).toHaveLength(2);
  expect(out.match(/^shard \d of 6 runs again on 127\.0\.0\.[23] \(\w+\)$/gm)).toHaveLength(2);
  expect(exitCode).toBe(alone.exitCode);
  expect(verdicts(folder.read('ray.ndjson'))).toEqual(verdicts(folder.read('alone.ndjson')));
});

test('a worker that is killed: its shard runs again; with no tries left there is no verdict, and the rest is kept', async () => {
  for (const retries of ['1', '0']) {
    const folder = makeFolder();
    const gate = makeGate();
    folder.write('gated.py', GATED);
    const words = ['--only', 'collate,mask', '--seed', '3', ...onCluster(cluster), '--shards', '2'];
    const there = folder.start([...words, '--retries', retries, '--', 'python3', 'gated.py'], {
      ...cluster.env,
      ...gate.env,
    });
    expect(await gate.reached(2, there.ended)).toBe(true);
    await cluster.killWorker();
    gate.open();
    const { exitCode, err } = await there.ended;
    const [, lost, again] =
      /^lossproof: shard (\d) of 2 was lost on \S+ \(\w+\): its worker was killed; (.*)$/m.exec(err) ?? [];
    expect(again).toBe(retries === '1' ? 'it is run again' : 'it is not run again');
    expect(exitCode).toBe(retries === '1' ? 0 : 2);
    if (retries === '1') continue;
    expect(err).toContain(`no verdict: 1 of 2 shards done, kept in ${SHARDS}\n`);
    const alone = `--only collate,mask --seed 3 --shard ${lost}/2 -- python3 gated.py`;
    expect(err).toContain(`npx lossproof check ${alone}\n`);
    // As it says: the missing one alone, then all of them.
    const one = await folder.check(alone.split(' '), gate.env);
    expect(one.exitCode).toBe(0);
    expect((await folder.merge()).exitCode).toBe(0);
  }
});

test('Ctrl-C ends all shards, leaves no process, and says what is kept', async () => {
  const folder = makeFolder();
  const gate = makeGate();
  folder.write('gated.py', GATED);
  // An argument that only these processes have.
  const mark = `mark-${process.pid}`;
  const words = ['--only', 'collate,mask', ...onCluster(cluster), '--shards', '2'];
  const there = folder.start([...words, '--', 'python3', 'gated.py', mark], { ...cluster.env, ...gate.env });
  expect(await gate.reached(2, there.ended)).toBe(true);
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
  expect(err).toContain("ModuleNotFoundError: No module named 'only_on_the_laptop'");
  expect(err).toContain(`File "${folder.path}/mine.py", line 2`);
  expect(err.match(/Traceback/g)).toHaveLength(1);
  expect(err).toMatch(/^ {2}the same as shard \d$/m);
  expect(err).toContain('no verdict: 0 of 2 shards done');
});
