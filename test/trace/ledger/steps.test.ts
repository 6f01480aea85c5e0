// The rules about optimiser steps, rollouts, references and scores: each kills a script with its fault, and leaves those
// alone that only look like it.
import { describe, expect, test } from 'vitest';
import type { LedgerStep, Settings } from '../../../src/trace/ledger.ts';
import { type LedgerSketch, rankStep, type TrainedRowSketch } from '../traced.ts';
import { policy, supervised } from '../weighed.ts';
import { holds, judged, silent, worst } from './judged.ts';

const EVERY = 'trace/every-step-trains';
const MOVES = 'update/policy-moves';
const FINITE = 'trace/gradients-are-finite';
const SAMPLED = 'rollout/scored-ids-are-sampled-ids';
const PROMPT = 'rollout/scored-prompt-is-the-prompt-generated-from';
const REFERENCE = 'trace/reference-sees-the-same-rows';
const TEMPERATURE = 'logprobs/divide-by-the-temperature';
const RATIO = 'update/first-ratio-is-one';

const GRPO: Partial<Settings> = {
  trainer: 'GRPOTrainer',
  from: ["GRPOConfig(loss_type='dapo')"],
  semantics: { loss_aggregation: 'token-mean', advantage_baseline: 'group-mean', kl_coef: 0 },
};

type Done = NonNullable<ReturnType<typeof rankStep>['done']>;
const made = (done: Partial<Done>, index = 0): LedgerStep => {
  const { done: usual, ...rest } = rankStep(0);
  return {
    index,
    ranks: [{ ...rest, done: { gradientNorm: 0, changed: false, learningRates: [1e-3], ...usual, ...done } }],
  };
};
const DEAD: Partial<Done> = { gradientNorm: 0, changed: false };
const NONE: Partial<Done> = { gradientNorm: null, changed: false };

const step = supervised({ lengths: [[[5, 3]]] });
const untrained: readonly TrainedRowSketch[] = (step.rows ?? []).map((row) => ({ ...row, trained: [] }));
const unreached = untrained.map((row) => ({ ...row, reached: false }));

describe('steps that train nothing', () => {
  test('all labels ignored: zeros everywhere', () => {
    const finding = worst(EVERY, { ...step, rows: untrained, steps: [made(DEAD)] });
    expect(finding.sentence).toContain('Step 0 of the optimiser (AdamW) trained no token of 2 rows');
    expect(finding.strips?.[0]?.marks.length).toBeGreaterThan(0);
    expect(finding.given).toMatchObject({ step: 0, rows: 2, reached: 2 });
  });

  test('weight decay moves parameters without a gradient, which is no training', () => {
    expect(worst(EVERY, { ...step, rows: untrained, steps: [made({ ...DEAD, changed: true })] }).kind).toBe(
      'dead',
    );
  });

  test('a loss that is never called: no backward pass reaches the model', () => {
    const finding = worst(EVERY, { ...step, rows: unreached, steps: [made(NONE)] });
    expect(finding.sentence).toContain('no backward pass reached');
  });

  test('an optimiser over a model that is never called', () => {
    expect(worst(EVERY, { steps: [made(NONE)] }).sentence).toContain(
      'no forward pass with gradients was made',
    );
  });

  test('one dead step among live ones', () => {
    const rows = [...(step.rows ?? []), ...untrained.map((row) => ({ ...row, step: 1, forward: 1 }))];
    const { findings, judged: count } = judged(EVERY, { rows, steps: [made({}), made(DEAD, 1)] });
    expect([findings.length, count]).toEqual([1, 2]);
  });

  test('steps that train hold; groups without variance, value heads and what cannot be seen are set aside', () => {
    holds(EVERY, step);
    const flat = policy({ lengths: [[[5, 3]]], rewards: [1, 1], size: 2 });
    silent(EVERY, { ...flat, steps: [made(DEAD)] }, 'all advantages of the step may be 0');
    silent(EVERY, { ...flat, settings: GRPO, steps: [made(DEAD)] }, 'all advantages of the step may be 0');
    silent(
      EVERY,
      { ...step, rows: untrained, steps: [made({ gradientNorm: 0.5, changed: true })] },
      'the gradients came from where the trace does not look',
    );
    const blind = { kind: 'blind' as const, what: 'compiled', sentence: 'A compiled model.' };
    silent(
      EVERY,
      { ...step, rows: unreached, steps: [made(NONE)], processes: [{ blind: [blind] }] },
      'the trace could not see into a part of the script',
    );
    silent(
      EVERY,
      { ...step, rows: untrained, steps: [made({ ...DEAD, skipped: true })] },
      'a gradient scaler left the step out',
    );
  });

  test('groups without variance whose loss is never differentiated are no excuse', () => {
    const flat = policy({ lengths: [[[5, 3]]], rewards: [1, 1], size: 2 });
    const rows = (flat.rows ?? []).map((row) => ({ ...row, reached: false }));
    expect(worst(EVERY, { ...flat, rows, settings: GRPO, steps: [made(NONE)] }).kind).toBe('dead');
  });

  test('an optimiser called once more at the end does no harm, and a step that was cut short is none', () => {
    expect(judged(EVERY, { ...step, steps: [made({}), made(NONE, 1)] })).toMatchObject({
      judged: 1,
      findings: [],
    });
    const { done: _, ...open } = rankStep(0);
    silent(EVERY, { ...step, rows: untrained, steps: [{ index: 0, ranks: [open] }] });
  });
});

