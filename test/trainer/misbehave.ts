// Starts one of the misbehaving trainers of test/trainers/, and afterwards proves that nothing of it is left.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { TrainerFailure } from '../../src/trainer/failure.ts';
import { startTrainer, type TrainerOptions } from '../../src/trainer/process.ts';
import type { Outcome, Trainer } from '../../src/trainer/trainer.ts';

/** A folder for each way of going wrong, and the `plain.py` that they import: it must be on their PYTHONPATH. */
export const FOLDER = fileURLToPath(new URL('../trainers/', import.meta.url));
/** The reward that sets the misbehaving trainers off. */
export const MARK = 13;

/** Runs `body` against the trainer; whatever happens, no process that it noted may be alive at the end. */
export async function withTrainer(
  name: string,
  body: (trainer: Trainer) => Promise<void>,
  options: Partial<TrainerOptions> = {},
): Promise<void> {
  const failure = await started(name, options, body);
  if (failure !== undefined) throw new Error(`${name} did not start: ${failure.message}`);
}

/** The failure of a trainer that must not start. */
export async function startFailure(
  name: string,
  options: Partial<TrainerOptions> = {},
): Promise<TrainerFailure> {
  const failure = await started(name, options, async () => {});
  if (failure === undefined) throw new Error(`${name} started`);
  return failure;
}

async function started(
  name: string,
  options: Partial<TrainerOptions>,
  body: (trainer: Trainer) => Promise<void>,
): Promise<TrainerFailure | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
  const pids = join(folder, 'pids');
  writeFileSync(pids, '');
  try {
    const start = await startTrainer({
      command: ['python3', join(FOLDER, `${name}.py`)],
      env: { PID_FILE: pids, PYTHONPATH: FOLDER },
      ...options,
    });
    if ('failure' in start) return start.failure;
    try {
      await body(start.trainer);
    } finally {
      await start.trainer.stop();
    }
    return undefined;
  } finally {
    await expectNobodyLeft(readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number));
    rmSync(folder, { recursive: true });
  }
}

export async function expectNobodyLeft(pids: readonly number[]): Promise<void> {
  // SIGKILL is delivered at once, but init may take a moment to reap an orphan.
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie is dead, only unreaped: in a container without an init nobody does it.
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

type Advantages = Outcome<{ readonly advantages: readonly number[] }>;

/** Asks for advantages of [reward, index], one request a reward, all at once. */
export function askAll(trainer: Trainer, rewards: readonly number[]): Promise<Advantages[]> {
  return Promise.all(
    rewards.map((reward, i) => trainer.ask('advantages', { rewards: [reward, i], group_ids: [0, 0] })),
  );
}

export async function askOne(trainer: Trainer, reward: number): Promise<Advantages> {
  return trainer.ask('advantages', { rewards: [reward], group_ids: [0] });
}

/** `ok`, or the failure's kind, for each outcome. */
export function kindsOf(outcomes: readonly Advantages[]): string[] {
  return outcomes.map((outcome) => (outcome.kind === 'failure' ? outcome.failure.kind : outcome.kind));
}

export function failureOf(outcome: Advantages | undefined): TrainerFailure {
  if (outcome?.kind !== 'failure') throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`);
  return outcome.failure;
}
