// Trainers side by side: each property judged once, by whichever is free; what becomes of it where one of them is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NOT_TRIED, type PropertyResult } from '../../../src/check/events.ts';
import { queueOf } from '../../../src/check/parallel/deal.ts';
import { judgeAll } from '../../../src/check/parallel/lanes.ts';
import type { Property, Trainer } from '../../../src/index.ts';
import type { TrainerFailure } from '../../../src/trainer/failure.ts';
import { echoes, extracting } from '../toy.ts';

const PROPERTIES = Array.from(
  { length: 9 },
  (_, at): Property => ({ ...(echoes as Property), id: `extract/${at}` }),
);

interface Lanes {
  readonly ended: readonly PropertyResult[];
  readonly notices: readonly string[];
  readonly stopped: readonly number[];
  /** Worker by property, of those that began. */
  readonly began: readonly string[];
}

async function lanes(
  count: number,
  judge: (property: Property, worker: number | undefined) => Promise<TrainerFailure | undefined>,
  other: (number: number) => TrainerFailure | Trainer | undefined = () => undefined,
): Promise<Lanes> {
  const stopped: number[] = [];
  const trainers = new Map<Trainer, number>();
  const made = (number: number, trainer = extracting((ids) => ids)): Trainer => {
    const own = { ...trainer, stop: async () => void stopped.push(number) };
    trainers.set(own, number);
    return own;
  };
  const ended: PropertyResult[] = [];
  const notices: string[] = [];
  const began: string[] = [];
  await judgeAll({
    queue: queueOf(PROPERTIES),
    first: made(1),
    workers: {
      count,
      async start(number) {
        const instead = other(number);
        if (instead === undefined) return { trainer: made(number) };
        return 'hello' in instead ? { trainer: made(number, instead) } : { failure: instead };
      },
    },
    async judge({ id, title, level }, trainer) {
      const failure = await judge(
        { ...(echoes as Property), id },
        trainer === undefined ? undefined : trainers.get(trainer),
      );
      const base = { id, title, level, ...NOT_TRIED };
      return failure === undefined
        ? { ...base, verdict: trainer === undefined ? 'skipped' : 'pass' }
        : {
            ...base,
            verdict: 'error',
            failure: {
              caseId: 'a',
              given: 1,
              casesToFail: 1,
              shrinks: 0,
              confirmed: 'not re-run',
              seed: 1,
              lines: [],
              trainerFailure: failure,
            },
          };
    },
    onStart: ({ id }) => began.push(id),
    onEnd: (result) => ended.push(result),
    onNotice: (sentence) => notices.push(sentence),
  });
  return { ended, notices, stopped, began };
}

const ids = (results: readonly PropertyResult[]): string[] => results.map(({ id }) => id).toSorted();
const ALL = PROPERTIES.map(({ id }) => id);
const KILLED: TrainerFailure = { kind: 'crash', message: 'was killed', advice: '', signal: 'SIGKILL' };
const GONE: TrainerFailure = { kind: 'budget', message: 'died too often', advice: '' };

test('every property is judged once, and those that the run started are stopped', async () => {
  const at = new Map<number, number>();
  const { ended, notices, stopped } = await lanes(3, async (_, worker = 0) => {
    at.set(worker, (at.get(worker) ?? 0) + 1);
    await sleep(2);
    return undefined;
  });
  expect(ids(ended)).toEqual(ALL);
  expect([...at.keys()].toSorted()).toEqual([1, 2, 3]);
  expect(notices).toEqual([]);
  expect(stopped.toSorted()).toEqual([2, 3]);
});

test('one that runs out of memory leaves its property to the others; the last has nobody to leave it to', async () => {
  const { ended, notices, stopped } = await lanes(3, async ({ id }, worker) => {
    await sleep(1);
    return id === 'extract/4' ? { ...KILLED, message: `worker ${worker} was killed` } : undefined;
  });
  expect(ids(ended)).toEqual(ALL);
  expect(notices).toHaveLength(2);
  expect(notices[0]).toMatch(
    /^worker \d ran out of memory in extract\/4, which another runs again: 2 go on$/,
  );
  expect(notices[1]).toMatch(
    /^worker \d ran out of memory in extract\/4, which another runs again: one goes on$/,
  );
  expect(ended.filter(({ verdict }) => verdict === 'error').map(({ id }) => id)).toEqual(['extract/4']);
  expect(new Set(stopped).size).toBeGreaterThanOrEqual(2);
});

