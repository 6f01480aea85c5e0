// Real processes that are replaced while they go on well: each answer says which process gave it, and as its how manyth.
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/trainer/trainer.ts';
import { askAll, failureOf, kindsOf, MARK, startFailure, withTrainer } from './misbehave.ts';

const rewards = (count: number): number[] => Array.from({ length: count }, (_, at) => 100 + at);

/** How many requests each process has answered, in the order of the answers; each must count on from one. */
function perProcess(outcomes: readonly Outcome<{ readonly advantages: readonly number[] }>[]): number[] {
  const counts = new Map<number, number>();
  for (const outcome of outcomes) {
    if (outcome.kind !== 'ok') continue;
    const [served = 0, pid = 0] = outcome.ok.advantages;
    expect(served).toBe((counts.get(pid) ?? 0) + 1);
    counts.set(pid, served);
  }
  return [...counts.values()];
}

describe('after so many requests', () => {
  test('each process answers as many, in order, none lost and none asked twice, and no restart is spent', async () => {
    await withTrainer(
      'ages/counts',
      async (trainer) => {
        const outcomes = await askAll(trainer, rewards(700));
        expect(kindsOf(outcomes).every((kind) => kind === 'ok')).toBe(true);
        expect(perProcess(outcomes)).toEqual([300, 300, 100]);
        expect(trainer.renewals?.()).toEqual([{ times: 2, why: 'after 300 requests' }]);
      },
      { renew: { requests: 300 }, maxRestarts: 0 },
    );
  });

  test('fewer than are in flight: the window does not matter', async () => {
    await withTrainer(
      'ages/counts',
      async (trainer) => {
        expect(perProcess(await askAll(trainer, rewards(25)))).toEqual([10, 10, 5]);
      },
      { renew: { requests: 10 }, maxRestarts: 0 },
    );
  });

  test('only when more is asked: a run that ends there starts nothing', async () => {
    await withTrainer(
      'ages/counts',
      async (trainer) => {
        expect(perProcess(await askAll(trainer, rewards(10)))).toEqual([10]);
        expect(trainer.renewals?.()).toEqual([]);
        expect(kindsOf(await askAll(trainer, [1]))).toEqual(['ok']);
        expect(trainer.renewals?.()).toEqual([{ times: 1, why: 'after 10 requests' }]);
      },
      { renew: { requests: 10 } },
    );
  });

  test.each([8, 9, 10, 11])(
    'a request that kills the process, number %i from nought, is blamed alone',
    async (at) => {
      await withTrainer(
        'ages/counts',
        async (trainer) => {
          const asked = rewards(30).map((reward, index) => (index === at ? MARK : reward));
          const outcomes = await askAll(trainer, asked);
          expect(kindsOf(outcomes).flatMap((kind, index) => (kind === 'ok' ? [] : [index]))).toEqual([at]);
          expect(failureOf(outcomes[at])).toMatchObject({ kind: 'crash', reproduced: true });
        },
        { renew: { requests: 10 }, maxRestarts: 2 },
      );
    },
  );

  test('another hello of the fresh process ends it', async () => {
    await withTrainer(
      'hello/changes_its_hello',
      async (trainer) => {
        const outcomes = await askAll(trainer, [1, 2]);
        expect(kindsOf(outcomes)).toEqual(['ok', 'shape']);
        expect(failureOf(outcomes[1]).message).toContain('After a restart the trainer said another hello');
      },
      { renew: { requests: 1 } },
    );
  });

  test('restarted and stopped meanwhile', async () => {
    await withTrainer(
      'ages/counts',
      async (trainer) => {
        const asked = askAll(trainer, rewards(12));
        await trainer.restart();
        expect(perProcess(await asked)).toEqual([5, 5, 2]);
        expect(kindsOf(await askAll(trainer, [1]))).toEqual(['ok']);
        const left = askAll(trainer, rewards(12));
        await trainer.stop();
        const kinds = kindsOf(await left);
        expect(kinds.slice(kinds.indexOf('stopped')).every((kind) => kind === 'stopped')).toBe(true);
      },
      { renew: { requests: 5 } },
    );
  });
});

describe('above so much memory', () => {
  test('of the whole group: a worker that leaks renews the trainer', async () => {
    await withTrainer(
      'ages/leaks',
      async (trainer) => {
        const outcomes: Outcome<{ readonly advantages: readonly number[] }>[] = [];
        while (trainer.renewals?.().length === 0) outcomes.push(...(await askAll(trainer, rewards(5))));
        outcomes.push(...(await askAll(trainer, rewards(5))));
        expect(perProcess(outcomes)).toHaveLength(2);
        expect(trainer.renewals?.()).toEqual([{ times: 1, why: 'above 0.2 GB of memory' }]);
      },
      { renew: { bytes: 2e8 }, maxRestarts: 0 },
    );
  });

  test('a limit that a fresh process is above is refused, in words', async () => {
    const failure = await startFailure('ages/counts', { renew: { bytes: 1e6 } });
    expect(failure.message).toMatch(
      /^The trainer holds 0\.\d+ GB before its first request, so that a limit of 0\.001 GB cannot be kept\.$/,
    );
    expect(failure.advice).toContain('--renew-above');
  });
});
