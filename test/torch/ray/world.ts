// `check --ray` as a user types it, in a folder of their own, and the same run without Ray to compare with.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import type { PropertyResult } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Cluster, PYTHON } from './cluster.ts';

const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

export interface Ended {
  readonly exitCode: number | undefined;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  interrupt(): void;
  readonly ended: Promise<Ended>;
}

export interface Folder {
  readonly path: string;
  write(name: string, text: string): void;
  /** Names of what lies there. */
  list(folder: string): readonly string[];
  read(name: string): string;
  /** `lossproof check ...words`; with a cluster its token goes along. */
  start(words: readonly string[], env?: Readonly<Record<string, string>>): Started;
  check(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** `lossproof merge` of what is kept there. */
  merge(): Promise<Ended>;
}

/** Commands are typed in the folder `below` of a fresh one. */
export function makeFolder(below = ''): Folder {
  // A space and letters outside ASCII: paths have them.
  const top = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const path = join(top, below);
  mkdirSync(path, { recursive: true });
  const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Started => {
    const child = execa(process.execPath, [MAIN, ...words], {
      cwd: path,
      env: { CI: '', GITHUB_ACTIONS: '', ...env },
      reject: false,
    });
    return {
      interrupt: () => void child.kill('SIGINT'),
      ended: child.then(({ exitCode, stdout, stderr }) => ({ exitCode, out: stdout, err: stderr })),
    };
  };
  const start: Folder['start'] = (words, env) => run(['check', ...words], env);
  return {
    path,
    write: (name, text) => writeFileSync(join(path, name), text),
    list: (folder) => (existsSync(join(path, folder)) ? readdirSync(join(path, folder)).sort() : []),
    read: (name) => readFileSync(join(path, name), 'utf8'),
    start,
    check: (words, env) => start(words, env).ended,
    merge: () => run(['merge']).ended,
  };
}

export function onCluster({ address }: Cluster): readonly string[] {
  return ['--ray', address, '--python', PYTHON];
}

/** What a run found, without its clock, in the order of the ids. */
export function verdicts(events: string): readonly unknown[] {
  return events
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; result: PropertyResult })
    .filter(({ type }) => type === 'property-end')
    .map(({ result: { milliseconds: _, failure, ...result } }) => ({
      ...result,
      ...(failure === undefined ? {} : { given: failure.given, caseId: failure.caseId }),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Command lines of this machine that hold the text. */
export async function running(text: string): Promise<readonly string[]> {
  const { stdout } = await execa('ps', ['-A', '-o', 'stat=,args=']);
  return stdout.split('\n').filter((line) => line.includes(text) && !line.startsWith('Z'));
}

export interface Gate {
  /** Goes along to the nodes. */
  readonly env: Readonly<Record<string, string>>;
  /** Until so many trainers stand before it, or `over` has come to pass; false then. */
  reached(trainers: number, over: Promise<unknown>): Promise<boolean>;
  open(): void;
}

/** A folder that all trainers of `GATED` see, as all nodes are this machine: each waits in the middle of its work. */
export function makeGate(): Gate {
  const path = mkdtempSync(join(tmpdir(), 'lossproof-gate-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return {
    env: { LOSSPROOF_GATE: path },
    async reached(trainers, over) {
      let isOver = false;
      void over.then(() => {
        isOver = true;
      });
      while (readdirSync(path).length < trainers) {
        if (isOver) return false;
        await sleep(50);
      }
      return true;
    },
    open: () => writeFileSync(join(path, 'open'), ''),
  };
}

/** The bundled example, which stops behind some answers until the gate is open. */
export const GATED = `
import os, runpy, time
from lossproof import _channel
gate, answered, write = os.environ["LOSSPROOF_GATE"], 0, _channel.write
def gated(text):
    global answered
    write(text)
    answered += text.count("\\n")
    if answered > 25:
        open(os.path.join(gate, str(os.getpid())), "w").close()
        while not os.path.exists(os.path.join(gate, "open")):
            time.sleep(0.05)
_channel.write = gated
runpy.run_module("lossproof.examples.left_padded", run_name="__main__")
`;
