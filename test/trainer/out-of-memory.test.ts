// Real Python processes that run out of memory, each in its way, and others that end in ways that look alike.
import { expect, test } from 'vitest';
import type { TrainerFailure } from '../../src/trainer/failure.ts';
import { diedOfMemory } from '../../src/trainer/out-of-memory.ts';
import { startTrainer } from '../../src/trainer/process.ts';

/** How a trainer fails that does `body` for its first request (`start`: before its hello). */
async function failureOf(body: string, start = ''): Promise<TrainerFailure> {
  const code = `
import os, resource, subprocess, sys, time, lossproof
${start}
@lossproof.op
def advantages(rewards, group_ids):
    ${body}
lossproof.serve("test")
`;
  const started = await startTrainer({ command: ['python3', '-c', code], maxRestarts: 1 });
  if ('failure' in started) return started.failure;
  const { trainer } = started;
  const outcome = await trainer.ask('advantages', { rewards: [1, 2], group_ids: [0, 0] });
  await trainer.stop();
  if (outcome.kind !== 'failure') throw new Error(JSON.stringify(outcome));
  return outcome.failure;
}

/** So much that its own modules fit, and nothing large. */
const LIMITED = 'resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))';
/** torch's own sentence, without a GPU to hear it from. */
const CUDA =
  'CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.2 GiB is free.';

test.each<[string, string, string]>([
  ['a MemoryError in an op', "return {'advantages': [len(b'x' * 900_000_000)] * 2}", LIMITED],
  ['a MemoryError at import', 'pass', `${LIMITED}\nkept = b'x' * 900_000_000`],
  ['a process killed by the kernel, as the next one is', 'os.kill(os.getpid(), 9)', ''],
  ['a shell that says so of its child', 'os._exit(137)', ''],
  [
    "torch's OutOfMemoryError",
    `raise type('OutOfMemoryError', (RuntimeError,), {})(${JSON.stringify(CUDA)})`,
    '',
  ],
  ['an older torch', `raise RuntimeError(${JSON.stringify(CUDA)})`, ''],
  ['a thread or a fork that the system refuses', 'raise OSError(12, os.strerror(12))', ''],
  [
    'an abort of C++ that says so on standard error',
    'os.write(2, b"terminate called after throwing an instance of \'std::bad_alloc\'\\n"); os.abort()',
    '',
  ],
])('%s', async (_, body, start) => {
  const failure = await failureOf(body, start);
  expect(diedOfMemory(failure), failure.message).toBe(true);
});

test.each<[string, string, string]>([
  ['a process that ends', 'os._exit(3)', ''],
  ['one that is terminated', 'os.kill(os.getpid(), 15)', ''],
  ['an op that raises', "raise ValueError('no memory of this row: the kv cache is full')", ''],
  [
    'one that ran out of memory long ago, went on, and now ends for another reason',
    "sys.stderr.write('MemoryError: tried a smaller batch\\n' + 'step\\n' * 30); sys.stderr.flush(); os._exit(1)",
    '',
  ],
  [
    'an op that raises after a warning',
    "sys.stderr.write('MemoryError\\n'); raise ValueError('bad row')",
    '',
  ],
  ['a module that is not there', 'pass', 'import a_package_that_nobody_has'],
])('not %s', async (_, body, start) => {
  const failure = await failureOf(body, start);
  expect(diedOfMemory(failure), failure.message).toBe(false);
});

test('one that was stopped by us was not', async () => {
  const started = await startTrainer({ command: ['python3', '-m', 'lossproof.examples.left_padded'] });
  if ('failure' in started) throw new Error(started.failure.message);
  const asked = started.trainer.ask('advantages', { rewards: [1, 2], group_ids: [0, 0] });
  await started.trainer.stop();
  const outcome = await asked;
  expect(outcome.kind === 'failure' && diedOfMemory(outcome.failure)).toBe(false);
});
