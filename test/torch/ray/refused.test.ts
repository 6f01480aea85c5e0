// What is wrong with a cluster, or with what is asked of it: one sentence and exit code 2, before any shard runs.
import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Cluster, PYTHON, startCluster } from './cluster.ts';
import { makeFolder, onCluster } from './world.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 120_000);
afterAll(() => cluster?.stop());

const refusal = async (words: readonly string[], env = {}): Promise<string> => {
  const { exitCode, err } = await makeFolder().check(['--bundled', '--only', 'mask', ...words], env);
  expect(exitCode).toBe(2);
  expect(err.trim().split('\n')).toHaveLength(1);
  return err.trim();
};

test('nobody listens at the address', async () => {
  expect(await refusal(['--ray', '127.0.0.1:1', '--python', PYTHON])).toMatch(
    /^lossproof: no Ray cluster answers at 127\.0\.0\.1:1: Connection refused; /,
  );
});

test('who listens there is no Ray', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await refusal(['--ray', address, '--python', PYTHON])).toMatch(
    new RegExp(`^lossproof: no Ray cluster answers at ${address} within 10 s; `),
  );
});

test.each([
  ['127.0.0.1', 'names no host and port'],
  ['http://127.0.0.1:8265', 'is no address of a cluster'],
])('%s is no address', async (address, why) => {
  expect(await refusal(['--ray', address, '--python', PYTHON])).toContain(why);
});

test('a Ray of another version: both are named', async () => {
  const folder = makeFolder();
  const python = join(folder.path, 'other-python');
  const before =
    'import ray, runpy; ray.__version__ = "2.59.0"; runpy.run_module("lossproof_ray", run_name="__main__")';
  folder.write('other-python', `#!/bin/sh\nexec '${PYTHON}' -c '${before}'\n`);
  chmodSync(python, 0o755);
  const { exitCode, err } = await folder.check(
    ['--bundled', '--only', 'mask', '--ray', cluster.address, '--python', python],
    cluster.env,
  );
  expect(exitCode).toBe(2);
  expect(err).toMatch(
    /^lossproof: the cluster at \S+ has Ray 2\.60\.0 and Python \S+, and here are Ray 2\.59\.0 and Python \S+: `pip install "ray\[default\]==2\.60\.0"`/,
  );
});

test('a Python without Ray', async () => {
  const words = [
    '--ray',
    cluster.address,
    '--python',
    join(PYTHON, '..', '..', '..', '.venv', 'bin', 'python'),
  ];
  expect(await refusal(words, cluster.env)).toMatch(
    /has no ray: `\S+ -m pip install "ray\[default\]==2\.60\.0"`/,
  );
});

test('a token that is not that of the cluster', async () => {
  expect(await refusal(onCluster(cluster), { ...cluster.env, RAY_AUTH_TOKEN: 'a'.repeat(64) })).toMatch(
    /^lossproof: the cluster at \S+ asks for a token, and the one here is missing or another: /,
  );
});

test.each([
  [
    ['--gpus-per-worker', '3'],
    'a shard asks for 3 GPUs, and no node of the cluster has more than 0 GPUs (--gpus-per-worker)',
  ],
  [
    ['--cpus-per-worker', '64'],
    'a shard asks for 64 CPUs, and no node of the cluster has more than 2 CPUs (--cpus-per-worker)',
  ],
  [
    ['--memory-per-worker', '90TiB'],
    'a shard asks for 92160.0 GiB of memory, and no node of the cluster has more than',
  ],
])('%s: what no node has', async (asked, said) => {
  expect(await refusal([...onCluster(cluster), ...asked], cluster.env)).toContain(said);
});

test('a file of --ray-env that is none', async () => {
  expect(await refusal([...onCluster(cluster), '--ray-env', 'none.json'])).toMatch(
    /^lossproof: --ray-env: none\.json cannot be read/,
  );
});
