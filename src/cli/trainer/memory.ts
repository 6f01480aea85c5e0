// How many workers fit into memory: what --memory-per-worker means on this machine.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { posix } from 'node:path';
import { plural } from '../../report/text/plural.ts';
import type { Problem } from '../context.ts';

/** What this process, and all that it starts, may hold. */
export interface Room {
  readonly bytes: number;
  /** Its control group allows no more; the machine has it. */
  readonly limited: boolean;
}

export interface WorkersAsked {
  readonly count: number;
  /** Why that is less than was asked for. */
  readonly fewer?: string;
}

/** Of so many workers, those that fit; `busy` of them would have something to do. A problem where none does. */
export function workersInMemory(
  workers: number,
  each: number,
  busy: number,
  room: Room,
): WorkersAsked | Problem {
  const fit = Math.floor(room.bytes / each);
  const into = `the ${sizeOf(room.bytes)} ${room.limited ? 'that its control group allows this process' : 'of this machine'}`;
  if (fit === 0)
    return {
      problem: `not even one worker of --memory-per-worker ${sizeOf(each)} fits into ${into}; say less, or leave it out`,
    };
  const wanted = Math.min(workers, busy);
  return {
    count: Math.min(workers, fit),
    ...(wanted <= fit
      ? {}
      : {
          fewer: `${plural(wanted, 'worker')} of ${sizeOf(each)} do not fit into ${into}: ${fit} ${fit === 1 ? 'is' : 'are'} started`,
        }),
  };
}

/** Of this machine, as its files tell. */
export function roomHere(): Room {
  return roomOf(totalmem(), (file) => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined;
    }
  });
}

/** The least of what the machine has and what each control group of this process allows, those above it included. */
export function roomOf(total: number, read: (file: string) => string | undefined): Room {
  const limits = (read('/proc/self/cgroup') ?? '').split('\n').flatMap(limitFiles).map(read).map(bytesIn);
  const bytes = Math.min(total, ...limits);
  return { bytes, limited: bytes < total };
}

const GROUPS = '/sys/fs/cgroup';

/** Of a line `4:memory:/a/b`, or `0::/a/b` of version 2; in a container what it calls its place may be that of the host. */
function limitFiles(line: string): readonly string[] {
  const [, controllers, place] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (controllers === undefined || place === undefined) return [];
  if (controllers === '') return filesAbove(GROUPS, place, ['memory.max', 'memory.high']);
  return controllers.split(',').includes('memory')
    ? filesAbove(`${GROUPS}/memory`, place, ['memory.limit_in_bytes'])
    : [];
}

function filesAbove(root: string, place: string, names: readonly string[]): readonly string[] {
  const own = posix.normalize(place);
  const here = names.map((name) => posix.join(root, own, name));
  return own === '/' ? here : [...here, ...filesAbove(root, posix.dirname(own), names)];
}

/** `max`, and a group that has no such file, allow anything. */
function bytesIn(text = 'max'): number {
  return /^\d+\s*$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

const UNITS = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [1, 'bytes'],
] as const;

/** Never more than there is: what does not fit would look as if it did. */
function sizeOf(bytes: number): string {
  const [unit, name] = UNITS.find(([unit]) => bytes >= unit) ?? [1, 'bytes'];
  return `${Math.floor((bytes / unit) * 100) / 100} ${name}`;
}
