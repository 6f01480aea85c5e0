// What this repository promises beyond the catalogue, and the stages that it must never lose.
import { bandOf, defineProperty, fc, numberFinding, openTrainer, reference } from 'lossproof';
import 'lossproof/vitest';
import { afterAll, beforeAll, expect, test } from 'vitest';

let trainer: Awaited<ReturnType<typeof openTrainer>>;
beforeAll(async () => {
  trainer = await openTrainer();
}, 120_000);
afterAll(() => trainer?.stop());

/** Long enough for a failure to be made small. */
const timeout = 60_000;

test('the mask and the KL hold', { timeout }, async () => {
  await expect(trainer).toHold(['mask/*', 'kl/*']);
});

// A rule of one's own: a generator for cases, a question to the trainer, and what is wrong with the answer, if anything.
const logprob = fc.double({ min: -10, max: 0, noNaN: true });
const klIsK3 = defineProperty({
  id: 'house/kl-is-k3',
  title: 'The KL of a token is k3, as our paper says',
  why: 'Runs whose logs mean different things by "kl" cannot be compared.',
  ops: ['kl'],
  given: () => fc.record({ policy: logprob, ref: logprob }),
  labels: ({ policy, ref }) => [policy < ref ? 'policy below' : 'policy above'],
  async check(subject, { policy, ref }) {
    // One row of two columns: a token of the prompt, and a token that was sampled.
    const { kl } = await subject.ask('kl', {
      logprobs: [[0, policy]],
      old_logprobs: [[0, policy]],
      ref_logprobs: [[0, ref]],
      completion_mask: [[0, 1]],
      prompt_width: 1,
    });
    const expected = reference.klOf(policy, ref, 'k3');
    const observed = kl?.[0]?.[1];
    const band = bandOf(subject);
    if (band.close(observed, expected)) return undefined;
    const pairs = [{ where: 'the sampled token', expected, observed }];
    return numberFinding({ kind: 'estimate', sentence: 'The KL is not k3.', band, pairs });
  },
});

test('a property of our own holds', { timeout }, async () => {
  await expect(trainer).toHold(klIsK3);
});

test('one group by hand is what the reference says', { timeout }, async () => {
  const [rewards, group_ids] = [
    [1, 0, 0.5],
    [7, 7, 7],
  ];
  const outcome = await trainer.ask('advantages', { rewards, group_ids });
  const expected = reference.groupAdvantages(rewards, group_ids, {
    ddof: 1,
    epsilon: 1e-4,
    scaling: 'group',
  });
  expect(outcome).toEqual({
    kind: 'ok',
    ok: { advantages: expected.map((value) => expect.closeTo(value, 9)) },
  });
});
