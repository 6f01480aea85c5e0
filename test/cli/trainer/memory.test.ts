import { totalmem } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type Room, roomHere, roomOf, workersInMemory } from '../../../src/cli/trainer/memory.ts';

const GIB = 2 ** 30;
const machine = (gibibytes: number): Room => ({ bytes: gibibytes * GIB, limited: false });

/** Of a machine with 64 GiB. */
const roomWith = (files: Readonly<Record<string, string>>): Room => roomOf(64 * GIB, (file) => files[file]);

describe('room', () => {
  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['no control groups', {}, 64],
    [
      'version 2, its own',
      { '/proc/self/cgroup': '0::/job\n', '/sys/fs/cgroup/job/memory.max': `${12 * GIB}\n` },
      12,
    ],
    [
      'version 2, throttled before it is killed',
      {
        '/proc/self/cgroup': '0::/job\n',
        '/sys/fs/cgroup/job/memory.max': `${12 * GIB}\n`,
        '/sys/fs/cgroup/job/memory.high': `${10 * GIB}\n`,
      },
      10,
    ],
    [
      'version 2, that above',
      {
        '/proc/self/cgroup': '0::/slice/job/step\n',
        '/sys/fs/cgroup/slice/job/step/memory.max': 'max\n',
        '/sys/fs/cgroup/slice/memory.max': `${8 * GIB}\n`,
      },
      8,
    ],
    [
      'version 2 in a container, outside of whose place it stands',
      { '/proc/self/cgroup': '0::/../other\n', '/sys/fs/cgroup/memory.max': `${5 * GIB}\n` },
      5,
    ],
    [
      'version 1',
      {
        '/proc/self/cgroup': '5:cpu,cpuacct:/c\n4:memory:/m\n0::/\n',
        '/sys/fs/cgroup/memory/m/memory.limit_in_bytes': `${6 * GIB}\n`,
        '/sys/fs/cgroup/memory/c/memory.limit_in_bytes': `${GIB}\n`,
      },
      6,
    ],
    [
      'version 1 in a container, which is told its place on the host',
      {
        '/proc/self/cgroup': '4:memory:/docker/4bb2\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${3 * GIB}\n`,
      },
      3,
    ],
    [
      'version 1 without a limit',
      {
        '/proc/self/cgroup': '4:memory:/\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      },
      64,
    ],
    [
      'what cannot be read',
      { '/proc/self/cgroup': 'nonsense\n0::/a', '/sys/fs/cgroup/a/memory.max': '' },
      64,
    ],
  ])('%s', (_, files, gibibytes) => {
    expect(roomWith(files)).toEqual({ bytes: gibibytes * GIB, limited: gibibytes < 64 });
  });

  test('of this machine', () => {
    expect(roomHere().bytes).toBeGreaterThan(0);
    expect(roomHere().bytes).toBeLessThanOrEqual(totalmem());
  });
});

describe('workers', () => {
  test('all fit', () => {
    expect(workersInMemory(3, 4 * GIB, 100, machine(12))).toEqual({ count: 3 });
  });

  test('fewer fit', () => {
    expect(workersInMemory(4, 4 * GIB, 100, machine(12))).toEqual({
      count: 3,
      fewer: '4 workers of 4 GiB do not fit into the 12 GiB of this machine: 3 are started',
    });
    expect(workersInMemory(2, 600 * 2 ** 20, 100, { bytes: GIB - 1, limited: true })).toEqual({
      count: 1,
      fewer:
        '2 workers of 600 MiB do not fit into the 1023.99 MiB that its control group allows this process: 1 is started',
    });
  });

  test('nothing is said where those that do not fit would have nothing to do', () => {
    expect(workersInMemory(8, 4 * GIB, 2, machine(12))).toEqual({ count: 3 });
  });

  test('none fits', () => {
    expect(workersInMemory(2, 4.5 * GIB, 100, machine(4))).toEqual({
      problem:
        'not even one worker of --memory-per-worker 4.5 GiB fits into the 4 GiB of this machine; say less, or leave it out',
    });
  });
});
