// When a process that goes on well is nevertheless replaced: a trainer that leaks, in a run that is long. What a trainer
// remembers between requests is lost by it, so that nobody's process is renewed who did not ask for it.
import { pace } from '../bounds.ts';
import type { Renew } from './child-options.ts';
import type { Connection } from './connection.ts';
import { gigabytes, memoryLimitFailure } from './explain.ts';
import type { TrainerFailure } from './failure.ts';
import { residentBytes } from './processes/memory.ts';
import type { Renewal } from './trainer.ts';

export interface Ages {
  /** Why the limit of memory cannot be kept, of a process that has said hello. */
  objection(connection: Connection): TrainerFailure | undefined;
  /** It is in use from now on. */
  begin(connection: Connection): void;
  /** It has answered. */
  answered(connection: Connection): void;
  renewed(connection: Connection): void;
  renewals(): readonly Renewal[];
}

/** The whole of /proc is read for it: some milliseconds. */
const LOOK_MILLISECONDS = pace(1_000);

export function watchAges({ requests, bytes }: Renew): Ages {
  const byRequests = `after ${requests?.toLocaleString('en')} ${requests === 1 ? 'request' : 'requests'}`;
  const byMemory = `above ${gigabytes(bytes ?? 0)} of memory`;
  const counts = new Map<string, number>();
  let heavy: Connection | undefined;
  let looked = performance.now();

  return {
    objection({ pid }) {
      if (bytes === undefined) return undefined;
      const resident = pid === undefined ? undefined : residentBytes(pid);
      return resident === undefined || resident > bytes ? memoryLimitFailure(resident, bytes) : undefined;
    },
    begin(connection) {
      if (requests !== undefined) connection.retireAfter(requests);
      looked = performance.now();
    },
    answered(connection) {
      const now = performance.now();
      if (bytes === undefined || connection.pid === undefined || now - looked < LOOK_MILLISECONDS) return;
      looked = now;
      if ((residentBytes(connection.pid) ?? 0) <= bytes) return;
      heavy = connection;
      connection.retireAfter(0);
    },
    renewed(connection) {
      const why = connection === heavy ? byMemory : byRequests;
      counts.set(why, (counts.get(why) ?? 0) + 1);
    },
    renewals: () => [...counts].map(([why, times]) => ({ times, why })),
  };
}

/** Of all trainers of a run together, as its last event says it; nothing where none was renewed. */
export function renewedIn(all: readonly Renewal[]): { readonly renewed?: readonly Renewal[] } {
  const counts = new Map<string, number>();
  for (const { times, why } of all) counts.set(why, (counts.get(why) ?? 0) + times);
  return counts.size === 0 ? {} : { renewed: [...counts].map(([why, times]) => ({ times, why })) };
}
