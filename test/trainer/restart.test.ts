// An error behind which the process cannot go on: a fresh one is asked the rest, and nobody else is blamed.
import { expect, test } from 'vitest';
import { startTrainer } from '../../src/trainer/process.ts';

/** Hangs behind its answer to a reward of 13, as ranks that wait for each other do; `first` also dies of a 7 that is not alone. */
const STUCK = `
import json, os, sys, time
answered = 0
for line in sys.stdin:
    request = json.loads(line)
    args = request["args"]
    if request["op"] == "hello":
        answer = {"ok": {"protocol": 1, "name": "stuck", "ops": {"advantages": {}}}}
    elif args["rewards"][0] == 13:
        answer = {"error": {"message": "KeyError: 1 (on rank 1 of 2 alone)", "restart": True}}
    elif args["rewards"][0] == 7 and answered == 0:
        os._exit(1)
    else:
        answered += 1
        answer = {"ok": {"advantages": args["rewards"]}}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
    if "error" in answer:
        time.sleep(600)
`;

async function asked(rewards: readonly number[], maxRestarts = 20): Promise<string[]> {
  const start = await startTrainer({ command: ['python3', '-c', STUCK], maxRestarts });
  if ('failure' in start) throw new Error(start.failure.message);
  try {
    const outcomes = await Promise.all(
      rewards.map((reward) => start.trainer.ask('advantages', { rewards: [reward], group_ids: [0] })),
    );
    return outcomes.map((outcome) =>
      outcome.kind === 'failure'
        ? `${outcome.failure.kind}${outcome.failure.restarted ? ' restarted' : ''}`
        : outcome.kind,
    );
  } finally {
    await start.trainer.stop();
  }
}

test('what was sent behind it is answered by another process', async () => {
  expect(await asked([1, 13, 2, 13, 3])).toEqual(['ok', 'error restarted', 'ok', 'error restarted', 'ok']);
});

test('and where requests are tried one by one behind a crash', async () => {
  expect(await asked([7, 13, 2])).toEqual(['crash', 'error restarted', 'ok']);
});

test('each costs a restart', async () => {
  expect(await asked([13, 13, 13, 1], 2)).toEqual([
    'error restarted',
    'error restarted',
    'error restarted',
    'budget',
  ]);
});
