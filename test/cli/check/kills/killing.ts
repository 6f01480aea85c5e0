// A command that is ended at a moment of chance: killed, by Ctrl-C twice, or by a terminal that hangs up.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import fc from 'fast-check';
import { expect } from 'vitest';
import { factOf, processes } from '../../../../src/trainer/processes/proc.ts';
import { MARK } from '../../../../src/trainer/processes/strays.ts';
import { PACKAGE_ROOT } from '../../../../src/version.ts';

/** A test at a length that `npm run test:mutation` bears; `npm run test:kills` has 10,000. */
export const KILLS = Number(process.env.LOSSPROOF_KILLS ?? 24);
export const LANES = Math.min(2, availableParallelism());
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

/** Inherited by every trainer of this file, beside the mark of its own run. */
const OURS = `LOSSPROOF_KILLS_OF=${process.pid}`;

const ENDS: readonly (readonly NodeJS.Signals[])[] = [['SIGKILL'], ['SIGINT', 'SIGINT'], ['SIGHUP']];
/** Milliseconds between the first Ctrl-C and the second, at most. */
const MOST_BETWEEN = 100;
/** Kills, those of a run that finds failures, and by which signals; trainers that were still seen afterwards. */
export const counted = { kills: 0, failing: 0, trainers: 0, by: new Map<string, number>() };

export interface Command {
  readonly words: readonly string[];
  /** Of its own accord. */
  readonly code: number;
  /** From its first word to its end, where nobody ends it. */
  readonly milliseconds: number;
}

export interface Ended {
  readonly code: number | undefined;
  readonly text: string;
  /** By which signals, and which kill this was; absent where it ended before. */
  readonly how?: string;
}

export const start = (cwd: string, words: readonly string[]) =>
  execa(process.execPath, [MAIN, ...words], {
    cwd,
    reject: false,
    all: true,
    env: { LOSSPROOF_KILLS_OF: String(process.pid) },
  });

/** Trainers that live, by the two things in their environment. */
export const trainers = (): readonly number[] =>
  processes().filter((pid) => {
    const environment = factOf(pid, 'environ')?.split('\0') ?? [];
    return environment.includes(OURS) && environment.some((each) => each.startsWith(`${MARK}=`));
  });

/** A run that nobody ends. */
export async function timed(cwd: string, words: readonly string[], code: number): Promise<Command> {
  const child = start(cwd, words);
  let begun = performance.now();
  child.all?.once('data', () => {
    begun = performance.now();
  });
  const ended = await child;
  expect(ended.exitCode, ended.all).toBe(code);
  return { words, code, milliseconds: performance.now() - begun };
}

/** At a moment that is drawn by `chance`, one time in eight also before its first word. */
export async function killed(cwd: string, command: Command, chance: number): Promise<Ended> {
  const child = start(cwd, command.words);
  const [early = 0, share = 0, between = 0] = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), {
    numRuns: 3,
    seed: chance,
  });
  const speaks = new Promise((resolve) => void child.all?.once('data', resolve));
  if (early > 0.125) await Promise.race([child, speaks]);
  const before = await Promise.race([child, sleep(share * command.milliseconds).then(() => undefined)]);
  if (before !== undefined) {
    expect(before.exitCode, before.all).toBe(command.code);
    return { code: before.exitCode, text: before.all ?? '' };
  }
  const signals = ENDS[chance % ENDS.length] ?? [];
  for (const [index, signal] of signals.entries()) {
    if (index > 0) await sleep(between * MOST_BETWEEN);
    child.kill(signal);
  }
  const { exitCode, signal, all } = await child;
  const how = `${signals.join(', ')}: kill ${++counted.kills}`;
  counted.by.set(signals.join(', '), (counted.by.get(signals.join(', ')) ?? 0) + 1);
  if (command.code !== 0) counted.failing++;
  if (counted.kills % 500 === 0) process.stderr.write(`${counted.kills} of ${KILLS} kills\n`);
  // A signal ends whoever has not begun to hear it, and comes too late for whoever has ended.
  expect([130, command.code, ...signals], `${how}: ${all}`).toContain(exitCode ?? signal);
  counted.trainers += trainers().length;
  return { code: exitCode, text: all ?? '', how };
}
