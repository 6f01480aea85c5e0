// A formula that is declared to be the trainer's own is believed where it is none of the known ones, and asked about where it is one in
// every case: what is believed is compared with nothing.
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import {
  type ObjectTrainerSpec,
  objectTrainer,
  type PropertyResult,
  run,
  type Semantics,
} from '../../../src/index.ts';
import { FORMULAS, type Formula } from '../../../src/vocabulary.ts';
import { LEGAL } from '../../conformance/correct.ts';
import { madeSpec } from '../profile/profiled.ts';
import { declarationOf } from './answered.ts';

const own = (...own_formulas: Formula[]): Semantics => ({ own_formulas });

/** The one property of this op that compares it with its formula. */
async function compared(op: Formula, spec: ObjectTrainerSpec, semantics: Semantics): Promise<PropertyResult> {
  const trainer = objectTrainer({ ...spec, hello: { ...spec.hello, semantics } });
  const measured = await measureUndeclared({ trainer, tokenizer: undefined });
  const [result] = await run(
    {
      trainer,
      tokenizer: undefined,
      measured,
      properties: properties.filter(({ settles, ops }) => settles !== undefined && ops.includes(op)),
      seed: 5,
      cases: 60,
      command: 'test',
      shrinkMilliseconds: 0,
    },
    () => undefined,
  );
  if (result === undefined) throw new Error(`no property compares ${op}`);
  return result;
}

/** A correct trainer of the suite that declares nothing, as an object of this op. */
async function known(name: string): Promise<ObjectTrainerSpec> {
  const opened = await LEGAL.find((each) => each.name === name)?.open();
  if (opened === undefined) throw new Error(`the suite has no ${name}`);
  const { trainer } = opened;
  const answering = Object.keys(trainer.hello.ops).map((op) => [
    op,
    async (args: never) => {
      const outcome = await trainer.ask(op as Formula, args);
      if (outcome.kind !== 'ok') throw new Error(outcome.kind);
      return outcome.ok;
    },
  ]);
  return { hello: trainer.hello, ops: Object.fromEntries(answering) as ObjectTrainerSpec['ops'] };
}

const LOSS: Semantics = { loss_aggregation: 'token-mean', clip_low: 0.2, clip_high: 0.2 };
/** An undeclared trainer of each, and what its answer says. */
const KNOWN: Readonly<Record<Formula, readonly [name: string | undefined, answer: Semantics]>> = {
  kl: ['k1, undeclared', { kl_estimator: 'k1' }],
  whiten: ['whitened with ddof 1', { whiten_mean: true, whiten_ddof: 1 }],
  filter_rollouts: [
    'a filter of deviations above 1e-6',
    { filter_equal_rewards: 'drop', filter_truncated: 'keep', filter_long: 'keep', filter_rewards: 'none' },
  ],
  advantages: [
    'advantages that are not scaled',
    { advantage_baseline: 'group-mean', advantage_scaling: 'none' },
  ],
  loss: [undefined, LOSS],
  sft_loss: [
    'the supervised loss is a mean over rows, undeclared',
    { sft_aggregation: 'seq-mean-token-mean' },
  ],
  value_loss: ["a critic like TRL's, undeclared", { value_clip: 0.2, value_loss_factor: 0.5 }],
  preference_loss: ['SimPO, undeclared', { preference_objective: 'simpo', preference_beta: 2 }],
  reward_loss: ['Bradley-Terry, undeclared', { reward_centering: 0 }],
  balance_loss: ['experts balanced as in transformers, undeclared', { balance_counts: 'token' }],
  unpaired_preference_loss: ['KTO, undeclared', { unpaired_objective: 'kto', unpaired_beta: 0.1 }],
};

describe('declared as a formula of its own, and a known one in every case', () => {
  test.each(FORMULAS.filter((op) => op !== 'advantages'))(
    'op %s is asked which one it is, and the line that answers names it',
    async (op) => {
      const [name, answer] = KNOWN[op];
      const spec = name === undefined ? madeSpec({}) : await known(name);
      const before = await compared(op, spec, own(op));
      expect(before.verdict).toBe('ask');
      expect(before.reason).toMatch(
        new RegExp(`^own_formulas names \`${op}\`, but every answer is that of a known`),
      );
      const [line = '', ...others] = before.answers ?? [];
      expect(others).toEqual([]);
      expect(declarationOf(line)).toMatchObject({ own_formulas: [], ...answer });
      expect((await compared(op, spec, declarationOf(line))).verdict).toBe('pass');
    },
  );

  test('advantages are believed: whitened over tokens, they are the same in rows of one number', async () => {
    const result = await compared('advantages', await known(KNOWN.advantages[0] ?? ''), own('advantages'));
    expect(result.verdict).toBe('unsupported');
  });

  test('another formula that is its own stays so', async () => {
    const { answers = [] } = await compared('kl', await known('k1, undeclared'), own('loss', 'kl'));
    expect(declarationOf(answers[0] ?? '')).toMatchObject({ own_formulas: ['loss'], kl_estimator: 'k1' });
  });
});

type Loss = (margin: number) => number;
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const ofPairs = (loss: Loss): ObjectTrainerSpec => ({
  hello: { protocol: 1, name: 'own', dtype: 'float64', ops: { preference_loss: {} } },
  ops: {
    preference_loss: (args) => {
      const total = (rows: readonly (readonly number[])[], b: number): number =>
        (rows[b] ?? []).reduce((sum, value) => sum + value, 0);
      const losses = args.chosen_logprobs.map((_, b) =>
        loss(
          total(args.chosen_logprobs, b) -
            total(args.ref_chosen_logprobs, b) -
            total(args.rejected_logprobs, b) +
            total(args.ref_rejected_logprobs, b),
        ),
      );
      return { loss: losses.reduce((sum, value) => sum + value, 0) / losses.length, losses };
    },
  },
});

test.each<[string, Loss]>([
  ['DPO and a little of the margin itself', (margin) => softplus(-0.1 * margin) - 0.001 * margin],
  ['DPO but for margins that are far', (margin) => (margin > 6 ? softplus(-0.6) : softplus(-0.1 * margin))],
  ['DPO with a beta that grows', (margin) => softplus(-0.1 * margin - 0.001 * margin ** 3)],
  ['a squared hinge', (margin) => Math.max(0, 1 - 0.1 * margin) ** 2],
])('%s is believed', async (_, loss) => {
  const result = await compared('preference_loss', ofPairs(loss), own('preference_loss'));
  expect(result.verdict).toBe('unsupported');
  expect(result.reason).toMatch(/has a formula of its own/);
});
