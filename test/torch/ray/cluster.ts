// A Ray cluster on loopback: a head and as many nodes as are asked for, each in a process group of its own, which is all that is
// ever ended. Whatever an address is, it is this machine's.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';

/** Set up by `npm run setup:trainers`. */
export const PYTHON = join(PACKAGE_ROOT, '.venv-ray', 'bin', 'python');
const RAY = join(PACKAGE_ROOT, '.venv-ray', 'bin', 'ray');
if (!existsSync(RAY)) throw new Error('there is no .venv-ray; `npm run setup:trainers` makes it');

export interface Node {
  readonly ip: string;
  /** As a machine ends that loses power: all of its processes at once. */
  kill(): Promise<void>;
}

export interface Cluster {
  readonly address: string;
  /** The same from outside: `ray://HOST:PORT`. */
  readonly client: string;
  /** Holds the token that the cluster asks for: whoever may run something there may run anything here. */
  readonly env: Readonly<Record<string, string>>;
  join(ip: string): Promise<Node>;
  /** Ends one of the workers that run a shard, as an operating system does that is out of memory. */
  killWorker(): Promise<void>;
  stop(): Promise<void>;
}

const CPUS = '2';
const HEAD = '127.0.0.2';

export async function startCluster(): Promise<Cluster> {
  // Short: the name of a socket in it has a bound.
  const folder = mkdtempSync('/tmp/lr-');
  const env = { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: randomBytes(32).toString('hex') };
  const nodes: Node[] = [];
  const roots: number[] = [];
  const begin = async (ip: string, ...options: readonly string[]): Promise<{ node: Node; said: string }> => {
    const words = ['start', ...options, '--node-ip-address', ip, '--num-cpus', CPUS, '--block'];
    const small = ['--object-store-memory', '100000000', '--disable-usage-stats'];
    const child = execa(RAY, [...words, ...small], { env, detached: true, reject: false, all: true });
    const { pid } = child;
    if (pid !== undefined) roots.push(pid);
    const node: Node = {
      ip,
      async kill() {
        // Workers have groups of their own, and outlive what has started them for some seconds.
        for (const each of pid === undefined ? [] : [pid, ...(await below(pid))]) end(each);
        if (pid !== undefined) end(-pid);
        await child;
      },
    };
    nodes.push(node);
    let said = '';
    const up = new Promise<boolean>((resolve) => {
      child.all.on('data', (chunk: Buffer) => {
        said += String(chunk);
        // Said last; nothing is read of it before.
        if (said.includes('block forever')) resolve(true);
      });
      void child.then(() => resolve(false));
    });
    if (await up) return { node, said };
    throw new Error(`a node of Ray did not start:\n${said}`);
  };
  const head = ['--head', '--port', '0', '--include-dashboard=false', '--temp-dir', folder];
  const port = await freePort();
  const { said } = await begin(HEAD, ...head, '--ray-client-server-port', port);
  const address = /--address='([^']+)'/.exec(said)?.[1];
  if (address === undefined) throw new Error(`Ray does not say where it is:\n${said}`);
  return {
    address,
    client: `ray://${HEAD}:${port}`,
    env,
    join: async (ip) => (await begin(ip, '--address', address)).node,
    async killWorker() {
      const { stdout } = await execa('ps', ['-A', '-o', 'pid=,args=']);
      const shards = stdout.split('\n').filter((line) => /^\s*\d+ ray::Shard/.test(line));
      const ours = (await Promise.all(roots.map(below))).flat();
      const worker = shards.map((line) => Number.parseInt(line, 10)).find((pid) => ours.includes(pid));
      if (worker === undefined) throw new Error('no worker runs a shard');
      end(worker);
    },
    async stop() {
      for (const node of nodes.toReversed()) await node.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** Every process that this one has started, and those in turn. */
async function below(pid: number): Promise<readonly number[]> {
  const { stdout } = await execa('ps', ['-A', '-o', 'pid=,ppid=']);
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const children = (parent: number): readonly number[] =>
    pairs.filter(([, above]) => above === parent).flatMap(([child = 0]) => [child, ...children(child)]);
  return children(pid);
}

/** Ray wants a number for its client, which is the same on every machine unless it is told. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, HEAD, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return String(port);
}