test('what the last one at work leaves is taken by one that had nothing left to do', async () => {
  let killed = 0;
  const { ended } = await lanes(2, async ({ id }) => {
    if (id !== 'extract/0') return undefined;
    await sleep(50);
    return killed++ === 0 ? KILLED : undefined;
  });
  expect(killed).toBe(2);
  expect(ended.every(({ verdict }) => verdict === 'pass')).toBe(true);
  expect(ids(ended)).toEqual(ALL);
});

test('one that can no longer be started leaves the rest to the others; after the last the rest is told', async () => {
  const one = await lanes(2, async (_, worker) => {
    await sleep(1);
    return worker === 2 ? GONE : undefined;
  });
  expect(ids(one.ended)).toEqual(ALL);
  expect(one.notices).toEqual(['worker 2 can no longer be started: one goes on']);
  expect(one.ended.filter(({ verdict }) => verdict === 'error')).toHaveLength(1);
  const none = await lanes(2, async (_, worker) => {
    await sleep(1);
    return worker === undefined ? undefined : GONE;
  });
  expect(ids(none.ended)).toEqual(ALL);
  expect(none.ended.filter(({ verdict }) => verdict === 'skipped')).toHaveLength(ALL.length - 2);
});

test('a worker that does not start, or says another hello, is named and not used', async () => {
  const stranger = extracting((ids) => ids);
  const { ended, notices, stopped } = await lanes(
    3,
    async (_, worker) => {
      await sleep(1);
      expect(worker).toBe(1);
      return undefined;
    },
    (number) =>
      number === 2
        ? { kind: 'start', message: 'exit code 3 before hello', advice: '' }
        : { ...stranger, hello: { ...stranger.hello, name: 'other' } },
  );
  expect(ids(ended)).toEqual(ALL);
  expect(notices).toEqual([
    'worker 2 did not start: exit code 3 before hello',
    'worker 3 did not start: it says another hello than the first; what a trainer offers must not change from one process to the next',
  ]);
  expect(stopped).toEqual([3]);
});

test('one that is still about to start is not waited for, and is stopped when it comes', async () => {
  let come: (value: { trainer: Trainer }) => void = () => {};
  const late = new Promise<{ trainer: Trainer }>((resolve) => {
    come = resolve;
  });
  let stopped = false;
  const notices: string[] = [];
  const ended: PropertyResult[] = [];
  await judgeAll({
    queue: queueOf(PROPERTIES),
    first: extracting((ids) => ids),
    workers: { count: 2, start: () => late },
    judge: async ({ id, title, level }) => ({ id, title, level, verdict: 'pass', ...NOT_TRIED }),
    onStart: () => {},
    onEnd: (result) => ended.push(result),
    onNotice: (sentence) => notices.push(sentence),
  });
  expect(ids(ended)).toEqual(ALL);
  const trainer = extracting((ids) => ids);
  const stop = async (): Promise<void> => {
    stopped = true;
  };
  come({ trainer: { ...trainer, stop } });
  await sleep(1);
  expect(stopped).toBe(true);
  expect(notices).toEqual([]);
});

test('what one left that died while the other was about to start is told, where that one never comes', async () => {
  const { ended, notices } = await lanes(
    2,
    async ({ id }) => (id === 'extract/0' ? KILLED : undefined),
    () => ({ kind: 'start', message: 'exit code 3 before hello', advice: '' }),
  );
  expect(ids(ended)).toEqual(ALL);
  expect(ended.find(({ id }) => id === 'extract/0')?.verdict).toBe('error');
  expect(notices).toContain('worker 2 did not start: exit code 3 before hello');
  expect(ended.some(({ verdict }) => verdict === 'pass')).toBe(false);
});
