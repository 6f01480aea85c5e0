// The workers beside the first, started with it: all import what they need at the same time.
import { startAnother } from '../trainer/open.ts';
import type { CheckOptions } from './options.ts';
import type { Plan } from './plan.ts';

type Started = ReturnType<typeof startAnother>;

export interface StartedAhead {
  /** Of worker `number`, from 2; whoever takes it stops it. */
  take(number: number): Started;
  /** Those that nobody took. */
  stop(): Promise<void>;
}

export function startedAhead(plan: Plan, { workers = 1 }: Pick<CheckOptions, 'workers'>): StartedAhead {
  const started = new Map<number, Started>();
  for (let number = 2; number <= workers; number++) started.set(number, startAnother(plan, number));
  return {
    take(number) {
      const ahead = started.get(number) ?? startAnother(plan, number);
      started.delete(number);
      return ahead;
    },
    async stop() {
      for (const ahead of started.values()) {
        const ended = await ahead;
        if ('trainer' in ended) await ended.trainer.stop();
      }
    },
  };
}