describe('steps that move nothing', () => {
  test('gradients, a learning rate, and parameters as they were', () => {
    const finding = worst(MOVES, { ...step, steps: [made({ changed: false })] });
    expect(finding.sentence).toContain(
      'left every parameter that was compared as it was, at a learning rate of 0.001',
    );
  });

  test('warm-up from 0, a step left out by the scaler, and half precision are no fault', () => {
    holds(MOVES, step);
    silent(
      MOVES,
      { ...step, steps: [made({ changed: false, learningRates: [0] })] },
      'the learning rate is 0, or not known',
    );
    silent(
      MOVES,
      { ...step, steps: [made({ changed: false, skipped: true })] },
      'a gradient scaler left the step out',
    );
    silent(
      MOVES,
      { ...step, steps: [made({ changed: false })], models: [{ dtype: 'bfloat16' }] },
      'a small update may be lost in half precision',
    );
  });
});

describe('gradients that are no numbers', () => {
  test('found, once a forward pass', () => {
    const rows = (step.rows ?? []).map((row) => ({ ...row, notFinite: 4 }));
    const { findings, more } = judged(FINITE, { ...step, rows, steps: [made({ gradientNorm: null })] });
    expect([findings.length, more]).toEqual([1, 0]);
    expect(findings[0]?.sentence).toContain('The gradient of 4 positions is NaN or infinite');
    holds(FINITE, step);
  });

  test('that the script took back before its step are a remark, unless the optimiser got them', () => {
    const rows = (step.rows ?? []).map((row) => ({ ...row, notFinite: 4 }));
    const said = judged(FINITE, { ...step, rows, steps: [made({ gradientNorm: 0.7 })] });
    expect(said).toMatchObject({ judged: 0, findings: [], notices: [{ remark: true }] });
    expect(said.notices?.[0]?.sentence).toContain('the optimiser got a finite one');
    for (const done of [{ gradientNorm: 0 }, { gradientNorm: 0.7, closure: true }])
      expect(judged(FINITE, { ...step, rows, steps: [made(done)] }).findings).toHaveLength(1);
  });

  test('an overflow that the scaler of float16 is there for is none', () => {
    const rows = (step.rows ?? []).map((row) => ({ ...row, notFinite: 4, dtype: 'float16' }));
    silent(FINITE, { ...step, rows }, 'the script left the forward pass out');
    const skipped = (step.rows ?? []).map((row) => ({ ...row, notFinite: 4 }));
    silent(
      FINITE,
      { ...step, rows: skipped, steps: [made({ skipped: true })] },
      'the script left the forward pass out',
    );
  });
});

const ROLLOUT = policy({ lengths: [[[6, 5, 7, 4]]], rewards: [1, 0, 0.5, 0], size: 4 });
const [one, ...others] = ROLLOUT.rows ?? [];
if (one === undefined) throw new Error('no rows');
/** The first row as something that no generate() call made, still trained at its completion. */
const strange = (ids: readonly number[], prompt = 2): LedgerSketch => ({
  ...ROLLOUT,
  rows: [
    { row: 0, ids, prompt, weight: -0.01, spans: { origin: { kind: 'unknown', why: 'no tokenizer' } } },
    ...others,
  ],
});

