// Processes that leave the group of their trainer: found by the mark that they inherit, ended and named.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tellStrays } from '../../src/trainer/processes/strays.ts';
import { askAll, kindsOf, MARK, withTrainer } from './misbehave.ts';

// Elsewhere nobody tells whose a process is.
test.runIf(process.platform === 'linux')(
  'who was left by each process of a trainer is ended and named, and nobody else',
  async () => {
    const stranger = spawn('sleep', ['3600'], { detached: true, stdio: 'ignore' });
    tellStrays();
    let told: string | undefined;
    // It looks itself whether anybody of them lives.
    await withTrainer('dies/leaves_daemons', async (trainer) => {
      expect(kindsOf(await askAll(trainer, [1, MARK, 2]))).toEqual(['ok', 'crash', 'ok']);
      told = tellStrays();
    });
    // Two processes of it are gone: the one that died, and the one in which the request was tried.
    expect(told).toMatch(
      /^\d processes that the trainer started left its process group and outlived it; they were ended: \S*python3\S* -c import time; time\.sleep\(3600\) \(\d times\), /,
    );
    expect(tellStrays()).toMatch(/^2 processes that the trainer started .* were ended: /);
    expect(tellStrays()).toBeUndefined();
    expect(readFileSync(`/proc/${stranger.pid}/stat`, 'utf8')).toContain('(sleep)');
    stranger.kill('SIGKILL');
  },
);
