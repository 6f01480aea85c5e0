// The terms of the policy loss that few trainers have: a bound on the log-ratio and an entropy bonus, added to a trainer
// whose formulas are its own.
import { expect, test } from 'vitest';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Args, objectTrainer, type Trainer } from '../../../src/index.ts';
import { k3, type Made, madeSpec, timesRatio } from './profiled.ts';

type Loss = Args<'loss'>;

/** The trainer of `how` whose loss is handed other arguments, or has something added to it. */
function adding(how: Made, change: (args: Loss) => Loss, more: (args: Loss) => number = () => 0): Trainer {
  const { hello, ops } = madeSpec(how);
  return objectTrainer({
    hello: { ...hello, ops: { ...hello.ops, loss: { micro_batches: true, entropy: true } } },
    ops: {
      ...ops,
      loss: (args) => {
        const answer = ops.loss?.(change(args));
        return answer !== undefined && 'loss' in answer ? { loss: answer.loss + more(args) } : { loss: 0 };
      },
    },
  });
}

/** exp sees no log-ratio below `-below` or above `above`. */
const bounded =
  (below: number, above: number) =>
  (args: Loss): Loss => ({
    ...args,
    old_logprobs: args.old_logprobs.map((row, b) =>
      row.map((old, t) => {
        const logprob = args.logprobs[b]?.[t] ?? 0;
        return logprob - Math.min(above, Math.max(-below, logprob - old));
      }),
    ),
  });

/** `coefficient` times the mean entropy of trained tokens. */
const entropy =
  (coefficient: number) =>
  ({ entropy: nats, completion_mask: mask }: Loss): number => {
    const all = (nats ?? []).flatMap((row, b) => row.filter((_, t) => mask[b]?.[t] === 1));
    return all.length === 0 ? 0 : (coefficient * all.reduce((sum, each) => sum + each, 0)) / all.length;
  };
const same = (args: Loss): Loss => args;
const profileOf = (trainer: Trainer) => profileTrainer({ trainer, tokenizer: undefined });
const quick = async (trainer: Trainer) =>
  (await measureUndeclared({ trainer, tokenizer: undefined })).semantics;

test.each([20, 10, 6.5, 30])('a log-ratio within %d is measured', async (bound) => {
  const trainer = adding({}, bounded(bound, bound));
  expect((await profileOf(trainer)).measured).toMatchObject({ log_ratio_clamp: bound, dual_clip: null });
  expect((await quick(trainer)).log_ratio_clamp).toBe(bound);
});

test('a bound that is near hides a dual clip, and one that is far does not', async () => {
  const near = await profileOf(adding({}, bounded(4, 4)));
  expect(near.measured).toMatchObject({ log_ratio_clamp: 4 });
  expect(near.measured.dual_clip).toBeUndefined();
  const far = await profileOf(adding({ dual: 3 }, bounded(20, 20)));
  expect(far.measured).toMatchObject({ log_ratio_clamp: 20, dual_clip: 3 });
});

test('a bound on one side only is none of the known ones', async () => {
  const { items } = await profileOf(adding({}, bounded(Infinity, 10)));
  expect(items.find(({ item }) => item === 'log_ratio_clamp')?.verdict).toBe('unknown');
});

test('a check promises no finite loss where the ratio also multiplies the KL', async () => {
  const measured = await quick(adding({ kl: timesRatio(k3) }, bounded(20, 20)));
  expect(measured).toMatchObject({ kl_ratio_correction: true });
  expect(measured.log_ratio_clamp).toBeUndefined();
});

test.each([
  ['a mean over tokens', {}],
  ['a constant', { factor: () => 1 / 64 }],
] as const)('the coefficient of an entropy bonus beside %s is measured', async (_, how) => {
  const unit = how === undefined || !('factor' in how) ? 1 : 1 / 64;
  const { measured } = await profileOf(adding(how, same, entropy(-0.0125 * unit)));
  expect(measured).toMatchObject({ entropy_coef: 0.0125, kl_coef: 0.04, clip_low: 0.2 });
});

test('an entropy that is punished is no bonus, and one that is ignored excuses nothing', async () => {
  const { items } = await profileOf(adding({}, same, entropy(0.01)));
  const row = items.find(({ item }) => item === 'entropy_coef');
  expect(row?.verdict).toBe('unknown');
  expect(row?.closest?.misfit.where).toContain('nats');
  const ignored = adding({}, same);
  expect((await profileOf(ignored)).measured.entropy_coef).toBe(0);
  expect((await quick(ignored)).entropy_coef).toBeUndefined();
  expect((await quick(adding({}, same, entropy(-0.01)))).entropy_coef).toBe(0.01);
});