describe('rows against what was sampled', () => {
  test('a completion that went through text is found at its first other token', () => {
    const ids = one.ids.map((id, at) => (at === 4 ? 99 : id));
    const finding = worst(SAMPLED, { ...strange(ids), settings: GRPO });
    expect(finding.strips?.[0]?.marks).toEqual([4]);
    expect(finding.sentence).toContain('Token 4');
  });

  test('rows in the place of all samples of a prompt, as different as they may be, are found in any script', () => {
    const rows = (ROLLOUT.rows ?? []).map(({ at: _, ...row }, at) => ({
      ...row,
      ids: [...row.ids.slice(0, 2), 90 + at, 95, 2],
      weight: at < 2 ? 0.1 : -0.1,
      spans: { origin: { kind: 'text' as const } },
    }));
    expect(worst(SAMPLED, { ...ROLLOUT, rows }).strips?.[0]?.marks.length).toBe(1);
    const taught = rows.map((row) => ({ ...row, weight: 0.1 }));
    silent(SAMPLED, { ...ROLLOUT, rows: taught });
  });

  test('rows that are as sampled, cut to a limit, or followed by a tool hold or are set aside', () => {
    holds(SAMPLED, { ...ROLLOUT, settings: GRPO });
    for (const ids of [one.ids.slice(0, -2), [...one.ids, 50, 51, 52]])
      expect(judged(SAMPLED, { ...strange(ids), settings: GRPO }).findings).toEqual([]);
  });

  test('answers of a data set to the prompts that are sampled for the log are not judged', () => {
    const rows = supervised({ lengths: [[[6, 5]]] }).rows ?? [];
    silent(SAMPLED, { ...ROLLOUT, rows });
    silent(PROMPT, { ...ROLLOUT, rows });
    // An expert's answer among the samples, in a script of its own.
    expect(judged(SAMPLED, strange([1, 10, 90, 91, 92, 2])).findings).toEqual([]);
  });

  test('the completion behind another prompt is found, at the place where they part', () => {
    const finding = worst(PROMPT, strange([1, 30, 31, ...one.ids.slice(2)], 3));
    expect(finding.strips?.[0]?.marks).toEqual([1, 2]);
    holds(PROMPT, ROLLOUT);
  });

  test('a prompt that was cut at one of its ends is no other prompt', () => {
    expect(judged(PROMPT, strange(one.ids.slice(1), 1)).findings).toEqual([]);
  });
});

describe('rows of the reference', () => {
  const scored = (rows: readonly TrainedRowSketch[], change: (ids: readonly number[]) => readonly number[]) =>
    rows.map(({ at: _, weight: __, ...row }) => ({
      ...row,
      model: 1,
      by: 'reference' as const,
      ids: change(row.ids),
    }));
  const all = ROLLOUT.rows ?? [];
  const declared = { settings: { semantics: { kl_coef: 0.04 } } };

  test('scored on the raw prompt: found, with both rows shown', () => {
    const finding = worst(REFERENCE, {
      ...ROLLOUT,
      ...declared,
      scored: scored(all, (ids) => [40, 41, 42, ...ids.slice(2)]),
    });
    expect(finding.sentence).toContain('after another prompt');
    expect(finding.strips).toHaveLength(2);
    expect(finding.given).toHaveProperty('reference_ids');
  });

  test('scored without its prompt: found', () => {
    const without = scored(all, (ids) => ids.slice(2));
    expect(worst(REFERENCE, { ...ROLLOUT, ...declared, scored: without }).kind).toBe('prompt');
    // Nobody declares a KL term: it shows in weights that differ within a completion.
    const uneven = all.map((row, at) =>
      at === 0 ? { ...row, at: {}, weight: [0.1, -0.2, 0.3, 0.4, 0.2, 0.1] } : row,
    );
    expect(worst(REFERENCE, { ...ROLLOUT, rows: uneven, scored: without }).kind).toBe('prompt');
  });

  test('a frozen model that rates the answers alone, or is evaluated beside supervised training, is no reference', () => {
    silent(
      REFERENCE,
      { ...ROLLOUT, scored: scored(all, (ids) => ids.slice(2)) },
      'nothing says that a reference is part of the loss',
    );
    const taught = supervised({ lengths: [[[6, 5]]] }).rows ?? [];
    silent(
      REFERENCE,
      { rows: taught, scored: scored(taught, (ids) => [40, ...ids.slice(1)]) },
      'nothing says that a reference is part of the loss',
    );
  });

  test('the same rows in another padding, order, step, chunk, packing, or short of the last column', () => {
    const same = scored(all, (ids) => ids);
    holds(REFERENCE, { ...ROLLOUT, scored: same });
    holds(REFERENCE, { ...ROLLOUT, scored: same.map((row) => ({ ...row, left: 0, right: 5 })).reverse() });
    holds(REFERENCE, { ...ROLLOUT, scored: same.map((row, at) => ({ ...row, forward: at, step: 7 })) });
    holds(REFERENCE, { ...ROLLOUT, scored: [{ ids: all.flatMap(({ ids }) => ids), model: 1 }] });
    holds(REFERENCE, { ...ROLLOUT, scored: scored(all, (ids) => ids.slice(0, -1)) });
  });

  test('another model that reads something else, as a judge does, is set aside', () => {
    const judge = scored(all, (ids) => [...ids, 60, 61]);
    expect(judged(REFERENCE, { ...ROLLOUT, scored: scored(all, () => [1, 70, 71, 72]) }).findings).toEqual(
      [],
    );
    expect(judged(REFERENCE, { ...ROLLOUT, scored: judge }).findings).toEqual([]);
  });
});

