// Runs the actor-learner script under `lossproof trace`, with Ray or without, and starts nodes of Ray on loopback for it, each in a
// process group of its own, which is all that is ever ended.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { Ledger } from '../../../src/trace/ledger.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { readRun, type Traced } from '../trace/verdicts/run.ts';

const BIN = join(PACKAGE_ROOT, '.venv-ray', 'bin');
const MAIN = join(process.env.LOSSPROOF_DIST ?? join(PACKAGE_ROOT, 'dist'), 'src', 'cli', 'main.js');
const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'ray', 'scripts', 'actor_learner.py');

/** Paths of sockets lie in it, which may be a hundred characters long. */
export const shortFolder = (): string => mkdtempSync('/tmp/lpr');

const environment = (temp: string): Readonly<Record<string, string>> => ({
  OMP_NUM_THREADS: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  PATH: `${BIN}:${process.env.PATH ?? ''}`,
  // Loopback alone: a cluster of one test asks for no token.
  RAY_AUTH_MODE: 'disabled',
  RAY_USAGE_STATS_ENABLED: '0',
  RAY_TEMP: temp,
  // Where workers have what the tracer brings along.
  TMPDIR: dirname(temp),
});

/** @param words of the script; options of `trace` */
export async function traced(words: string, options = ''): Promise<Traced & { readonly folder: string }> {
  const folder = shortFolder();
  const events = ['--events', join(folder, 'events.ndjson')];
  const typed = [...split(options), '--out', join(folder, 'trace'), ...events];
  const run = await execa(
    process.execPath,
    [MAIN, 'trace', ...typed, '--', 'python', SCRIPT, ...split(words)],
    { env: environment(join(folder, 'ray')), reject: false, all: true, stdin: 'ignore' },
  );
  return { ...readRun(folder, run.exitCode, run.all, { words }), folder };
}

export interface Node {
  readonly address: string;
  /** Of its process group. */
  readonly group: number;
  /** What its workers have as a temporary folder. */
  readonly folder: string;
  readonly end: () => Promise<void>;
}

/** `ray start`; without an address, a head. `env`: what its workers inherit. */
export async function startNode(
  options: {
    readonly address?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly resource?: string;
  } = {},
): Promise<Node> {
  const folder = shortFolder();
  const port = await freePort();
  const address = options.address ?? `127.0.0.1:${port}`;
  const where =
    options.address === undefined
      ? ['--head', '--port', String(port), '--include-dashboard=false', '--temp-dir', folder]
      : ['--address', address];
  const resources =
    options.resource === undefined ? [] : ['--resources', JSON.stringify({ [options.resource]: 1 })];
  const log = { file: join(folder, 'log') };
  const child = execa(
    join(BIN, 'ray'),
    [
      'start',
      ...where,
      ...resources,
      '--node-ip-address',
      '127.0.0.1',
      '--num-cpus',
      '2',
      '--object-store-memory',
      '100000000',
      '--block',
    ],
    {
      env: { ...environment(join(folder, 'ray')), ...options.env },
      detached: true,
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      reject: false,
    },
  );
  const group = child.pid ?? 0;
  await answering(address, options.address === undefined ? 1 : 2, child);
  return {
    address,
    group,
    folder,
    end: async () => {
      signal(group, 'SIGTERM');
      await Promise.race([child, new Promise((done) => setTimeout(done, 10_000))]);
      signal(group, 'SIGKILL');
      await child;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What of a ledger does not depend on which process did it. */
export function withoutPlaces({ rows, steps, generations, updates }: Ledger): unknown {
  const sampled = generations.map(({ rank, model, call, row, ...each }) => each);
  return {
    rows: rows.map(({ rank, model, forward, spans, ...row }) => ({
      ...row,
      spans: {
        ...spans,
        origin:
          spans.origin.kind === 'generation'
            ? spans.origin.generations.map((at) => sampled[at])
            : spans.origin,
      },
    })),
    generations: sampled.map((each) => JSON.stringify(each)).sort(),
    steps,
    updates: updates.map(({ rank, model, ...each }) => each),
  };
}

/** Of each property, what it said. */
export function saidBy({ results }: Traced): unknown {
  return results.map(({ id, verdict, reason, cases, setAside, failure }) => ({
    id,
    verdict,
    reason,
    cases,
    setAside,
    sentence: failure?.finding?.sentence,
  }));
}

// --- helpers ---

const split = (words: string): string[] => words.split(' ').filter((word) => word !== '');

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // It is gone already.
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** So many nodes of it are alive. */
async function answering(
  address: string,
  count: number,
  child: { readonly exitCode: number | null },
): Promise<void> {
  const ask = `import ray; ray.init(address=${JSON.stringify(address)}, logging_level='ERROR', log_to_driver=False); print(sum(node['Alive'] for node in ray.nodes()))`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`ray start ended: ${child.exitCode}`);
    try {
      const said = execFileSync(join(BIN, 'python'), ['-c', ask], {
        env: { ...process.env, ...environment('/tmp/none') },
        stdio: 'pipe',
      });
      if (Number(said) >= count) return;
    } catch {
      // Not yet.
    }
  }
}
