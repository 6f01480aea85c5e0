// The same trainers with one mistake each, from the first step on or from one in the middle: the rule that knows it is
// broken, within three logged steps.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { failedIn, monitored, placeOf, TRAINING_TIMEOUT, type Training, trained } from './runs.ts';

/** Logged steps that a fault may have before it is named, its first one counted. */
const SOON = 3;

interface Planted {
  readonly training: Training;
  /** The rule, without `monitor/`; of several, whichever comes first. */
  readonly found: string | readonly string[];
}

/** Enough steps before it for a run to look as it does. */
const MIDDLE = 10;
/** The log ends with the third wrong step: a rule that needs more is too late. */
const BEHIND = SOON - 1;
/** Completions at the limit are how an untrained model begins: that is said after ten steps of them. */
const PATIENT = 10;
/** Rare rewards may stay away for many steps from the start on. */
const RARE = 20;

const rl: Training = { script: 'rl' };
const rlWithReference: Training = { script: 'rl', beta: 0.04 };
const sft: Training = { script: 'supervised', schedule: 'constant' };
const hf: Training = { ...sft, method: 'hf' };
const dpo: Training = { ...sft, method: 'dpo', lr: 1e-3 };
const byHand: Training = { script: 'by_hand', form: 'csv' };
const twoLosses: Training = { script: 'two_losses', form: 'tensorboard' };

/**
 * Weights of 1e3 overflow in float32: whether a huge number, an infinity or NaN is logged first hangs on the order in which a
 * processor adds. Each of them alone, and in each order, is in `test/monitor/rules/table.ts`.
 */
const EXPLODED = ['grad-norm-explodes', 'grad-norm-finite'];

const FAULTS: Readonly<Record<string, Planted>> = {
  ...fromBoth('grpo at a rate of 1e3', { ...rl, fault: 'lr-1e3' }, 'learning-rate-size'),
  ...fromBoth('sft at a rate of 1e3', { ...sft, fault: 'lr-1e3' }, 'learning-rate-size'),
  ...fromBoth('sft whose gradient explodes', { ...sft, fault: 'lr-1e3' }, EXPLODED),
  'sft with one gradient that is a million times too large': {
    training: once({ ...sft, fault: 'huge-gradient' }),
    found: 'grad-norm-explodes',
  },
  'sft with one gradient that is NaN': {
    training: once({ ...sft, fault: 'nan-gradient' }),
    found: 'grad-norm-finite',
  },
  'sft whose gradient is NaN from the start': {
    training: { ...sft, fault: 'nan-gradient', steps: 1 + BEHIND },
    found: 'zero-loss',
  },
  ...fromBoth('dpo at a rate of 1e3', { ...dpo, fault: 'lr-1e3' }, 'learning-rate-size'),
  ...fromBoth('grpo with rewards of 0', { ...rl, fault: 'zero-reward' }, 'rewards-differ', BEHIND, RARE),
  ...fromBoth(
    'grpo with a reference and rewards of 0',
    { ...rlWithReference, fault: 'zero-reward' },
    'rewards-differ',
    BEHIND,
    RARE,
  ),
  ...fromBoth(
    'rloo with rewards of 0',
    { ...rl, method: 'rloo', fault: 'zero-reward' },
    'rewards-differ',
    BEHIND,
    RARE,
  ),
  ...fromBoth(
    'grpo with rewards that are all alike',
    { ...rl, fault: 'constant-reward' },
    'rewards-differ',
    BEHIND,
    RARE,
  ),
  ...fromBoth('grpo with a detached loss', { ...rl, fault: 'detached' }, 'gradient-flows'),
  ...fromBoth('sft with a detached loss', { ...sft, fault: 'detached' }, 'gradient-flows'),
  ...fromBoth('transformers with a detached loss', { ...hf, fault: 'detached' }, 'gradient-flows'),
  ...fromBoth('dpo with a detached loss', { ...dpo, fault: 'detached' }, 'gradient-flows'),
  ...fromBoth('grpo without a trained token', { ...rl, fault: 'all-masked' }, 'zero-loss'),
  ...fromBoth(
    'grpo with a reference, without a trained token',
    { ...rlWithReference, fault: 'all-masked' },
    'zero-loss',
  ),
  ...fromBoth('sft without a trained token', { ...sft, fault: 'all-masked' }, 'zero-loss'),
  ...fromBoth('transformers without a trained token', { ...hf, fault: 'all-masked' }, 'zero-loss'),
  'sft with one batch that has no trained token': {
    training: once({ ...sft, fault: 'all-masked' }),
    found: 'zero-loss',
  },
  ...fromBoth('sft with a loss that is NaN', { ...sft, fault: 'nan-loss' }, 'finite-training'),
  ...fromBoth('grpo with a loss that is NaN', { ...rl, fault: 'nan-loss' }, 'zero-loss'),
  ...fromBoth(
    'sft with a loss of the wrong sign',
    { ...sft, fault: 'wrong-sign' },
    'supervised-loss-not-negative',
  ),
  ...fromBoth('grpo with a KL of the wrong sign', { ...rlWithReference, fault: 'k1' }, 'k3-kl-negative'),
  ...fromBoth('completions of one token', { ...rl, fault: 'stops-at-once' }, 'length-stuck-at-one'),
  ...fromBoth(
    'completions that never stop',
    { ...rl, fault: 'one-token-only' },
    'length-stuck-at-limit',
    PATIENT,
  ),
  'grpo whose optimiser changes nothing': {
    training: { ...rlWithReference, fault: 'frozen-optimiser', steps: 12 },
    found: 'kl-leaves-zero',
  },
  'a scheduler that is never stepped': {
    training: { ...sft, schedule: 'cosine', fault: 'unstepped-scheduler', steps: 15 },
    found: 'learning-rate-not-zero',
  },
  ...fromBoth(
    'sampling at another temperature than scoring',
    { ...byHand, fault: 'temperature' },
    'sampling-gap',
  ),
  ...fromBoth(
    'ratios to the log-probabilities of another row',
    { ...byHand, fault: 'stale-logprobs' },
    'mean-ratio',
  ),
  ...fromBoth('one loss of two is skipped', { ...twoLosses, fault: 'llm-loss-skipped' }, 'idle-loss'),
  'one loss of two is not logged': {
    training: { ...twoLosses, fault: 'llm-loss-not-logged', steps: 8 },
    found: 'counted-losses',
  },
};