describe('scores', () => {
  const warm = (scoredAt: number, more: Partial<LedgerSketch> = {}): LedgerSketch => ({
    ...policy({ lengths: [[[6, 5, 7, 4]]], rewards: [1, 0, 0.5, 0], size: 4, temperature: 0.7, scoredAt }),
    ...more,
  });

  test('a temperature that scoring leaves out is found, declared or not', () => {
    const finding = worst(TEMPERATURE, warm(1));
    expect(finding.sentence).toContain('was sampled at temperature 0.7 and is scored at 1');
    expect(finding.numbers?.[0]).toMatchObject({ expected: 0.7, observed: 1 });
    expect(worst(TEMPERATURE, warm(1, { settings: GRPO })).kind).toBe('temperature');
  });

  test('the best of many against the worst is a preference, scored without it by right', () => {
    const shape = {
      lengths: [[[6, 5, 7, 4]]],
      rewards: [2, 1, 1, 0],
      size: 4,
      temperature: 0.7,
      scoredAt: 1,
    };
    const sketch = policy(shape);
    const rows = (sketch.rows ?? []).filter((_, at) => at === 0 || at === 3);
    const weighed = rows.map((row, at) => ({ ...row, weight: at === 0 ? 0.1 : -0.1 }));
    silent(TEMPERATURE, { ...sketch, rows: weighed });
    expect(judged(TEMPERATURE, sketch).findings.length).toBeGreaterThan(0);
  });

  test('divided by it, declared otherwise, greedy, unknown, or trained without a policy gradient: not blamed', () => {
    holds(TEMPERATURE, warm(0.7));
    holds(TEMPERATURE, warm(0.7 + 1e-7));
    silent(TEMPERATURE, warm(1, { settings: { semantics: { temperature_in_scoring: false } } }));
    silent(TEMPERATURE, warm(1, { settings: { trainer: 'SFTTrainer' } }));
    const { generations = [], rows = [] } = warm(1);
    silent(
      TEMPERATURE,
      warm(1, { generations: generations.map((each) => ({ ...each, temperature: undefined })) }),
    );
    // The best of several samples, trained like any answer.
    const best = rows.map((row) => ({
      ...row,
      at: Object.fromEntries(Object.keys(row.at ?? {}).map((t) => [t, { weight: 0.05, temperature: 1 }])),
    }));
    silent(TEMPERATURE, warm(1, { rows: best }));
  });

  test('tokens that were drawn from moved logits and are scored without it are a notice, and no finding', () => {
    const { generations = [] } = warm(0.7);
    const moved = warm(0.7, { generations: generations.map((each) => ({ ...each, moved: true as const })) });
    holds(TEMPERATURE, moved);
    expect(judged(TEMPERATURE, moved).notices?.[0]?.sentence).toContain('a penalty, a bias or a ban');
    expect(judged(TEMPERATURE, warm(0.7)).notices).toBeUndefined();
  });

  const old = (off: (row: number) => number): LedgerSketch => ({
    ...ROLLOUT,
    scored: (ROLLOUT.rows ?? []).map(({ at: _, ...row }, at) => ({
      ...row,
      by: 'policy' as const,
      logprobs: row.logprobs?.map((each) => each + off(at)) ?? [],
    })),
  });

  test('one row that is scored otherwise than it is trained is found; all of them may be dropout', () => {
    expect(
      worst(
        RATIO,
        old((row) => (row === 0 ? 0.3 : 0)),
      ).sentence,
    ).toContain('the first ratio is not 1');
    holds(
      RATIO,
      old(() => 1e-5),
    );
    silent(
      RATIO,
      old((row) => 0.1 + row / 10),
    );
  });
});
