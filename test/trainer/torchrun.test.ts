// What torchrun says when it ends, in one sentence.
import { expect, test } from 'vitest';
import { firstRankIn, withoutTorchrun } from '../../src/trainer/torchrun.ts';

const OWN = `Traceback (most recent call last):
  File "/venv/bin/torchrun", line 7, in <module>
    sys.exit(main())
`;
/** As torch 2.13 writes it. */
const failed = (
  code: number,
): string => `${OWN}torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
adapter.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-25_19:49:26
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : ${code} (pid: 20292)
  error_file: <N/A>
============================================================
`;

test('the rank that ended first is named in the place of its traceback, and what stood before is kept', () => {
  const text = withoutTorchrun(`Traceback (most recent call last):\nKeyError: 1\n${failed(3)}`);
  expect(text).toBe(
    'Traceback (most recent call last):\nKeyError: 1\nrank 1 ended with exit code 3 first, says torchrun\n',
  );
  expect(firstRankIn(text)).toBe('rank 1 ended with exit code 3 first, says torchrun');
  expect(withoutTorchrun(failed(-9))).toBe('rank 1 was ended by signal 9 first, says torchrun\n');
});

test('where the harness has ended it, its traceback says nothing', () => {
  const text = `a rank's words\n${OWN}torch.distributed.elastic.multiprocessing.api.SignalException: Process 1 got signal: 15\n`;
  expect(withoutTorchrun(text)).toBe("a rank's words\n");
});

test('of other programs every word is kept', () => {
  const text = `${OWN}KeyError: 1\n`;
  expect(withoutTorchrun(text)).toBe(text);
  expect(firstRankIn(text)).toBeUndefined();
});
