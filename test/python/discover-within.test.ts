// What ends a call that `discover` makes: the CPU time that it has had, or that it waits; and not a machine that has other work.
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** The clock runs so much faster than the process works; the handler of the clock's timer is called as the signal would. */
const LOOK = `
import sys, time
from lossproof_discover import _guard
times, works = float(sys.argv[1]), sys.argv[2] == "works"
clock, used = time.monotonic(), time.process_time()
_guard.time = type("Time", (), {
    "process_time": staticmethod(time.process_time),
    "monotonic": staticmethod(lambda: clock + times * (time.process_time() - used if works else time.monotonic() - clock)),
})
call = _guard.within(2.0)
call.__enter__()
while works and time.process_time() - used < 0.05:
    pass
if not works:
    time.sleep(0.05)
try:
    call._looked()
    print("goes on")
except _guard.TooLong as late:
    print(late)
`;

test.each([
  ['works while others have the machine', 100, 'works', 'goes on'],
  ['waits', 1_000_000, 'waits', 'it did not return in time'],
])('a call that %s', async (_, times, does, said) => {
  const { stdout } = await execa('python3', ['-c', LOOK, String(times), does], {
    env: { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') },
  });
  expect(stdout).toBe(said);
});
