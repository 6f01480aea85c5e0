// `monitor -` as a process: what it has told when it is killed, ended, or when nobody listens any more.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { makeWorld } from '../world.ts';

const KL = ['--only', 'kl-spike,finite-training'];
const LAST_RUN = join('.lossproof', 'last-run.ndjson');

/** Lines of steps [from, to]; from step 41 on the KL is another where `jumps`. */
function lines(from: number, to: number, { jumps = false, nan = false } = {}): string {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const step = from + at;
    const wave = Math.sin(step * 12.9898) * 0.01;
    const loss = nan && step > 40 ? Number.NaN : 0.5 + wave;
    return `{"step": ${step}, "loss": ${loss}, "kl": ${jumps && step > 40 ? 5 : 0.05 + wave}, "reward": ${0.4 + wave}}\n`;
  }).join('');
}

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the executable', () => {
  test('what was found is there for `report` before it ends, and after it was killed', async () => {
    const { child, folder, heard } = started();
    child.stdin.write(lines(1, 60, { jumps: true }));
    await heard('violation');
    child.kill('SIGKILL');
    const { events } = readEvents(readFileSync(join(folder, LAST_RUN), 'utf8'));
    const failed = events.flatMap((event) =>
      event.type === 'property-end' && event.result.verdict === 'fail' ? [event.result.id] : [],
    );
    expect(failed).toEqual(['monitor/kl-spike']);
  });

  test.each([
    ['SIGTERM', 1],
    ['SIGINT', 130],
  ] as const)('ends at a %s with its verdict and code %i', async (signal, code) => {
    const { child, said, heard, ended } = started();
    child.stdin.write(lines(1, 60, { jumps: true }));
    await heard('violation');
    child.kill(signal);
    expect(await ended).toBe(code);
    expect(said().at(-1)).toMatchObject({ type: 'verdict', exitCode: code });
  });

  test('goes on where nobody listens any more, and keeps what it finds', async () => {
    const { child, folder, heard, ended, errors } = started();
    await heard('begin');
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.end(lines(1, 60, { jumps: true }));
    expect(await ended, errors()).toBe(1);
    expect(existsSync(join(folder, LAST_RUN))).toBe(true);
    expect(readFileSync(join(folder, LAST_RUN), 'utf8')).toContain('"type":"run-end"');
  });
});

// --- helpers ---

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

function started() {
  const { folder } = makeWorld([]);
  const argv = ['--import', LOADER, MAIN, 'monitor', '-', '--json', '--keep-going', ...KL];
  const child = spawn(process.execPath, argv, { cwd: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
  });
  return {
    child,
    folder,
    said: () => jsonLines(out),
    errors: () => err,
    ended: new Promise<number | null>((done) => void child.on('exit', done)),
    async heard(type: string): Promise<void> {
      while (!out.includes(`"type":"${type}"`)) await sleep(10);
    },
  };
}
