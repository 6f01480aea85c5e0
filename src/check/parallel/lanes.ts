// Properties dealt out to trainers side by side, each to whichever is free. A worker that dies of memory leaves its property
// to the others, of which there are then fewer; one that can no longer be started leaves the rest to them.
import { isDeepStrictEqual } from 'node:util';
import type { TrainerFailure } from '../../trainer/failure.ts';
import { diedOfMemory } from '../../trainer/out-of-memory.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { PropertyResult } from '../events.ts';
import type { Workers } from '../options.ts';
import type { Property } from '../property.ts';
import type { Queue } from './deal.ts';

export interface Lanes {
  readonly queue: Queue;
  readonly first: Trainer;
  readonly workers: Workers | undefined;
  /** Undefined: no trainer can be started any more. */
  readonly judge: (property: Property, trainer: Trainer | undefined) => Promise<PropertyResult>;
  readonly onStart: (property: Property) => void;
  readonly onEnd: (result: PropertyResult) => void;
  readonly onNotice: (sentence: string) => void;
}

interface Worker {
  readonly number: number;
  readonly trainer: Trainer;
}

export async function judgeAll({
  queue,
  first,
  workers,
  judge,
  onStart,
  onEnd,
  onNotice,
}: Lanes): Promise<void> {
  const most = queue.left();
  const alive = new Set<Worker>([{ number: 1, trainer: first }]);
  const beginning = new Set<Promise<void>>();
  const others = (): number => alive.size + beginning.size;
  const goOn = (): string => `${others() === 1 ? 'one goes' : `${others()} go`} on`;
  /** What came of a property that was left to others: told where none of them is there to take it. */
  const left = new Map<Property, PropertyResult>();

  const work = async (worker: Worker): Promise<void> => {
    for (let property = queue.take(); property !== undefined; property = queue.take()) {
      onStart(property);
      const result = await judge(property, worker.trainer);
      const failures = trainerFailures(result);
      if (others() > 1 && failures.some(diedOfMemory)) {
        alive.delete(worker);
        left.set(property, result);
        queue.putBack(property);
        await worker.trainer.stop();
        onNotice(
          `worker ${worker.number} ran out of memory in ${property.id}, which another runs again: ${goOn()}`,
        );
        return;
      }
      queue.ended(property, result.milliseconds);
      onEnd(result);
      if (failures.some(({ kind }) => kind === 'budget' || kind === 'start')) {
        alive.delete(worker);
        if (others() > 0) onNotice(`worker ${worker.number} can no longer be started: ${goOn()}`);
        return;
      }
    }
  };
  const working = new Set<Promise<void>>();
  const go = (worker: Worker): void => {
    const lane = work(worker).finally(() => working.delete(lane));
    working.add(lane);
  };
  let over = false;
  const begin = async (number: number): Promise<void> => {
    const started = await workers?.start(number);
    if (started === undefined) return;
    const problem = 'failure' in started ? started.failure.message : otherHello(started.trainer, first);
    if (!('trainer' in started) || problem !== undefined || over) {
      if ('trainer' in started) await started.trainer.stop();
      if (!over) onNotice(`worker ${number} did not start: ${problem}`);
      return;
    }
    const worker = { number, trainer: started.trainer };
    alive.add(worker);
    go(worker);
  };

  for (const worker of alive) go(worker);
  for (let number = 2; number <= Math.min(workers?.count ?? 1, most); number++) {
    const one = begin(number).finally(() => beginning.delete(one));
    beginning.add(one);
  }
  for (;;) {
    if (working.size > 0) await Promise.race(working);
    else if (queue.left() === 0) break;
    // A worker that died as the last one at work has left its property to those that had nothing left to do.
    else if (alive.size > 0) for (const worker of alive) go(worker);
    else if (beginning.size > 0) await Promise.race(beginning);
    else break;
  }
  // Whoever is still about to start is not waited for.
  over = true;
  for (let property = queue.take(); property !== undefined; property = queue.take()) {
    onStart(property);
    onEnd(left.get(property) ?? (await judge(property, undefined)));
  }
  await Promise.all([...alive].filter(({ number }) => number > 1).map(({ trainer }) => trainer.stop()));
}

function trainerFailures({ failure, others = [] }: PropertyResult): readonly TrainerFailure[] {
  return [failure, ...others].flatMap((each) =>
    each?.trainerFailure === undefined ? [] : [each.trainerFailure],
  );
}

/** Two processes of one command are one trainer, or no verdict could be told of both. */
function otherHello(trainer: Trainer, first: Trainer): string | undefined {
  return isDeepStrictEqual(trainer.hello, first.hello)
    ? undefined
    : 'it says another hello than the first; what a trainer offers must not change from one process to the next';
}