let folder = '';
beforeAll(async () => {
  const named = Object.entries(FAULTS).map(([name, { training }]) => [name, [training]] as const);
  folder = await trained(Object.fromEntries(named), { mayDie: true });
}, TRAINING_TIMEOUT);

test.concurrent.each(Object.entries(FAULTS))(
  '%s: found, and the step named',
  async (name, { training, found: rule }) => {
    const { onset = 1 } = training;
    const rules = [rule].flat().map((each) => `monitor/${each}`);
    const run = await monitored(join(folder, name));
    const found = failedIn(run).filter((id) => rules.includes(id));
    expect(found, run.out).not.toEqual([]);
    const steps = found.map((id) => placeOf(run, id).step ?? Number.NaN);
    expect(Math.min(...steps), run.out).toBeGreaterThanOrEqual(onset);
    expect(Math.max(...steps), run.out).toBeLessThan(onset + SOON);
    expect(run.exitCode, run.out).toBe(1);
  },
);

/** The fault from the first step on, and from one in the middle; how many steps the log goes on behind each. */
function fromBoth(
  name: string,
  training: Training,
  found: Planted['found'],
  behind = BEHIND,
  behindStart = behind,
): Readonly<Record<string, Planted>> {
  const from = (onset: number, more: number): Planted => ({
    training: { ...training, onset, steps: onset + more },
    found,
  });
  return {
    [`${name}, from the start`]: from(1, behindStart),
    [`${name}, from the middle`]: from(MIDDLE, behind),
  };
}

/** The fault in one step in the middle. */
function once(training: Training): Training {
  return { ...training, onset: MIDDLE, until: MIDDLE, steps: MIDDLE + BEHIND };
}
