// The workers beside the first, started with it: all import what they need at the same time.
import { startAnother } from '../trainer/open.ts';
import type { Plan } from './plan.ts';

type Started = ReturnType<typeof startAnother>;

export interface StartedAhead {
  /** Of worker `number`, from 2; whoever takes it stops it. */
  take(number: number): Started;
  /** All of them, also those that were taken: what they are asked has no answer any more. */
  giveUp(): void;
  /** Those that nobody took, and those that have not said hello. */
  stop(): Promise<void>;
}

/** `count` with the first. */
export function startedAhead(plan: Plan, count: number): StartedAhead {
  const started = new Map<number, Started>();
  const giveUps: (() => void)[] = [];
  const all: Started[] = [];
  const start = (number: number): Started => {
    const another = startAnother(plan, number, (giveUp) => giveUps.push(giveUp));
    all.push(another);
    return another;
  };
  const stopped = async (ahead: Started): Promise<void> => {
    const ended = await ahead;
    if ('trainer' in ended) await ended.trainer.stop();
  };
  for (let number = 2; number <= count; number++) started.set(number, start(number));
  return {
    take(number) {
      const ahead = started.get(number) ?? start(number);
      started.delete(number);
      return ahead;
    },
    giveUp() {
      for (const giveUp of giveUps) giveUp();
      for (const ahead of all) void stopped(ahead);
    },
    async stop() {
      for (const giveUp of giveUps) giveUp();
      for (const ahead of started.values()) await stopped(ahead);
    },
  };
}
